import { normalizeBase64 } from "./base64.ts";

/** What a `data:` URL holds. */
export interface DataUrlContent {
  /** Base64, standard and padded. */
  readonly base64: string;
  /** As the URL names it, else what RFC 2397 says for none. */
  readonly mediaType: string;
}

/** Says whether a URL is a `data:` URL, whatever its case and the white space in front of it. */
export function isDataUrl(url: string): boolean {
  return /^[\0- ]*data:/i.test(url);
}

/** Decodes a `data:` URL (RFC 2397, WHATWG Fetch); undefined when it is malformed. Nothing is fetched. */
export function decodeDataUrl(url: string): DataUrlContent | undefined {
  const comma = url.indexOf(",");
  if (!isDataUrl(url) || comma === -1) return undefined;
  const header = url.slice(url.indexOf(":") + 1, comma).trim();
  const fragment = url.indexOf("#", comma);
  const bytes = percentDecode(url.slice(comma + 1, fragment === -1 ? undefined : fragment));
  const isBase64 = /; *base64$/i.test(header);
  const base64 = isBase64 ? normalizeBase64(latin1(bytes)) : bytes.toBase64();
  if (base64 === undefined) return undefined;
  return { base64, mediaType: mediaTypeOf(isBase64 ? header.replace(/; *base64$/i, "") : header) };
}

function mediaTypeOf(header: string): string {
  if (header.startsWith(";")) return `text/plain${header}`;
  return /^[^\s/;]+\/[^\s/;]+/.test(header) ? header : "text/plain;charset=US-ASCII";
}

/** `%` without two hex digits stands for itself. */
function percentDecode(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  if (!text.includes("%")) return bytes;
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const escaped = bytes[at] === 0x25 ? hexDigit(bytes[at + 1]) * 16 + hexDigit(bytes[at + 2]) : NaN;
    bytes[length++] = Number.isNaN(escaped) ? bytes[at]! : escaped;
    if (!Number.isNaN(escaped)) at += 2;
  }
  return bytes.subarray(0, length);
}

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return NaN;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : NaN;
}

function latin1(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}
