import { A2AError } from "@/protocol/errors.ts";

/** What a listener may be called, and by whom. */
export interface GuardOptions {
  /** The listener's own address. */
  readonly hostname: string;
  /** `A2A__PublicUrl`, when there is one. */
  readonly publicUrl: URL | undefined;
}

/**
 * Refuses requests that a browser was tricked into: a foreign `Origin` anywhere, a `Host` that is not ours on a loopback
 * listener (DNS rebinding). Public cards are exempt: they are for everyone (product.md §5.2b).
 */
export function guardRequest(request: Request, options: GuardOptions): A2AError | undefined {
  const host = hostOf(request.headers.get("Host") ?? new URL(request.url).host);
  if (isLoopbackHost(options.hostname) && !isOurHost(host, options)) {
    return new A2AError("FORBIDDEN", { message: "This Host is not served here: set the public URL to allow it" });
  }
  const origin = request.headers.get("Origin");
  if (origin !== null && !isOurHost(hostOf(originHost(origin)), options)) {
    return new A2AError("FORBIDDEN", { message: "Requests from pages of other origins are not answered" });
  }
  return undefined;
}

/** Says whether an address is this machine's own: 127.0.0.0/8, ::1, or one of them mapped into IPv6. */
export function isLoopbackAddress(address: string): boolean {
  return /^(::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/i.test(address) || address === "::1";
}

function isOurHost(host: string, { hostname, publicUrl }: GuardOptions): boolean {
  return isLoopbackHost(host) || host === hostOf(hostname) ||
    (publicUrl !== undefined && host === hostOf(publicUrl.host));
}

function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "");
  return bare === "localhost" || isLoopbackAddress(bare);
}

/** The host of `host:port`, in lower case, without the port. */
function hostOf(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, (port) => host.includes("[") || host.split(":").length === 2 ? "" : port);
}

function originHost(origin: string): string {
  return URL.parse(origin)?.host ?? origin;
}
