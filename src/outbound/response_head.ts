import { OutboundError } from "./outbound_error.ts";
import type { LineRule, ResponseWire } from "./response_wire.ts";

/** Fields in the order they came, names in lower case. */
export type FieldList = readonly (readonly [name: string, value: string])[];

/** The head of a response. */
export interface ResponseHead {
  /** Of HTTP/1. */
  readonly minorVersion: 0 | 1;
  readonly status: number;
  readonly fields: FieldList;
}

/** How the end of a body is told. */
export type Framing =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly length: number }
  | { readonly kind: "chunked" }
  /** It ends with the connection, which then must be closed in order. */
  | { readonly kind: "until close" };

const headBytesMax = 32 * 1024;
const lineBytesMax = 16 * 1024;
/** How many fields a head may have, and a trailer. */
export const fieldsMax = 100;
const interimMax = 8;

/**
 * Reads the head of the final response, past at most eight interim ones.
 *
 * Narrow on purpose: CRLF only, names of token letters, no control bytes, no folded lines, bounded in all. What a lenient
 * reader would take in two ways is refused.
 */
export async function readHead(wire: ResponseWire): Promise<ResponseHead> {
  const lines = new HeadLines(wire);
  for (let interim = 0; interim <= interimMax; interim++) {
    const head = await oneHead(lines);
    if (head.status >= 200) return head;
    if (head.status === 101) throw malformed("it switches protocols without being asked");
  }
  throw malformed("too many interim responses");
}

/** The lines of all heads together, within one bound. */
class HeadLines {
  readonly #wire: ResponseWire;
  #bytesLeft = headBytesMax;

  constructor(wire: ResponseWire) {
    this.#wire = wire;
  }

  async next(): Promise<string> {
    if (this.#bytesLeft <= 0) throw tooLarge();
    const rule: LineRule = { bytesMax: Math.min(lineBytesMax, this.#bytesLeft), tooLong: tooLarge, malformed };
    const line = await this.#wire.line(rule);
    if (line === undefined) {
      throw new OutboundError("CONNECTION_CLOSED", "head", {
        message: "the connection was closed before a whole head",
      });
    }
    this.#bytesLeft -= line.length + 2;
    if (this.#bytesLeft < 0) throw tooLarge();
    return line;
  }
}

async function oneHead(lines: HeadLines): Promise<ResponseHead> {
  const [, minor, digits, reason = ""] = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: (.*))?$/.exec(await lines.next()) ?? [];
  if (digits === undefined || controls.test(reason)) throw malformed("a bad status line");
  const fields: (readonly [string, string])[] = [];
  for (let line = await lines.next(); line !== ""; line = await lines.next()) {
    if (fields.length >= fieldsMax) throw tooLarge();
    fields.push(parseField(line, malformed));
  }
  return { minorVersion: minor === "1" ? 1 : 0, status: Number(digits), fields };
}

const controls = /[\x00-\x08\x0a-\x1f\x7f]/;

/** Parses the line of a field; a folded line and a space before the colon make no name. */
export function parseField(
  line: string,
  malformed: (message: string) => OutboundError,
): readonly [name: string, value: string] {
  const colon = line.indexOf(":");
  const name = line.slice(0, Math.max(0, colon));
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)) throw malformed("a field without a good name");
  const value = line.slice(colon + 1).replace(/^[ \t]+/, "").replace(/(?<![ \t])[ \t]+$/, "");
  if (controls.test(value)) throw malformed("a field with control characters");
  return [name.toLowerCase(), value];
}

/** Says how the body that follows a head ends. A length and chunks at once, or any other coding, is refused. */
export function framingOf(head: ResponseHead, method: string): Framing {
  const valuesOf = (wanted: string) => head.fields.filter(([name]) => name === wanted).map(([, value]) => value);
  const codings = valuesOf("transfer-encoding");
  const lengths = valuesOf("content-length").flatMap((value) =>
    value.split(",").map((one) => one.replace(/^[ \t]+|[ \t]+$/g, ""))
  );
  if (codings.length > 0 && lengths.length > 0) throw malformed("a length and a transfer coding at once");
  if (lengths.some((length) => !/^\d{1,15}$/.test(length) || length !== lengths[0])) throw malformed("a bad length");
  const isChunked = codings.length === 1 && codings[0]!.toLowerCase() === "chunked" && head.minorVersion === 1;
  if (codings.length > 0 && !isChunked) throw malformed("a transfer coding that is not taken");
  if (method === "HEAD" || head.status === 204 || head.status === 304) return { kind: "none" };
  if (isChunked) return { kind: "chunked" };
  if (lengths.length === 0) return { kind: "until close" };
  return lengths[0] === "0" ? { kind: "none" } : { kind: "length", length: Number(lengths[0]) };
}

function malformed(message: string): OutboundError {
  return new OutboundError("MALFORMED_RESPONSE", "head", { message: `the head of the answer has ${message}` });
}

function tooLarge(): OutboundError {
  return new OutboundError("HEAD_TOO_LARGE", "head", { message: "the head of the answer is too large" });
}
