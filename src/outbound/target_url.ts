import { type IpAddress, parseIpAddress } from "@/ip_address.ts";
import { OutboundError } from "./outbound_error.ts";

/** Where a URL leads. */
export interface TargetUrl {
  readonly isSecure: boolean;
  /** A name in lower case without a final dot, or an address in its canonical form: what a certificate is held against. */
  readonly host: string;
  readonly port: number;
  /** The host, when it is an address. */
  readonly address?: IpAddress;
  /** The value of the `Host` field. */
  readonly hostField: string;
  /** The path and the query. */
  readonly path: string;
  readonly origin: string;
}

/**
 * Parses a URL to send to; throws an `OutboundError` that says what is wrong with it.
 *
 * What a parser of the web would repair is refused before it is parsed (spaces, controls, backslashes), and what is judged
 * afterwards is the parsed host: `0x7f.1`, full-width digits and their like are addresses by then.
 */
export function parseTargetUrl(text: string, { allowHttp }: { readonly allowHttp: boolean }): TargetUrl {
  const url = parseUrl(text);
  const isSecure = url.protocol === "https:";
  if (!isSecure && !(allowHttp && url.protocol === "http:")) {
    throw refusal("SCHEME_FORBIDDEN", `the scheme ${url.protocol.slice(0, 40)} is not allowed`);
  }
  if (url.username !== "" || url.password !== "") {
    throw refusal("USERINFO_FORBIDDEN", "a URL must not carry a user or a password");
  }
  const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port);
  if (badPorts.has(port)) throw refusal("PORT_FORBIDDEN", `port ${port} is not allowed`);
  const { host, address } = parseHost(url.hostname);
  const bracketed = address?.bytes.length === 16 ? `[${host}]` : host;
  const hostField = url.port === "" ? bracketed : `${bracketed}:${port}`;
  return { isSecure, host, port, address, hostField, path: url.pathname + url.search, origin: url.origin };
}

/**
 * The host that a stranger's URL leads to, in lower case, without a final dot and without its port: what the limits per host
 * count by, for many ports are one machine. Throws an `OutboundError` for what is no URL of http or https.
 */
export function targetHost(url: string): string {
  return parseTargetUrl(url, { allowHttp: true }).host;
}

const urlCharsMax = 8192;

function parseUrl(text: string): URL {
  if (text.length > urlCharsMax) throw refusal("URL_INVALID", `the URL is longer than ${urlCharsMax} characters`);
  if (/[\u0000-\u0020\u007f\\]/.test(text)) {
    throw refusal("URL_INVALID", "the URL has spaces, control characters or backslashes");
  }
  const url = URL.parse(text);
  if (url === null) throw refusal("URL_INVALID", "the URL cannot be parsed");
  return url;
}

function parseHost(hostname: string): Pick<TargetUrl, "host" | "address"> {
  const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname.replace(/\.$/, "");
  const address = parseIpAddress(bare);
  if (address !== undefined) return { host: address.text, address };
  if (!isName(bare)) throw refusal("URL_INVALID", "the host of the URL is not a name of the DNS");
  return { host: bare };
}

/** Letters, digits, hyphens and underscores, at least one letter, in labels and in all as long as the DNS has them. */
function isName(name: string): boolean {
  const labels = name.split(".");
  return name.length <= 253 && /[a-z]/.test(name) &&
    labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label));
}

function refusal(
  code: "URL_INVALID" | "SCHEME_FORBIDDEN" | "USERINFO_FORBIDDEN" | "PORT_FORBIDDEN",
  message: string,
): OutboundError {
  return new OutboundError(code, "url", { message });
}

/** The bad ports of the web's fetch: services that could take a request for one of theirs. */
const badPorts: ReadonlySet<number> = new Set([
  ...[0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25],
  ...[37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109],
  ...[110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389],
  ...[427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556],
  ...[563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045],
  ...[4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
]);
