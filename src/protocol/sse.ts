/** The headers of a stream of events. The last one keeps proxies from holding events back. */
export const sseHeaders: Readonly<Record<string, string>> = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-cache",
  "X-Accel-Buffering": "no",
};

/**
 * Formats one event: the JSON on one `data:` line, then a blank line (A2A 1.0 §9.4.2, protocol.md 1.5).
 *
 * @throws {RangeError} If the text holds a line break, which would end the event early; `JSON.stringify` makes none.
 */
export function formatSseEvent(json: string): string {
  if (/[\r\n]/.test(json)) throw new RangeError("Cannot format an event: its JSON holds a line break");
  return `data: ${json}\n\n`;
}

/** Formats a comment, which readers ignore and proxies count as life. Line breaks in it become spaces. */
export function formatSseComment(text = ""): string {
  return `: ${text.replace(/[\r\n]+/g, " ")}\n\n`;
}

/** What a piece of a stream gave. */
export interface SsePiece {
  /** The data of the events that ended in it, in order; comments and events without data give none. */
  readonly events: readonly string[];
  /** An event is longer than allowed: nothing more is read, and the stream is to be given up. */
  readonly tooLong: boolean;
}

/**
 * Reads the events of a stream, piece by piece (WHATWG HTML 9.2.6).
 *
 * Ends of lines are LF, CR or CRLF, also across pieces; one space behind the colon is dropped; several `data` lines of one event
 * are joined by LF; other fields are ignored. Holds about twice `eventBytesMax` bytes at most, and works in linear time however
 * the pieces are cut. An event that the end of the stream cuts off is never given. Never throws.
 */
export class SseReader {
  readonly #eventBytesMax: number;
  /** The line that has not ended yet, at its start. */
  #line = new Uint8Array(1024);
  #lineBytes = 0;
  #data: string[] = [];
  #dataBytes = 0;
  #isFirstLine = true;
  #wasCarriageReturn = false;
  #tooLong = false;

  constructor(options: { readonly eventBytesMax: number }) {
    this.#eventBytesMax = options.eventBytesMax;
  }

  push(piece: Uint8Array): SsePiece {
    const events: string[] = [];
    let from = 0;
    for (let at = 0; at < piece.length && !this.#tooLong; at++) {
      const byte = piece[at];
      const wasCarriageReturn = this.#wasCarriageReturn;
      this.#wasCarriageReturn = byte === carriageReturn;
      if (byte !== lineFeed && byte !== carriageReturn) continue;
      const isSecondHalf = byte === lineFeed && wasCarriageReturn;
      if (!isSecondHalf) this.#endLine(piece.subarray(from, at), events);
      from = at + 1;
    }
    this.#keep(piece.subarray(from));
    return { events, tooLong: this.#tooLong };
  }

  /** The one place that grows: doubling keeps the copying linear, and many small pieces small. */
  #keep(bytes: Uint8Array): void {
    const length = this.#lineBytes + bytes.length;
    this.#tooLong ||= length + this.#dataBytes > this.#eventBytesMax;
    if (this.#tooLong) return;
    if (length > this.#line.length) {
      const longer = new Uint8Array(Math.max(length, this.#line.length * 2));
      longer.set(this.#line.subarray(0, this.#lineBytes));
      this.#line = longer;
    }
    this.#line.set(bytes, this.#lineBytes);
    this.#lineBytes = length;
  }

  #endLine(rest: Uint8Array, events: string[]): void {
    this.#keep(rest);
    if (this.#tooLong) return;
    const line = this.#decoded();
    if (line === "") this.#endEvent(events);
    const [, field, value] = /^([^:]*):? ?([^]*)$/.exec(line)!;
    if (field === "data") {
      this.#data.push(value!);
      this.#dataBytes += this.#lineBytes;
    }
    this.#lineBytes = 0;
  }

  #endEvent(events: string[]): void {
    const data = this.#data.join("\n");
    this.#data = [];
    this.#dataBytes = 0;
    if (data.trim() !== "") events.push(data);
  }

  #decoded(): string {
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.#line.subarray(0, this.#lineBytes));
    const isMarked = this.#isFirstLine && text.startsWith("\uFEFF");
    this.#isFirstLine = false;
    return isMarked ? text.slice(1) : text;
  }
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
