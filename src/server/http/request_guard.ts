import { A2AError } from "@/protocol/errors.ts";
import { originOf } from "./base_url.ts";

/** What a listener may be called, and by whom. */
export interface GuardOptions {
  /** The listener's own address. */
  readonly hostname: string;
  /** `A2A__PublicUrl`, when there is one. */
  readonly publicUrl: URL | undefined;
}

/**
 * Refuses a `Host` that is none (RFC 9110 §7.2). The runtime puts it into the URL of the request as it came: `x/a2a?` would be
 * read as part of the path, and what is no URL would break every route.
 */
export function refuseOddHost(request: Request): A2AError | undefined {
  const host = request.headers.get("Host") ?? "";
  if (host === "" || originOf("http", host) !== undefined) return undefined;
  return new A2AError("INVALID_REQUEST", { message: "The Host header is not a host with or without a port" });
}

/**
 * Refuses requests that a browser was tricked into: a foreign `Origin` anywhere, a `Host` that is not ours on a loopback
 * listener (DNS rebinding). Public cards are exempt: they are for everyone (product.md §5.2b).
 */
export function guardRequest(request: Request, options: GuardOptions): A2AError | undefined {
  const given = request.headers.get("Host") ?? new URL(request.url).host;
  if (isLoopbackHost(hostOf(options.hostname)) && !isOurHost(hostOf(given), options)) {
    return new A2AError("FORBIDDEN", { message: "This Host is not served here: set the public URL to allow it" });
  }
  const origin = request.headers.get("Origin");
  if (origin !== null && !isOurOrigin(origin, given, options)) {
    return new A2AError("FORBIDDEN", { message: "Requests from pages of other origins are not answered" });
  }
  return undefined;
}

/** Says whether an address is this machine's own: 127.0.0.0/8, ::1, or one of them mapped into IPv6. */
export function isLoopbackAddress(address: string): boolean {
  return /^(::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/i.test(address) || address === "::1";
}

/** The public URL's own pages, and those of the very address that was asked: no other port of this machine. */
function isOurOrigin(origin: string, host: string, options: GuardOptions): boolean {
  if (origin === options.publicUrl?.origin) return true;
  const page = URL.parse(origin);
  return page !== null && isOurHost(hostOf(page.host), options) &&
    page.host === URL.parse(`${page.protocol}//${host}`)?.host;
}

function isOurHost(host: string, { hostname, publicUrl }: GuardOptions): boolean {
  return isLoopbackHost(host) || host === hostOf(hostname) ||
    (publicUrl !== undefined && host === hostOf(publicUrl.host));
}

function isLoopbackHost(host: string): boolean {
  return host === "localhost" || isLoopbackAddress(host);
}

/** The host of `host:port`, in lower case, without the port and the brackets of IPv6. */
function hostOf(host: string): string {
  const [, bracketed] = /^\[(.*)\](?::\d+)?$/.exec(host) ?? [];
  const isAddress = host.split(":").length > 2; // IPv6 without brackets has no port
  return (bracketed ?? (isAddress ? host : host.replace(/:\d+$/, ""))).toLowerCase();
}
