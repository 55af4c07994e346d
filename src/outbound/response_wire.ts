import { OutboundError } from "./outbound_error.ts";

/** Where bytes come from: a socket. */
export interface ByteSource {
  /** Reads what is there into `buffer`; null at the end. */
  read(buffer: Uint8Array): Promise<number | null>;
}

/** What a line may be, and what it is when it is not so. */
export interface LineRule {
  readonly bytesMax: number;
  readonly tooLong: () => OutboundError;
  readonly malformed: (message: string) => OutboundError;
}

const readBytes = 64 * 1024;

/** The bytes of a response, read as they are asked for: by lines, or as they come. */
export class ResponseWire {
  readonly #source: ByteSource;
  readonly #room = new Uint8Array(readBytes);
  #bytes = new Uint8Array();
  #at = 0;
  #isAtEnd = false;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  /** How many bytes are there without waiting. */
  get buffered(): number {
    return this.#bytes.length - this.#at;
  }

  /** Waits for more; false at the end of the stream. */
  async fill(): Promise<boolean> {
    if (this.#isAtEnd) return false;
    const count = await this.#source.read(this.#room);
    this.#isAtEnd = count === null;
    if (count === null) return false;
    // A copy of its own length: a sender of single bytes must not make each of them cost a whole buffer.
    const fresh = this.#room.subarray(0, count);
    const left = this.#bytes.subarray(this.#at);
    const joined = new Uint8Array(left.length + count);
    joined.set(left);
    joined.set(fresh, left.length);
    this.#bytes = joined;
    this.#at = 0;
    return true;
  }

  /** Says whether `line` would have something to decide on without waiting, if only that it is too long. */
  hasLine(bytesMax: number): boolean {
    return this.buffered > bytesMax + 2 || this.#bytes.indexOf(lineFeed, this.#at) >= 0;
  }

  /** Takes what is there, at most `count` bytes, without copying it. */
  take(count: number): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.subarray(this.#at, this.#at + Math.min(count, this.buffered));
    this.#at += taken.length;
    return taken;
  }

  /** Takes one line without its CRLF, as Latin-1. Nothing else ends a line. Undefined at the end of the stream, before any byte. */
  async line(rule: LineRule): Promise<string | undefined> {
    for (let seen = 0;;) {
      const end = this.#lineEnd(seen, rule);
      if (end !== undefined) {
        const text = latin1(this.#bytes.subarray(this.#at, end));
        this.#at = end + 2;
        return text;
      }
      if (this.buffered > rule.bytesMax + 2) throw rule.tooLong();
      seen = Math.max(0, this.buffered - 1); // the last byte may be the CR of a CRLF
      const isAtStart = this.buffered === 0;
      if (await this.fill()) continue;
      if (isAtStart) return undefined;
      throw new OutboundError("CONNECTION_CLOSED", "head", { message: "the connection was closed within a line" });
    }
  }

  /** Where the CR of the line's end is; undefined when the end is not there yet. `seen` bytes were looked at before. */
  #lineEnd(seen: number, { bytesMax, tooLong, malformed }: LineRule): number | undefined {
    for (let at = this.#at + seen; at < this.#bytes.length; at++) {
      const byte = this.#bytes[at]!;
      if (byte === 0) throw malformed("a NUL byte");
      if (byte === lineFeed) throw malformed("a line feed without its carriage return");
      if (byte !== carriageReturn) continue;
      const next = this.#bytes[at + 1];
      if (next === undefined) return undefined;
      if (next !== lineFeed) throw malformed("a carriage return within a line");
      if (at - this.#at > bytesMax) throw tooLong();
      return at;
    }
    return undefined;
  }
}

const lineFeed = 10;
const carriageReturn = 13;

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let from = 0; from < bytes.length; from += 8192) {
    text += String.fromCharCode(...bytes.subarray(from, from + 8192));
  }
  return text;
}
