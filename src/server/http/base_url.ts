import { type AddressRange, isInRanges } from "@/address_range.ts";

/** What decides how our own address is written. */
export interface BaseUrlOptions {
  /** `A2A__PublicUrl`: counts before all that a request says. */
  readonly publicUrl: URL | undefined;
  /** `A2A__TrustedProxies`: whose `X-Forwarded-*` headers count. */
  readonly trustedProxies: readonly AddressRange[];
}

/**
 * Gives the URL under which our endpoints are, without a slash at its end: `A2A__PublicUrl`, else as the request names us
 * (product.md §5.3).
 *
 * Of `X-Forwarded-Proto` and `X-Forwarded-Host` the last value counts, and only when a trusted proxy sent it: the ones before
 * came from whom that proxy talked to.
 */
export function baseUrl(
  request: Request,
  { address, publicUrl, trustedProxies }: BaseUrlOptions & { readonly address: string },
): string {
  if (publicUrl !== undefined) return urlText(publicUrl);
  const url = new URL(request.url);
  const isProxied = isInRanges(address, trustedProxies);
  const forwarded = (name: string) => isProxied ? request.headers.get(name)?.split(",").at(-1)?.trim() : undefined;
  const said = forwarded("X-Forwarded-Proto")?.toLowerCase();
  const scheme = said === "https" || said === "http" ? said : url.protocol.slice(0, -1);
  const hosts = [forwarded("X-Forwarded-Host"), request.headers.get("Host")?.trim(), url.host];
  for (const host of hosts) {
    const origin = host === undefined ? undefined : originOf(scheme, host);
    if (origin !== undefined) return origin;
  }
  return url.origin;
}

/** A base URL without a slash at its end: paths are put behind it (protocol.md P5). */
export function urlText({ origin, pathname }: URL): string {
  return origin + pathname.replace(/\/+$/, "");
}

/** The origin of a host with or without a port; undefined when it is none, whatever a header may hold. */
export function originOf(scheme: string, host: string): string | undefined {
  if (host.length > 260 || !/^(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.test(host)) return undefined;
  return URL.parse(`${scheme}://${host}`)?.origin;
}
