import { OutboundError } from "./outbound_error.ts";
import type { OutboundRequest } from "./outbound_request.ts";
import type { TargetUrl } from "./target_url.ts";

/** A request as it goes over the wire. */
export interface RequestBytes {
  readonly method: string;
  /** To be written one after the other. */
  readonly pieces: readonly Uint8Array[];
}

/** What a request is made of, besides where it goes. */
export interface RequestParts extends Pick<OutboundRequest, "method" | "headers" | "body"> {
  /** What `User-Agent` is when the headers have none. */
  readonly userAgent: string;
}

/** Encodes a request; throws an `OutboundError` REQUEST_INVALID for what could be read as another one on the way. */
export function encodeRequest(target: TargetUrl, parts: RequestParts): RequestBytes {
  const { method = "GET", headers = {}, userAgent } = parts;
  if (!/^(?:GET|HEAD|POST|PUT|PATCH|DELETE)$/.test(method)) throw invalid("the method is not one that is sent");
  if (!/^\/[\x21-\x7e]*$/.test(target.path)) throw invalid("the path of the URL has characters that cannot be sent");
  const body = typeof parts.body === "string" ? new TextEncoder().encode(parts.body) : parts.body;
  const hasAgent = Object.keys(headers).some((name) => name.toLowerCase() === "user-agent");
  const saysLength = body !== undefined || method === "POST" || method === "PUT" || method === "PATCH";
  const lines = [
    `${method} ${target.path} HTTP/1.1`,
    `Host: ${target.hostField}`,
    ...fieldLines(hasAgent ? headers : { ...headers, "User-Agent": userAgent }),
    ...saysLength ? [`Content-Length: ${body?.length ?? 0}`] : [],
    "Accept-Encoding: identity",
    "Connection: close",
  ];
  const head = Uint8Array.from(`${lines.join("\r\n")}\r\n\r\n`, (letter) => letter.charCodeAt(0));
  return { method, pieces: joined(head, body ?? new Uint8Array()) };
}

/** A small request is one write, so that it is one packet. */
function joined(head: Uint8Array, body: Uint8Array): readonly Uint8Array[] {
  if (body.length > 16 * 1024) return [head, body];
  const whole = new Uint8Array(head.length + body.length);
  whole.set(head);
  whole.set(body, head.length);
  return [whole];
}

/** The fields that say where a request goes and where it ends: the exchange's own. */
const ownFields =
  /^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|accept-encoding)$/i;

function fieldLines(headers: Readonly<Record<string, string>>): readonly string[] {
  const given = new Set<string>();
  return Object.entries(headers).map(([name, value]) => {
    const shown = JSON.stringify(name.slice(0, 100));
    if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)) throw invalid(`${shown} is no name of a header`);
    if (ownFields.test(name)) throw invalid(`the header ${shown} is not the caller's to set`);
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw invalid(`the header ${shown} has a value that cannot be sent`);
    if (given.has(name.toLowerCase())) throw invalid(`the header ${shown} is given twice`);
    given.add(name.toLowerCase());
    return `${name}: ${value}`;
  });
}

function invalid(message: string): OutboundError {
  return new OutboundError("REQUEST_INVALID", "url", { message });
}
