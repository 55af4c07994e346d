import { OutboundError } from "./outbound_error.ts";
import { fieldsMax, type Framing, parseField } from "./response_head.ts";
import type { ResponseWire } from "./response_wire.ts";

/** The pieces of a body, one after the other. */
export interface BodyPieces {
  /** The next piece, never an empty one; undefined at the end. Rejects with an `OutboundError`, or as the socket does. */
  next(): Promise<Uint8Array<ArrayBuffer> | undefined>;
}

/** How a body is read. */
export interface BodyOptions {
  readonly framing: Framing;
  /** The largest body. */
  readonly bytesMax: number;
}

/**
 * Reads the body of a response to its end; throws at once when its length is over `bytesMax`.
 *
 * The bound is held against the length, against the size of each chunk before it comes, and against each piece.
 */
export function readBody(wire: ResponseWire, options: BodyOptions): BodyPieces {
  const { framing } = options;
  const count = new ByteCount(options.bytesMax);
  switch (framing.kind) {
    case "none":
      return { next: () => Promise.resolve(undefined) };
    case "length":
      count.foresee(framing.length);
      return new MeasuredBody(wire, count, framing.length);
    case "chunked":
      return new ChunkedBody(wire, count);
    case "until close":
      return new OpenBody(wire, count);
    default:
      return framing satisfies never;
  }
}

class ByteCount {
  readonly #bytesMax: number;
  #count = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Throws when so many more would be too many. */
  foresee(count: number): void {
    if (this.#count + count > this.#bytesMax) throw tooLarge(this.#bytesMax);
  }

  add(count: number): void {
    this.foresee(count);
    this.#count += count;
  }
}

class OpenBody implements BodyPieces {
  readonly #wire: ResponseWire;
  readonly #count: ByteCount;

  constructor(wire: ResponseWire, count: ByteCount) {
    this.#wire = wire;
    this.#count = count;
  }

  async next(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    if (this.#wire.buffered === 0 && !await this.#wire.fill()) return undefined;
    const piece = this.#wire.take(Infinity);
    this.#count.add(piece.length);
    return piece;
  }
}

class MeasuredBody implements BodyPieces {
  readonly #wire: ResponseWire;
  readonly #count: ByteCount;
  #left: number;

  constructor(wire: ResponseWire, count: ByteCount, length: number) {
    this.#wire = wire;
    this.#count = count;
    this.#left = length;
  }

  async next(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    if (this.#left === 0) return undefined;
    if (this.#wire.buffered === 0 && !await this.#wire.fill()) throw truncated();
    const piece = this.#wire.take(this.#left);
    this.#left -= piece.length;
    this.#count.add(piece.length);
    return piece;
  }
}

const chunkLineBytesMax = 256;
const trailerBytesMax = 8 * 1024;
/** Pieces under the first are joined, up to the second: chunks of one byte then cost their parsing only. */
const smallPieceBytes = 4 * 1024;
const joinedBytesMax = 16 * 1024;

class ChunkedBody implements BodyPieces {
  readonly #wire: ResponseWire;
  readonly #count: ByteCount;
  #awaits: "size" | "data" | "end of chunk" | "nothing" = "size";
  #left = 0;

  constructor(wire: ResponseWire, count: ByteCount) {
    this.#wire = wire;
    this.#count = count;
  }

  async next(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    let joined: Uint8Array<ArrayBuffer> | undefined;
    let used = 0;
    while (this.#awaits !== "nothing") {
      if (joined !== undefined && (used === joined.length || !this.#canGoOn())) break;
      if (this.#awaits === "size") await this.#size();
      else if (this.#awaits === "end of chunk") await this.#endOfChunk();
      else {
        const piece = await this.#piece(joined === undefined ? Infinity : joined.length - used);
        if (joined === undefined && piece.length >= smallPieceBytes) return piece;
        joined ??= new Uint8Array(joinedBytesMax);
        joined.set(piece, used);
        used += piece.length;
      }
    }
    return joined?.slice(0, used);
  }

  /** Says whether the next step has what it needs without waiting. */
  #canGoOn(): boolean {
    return this.#awaits === "data" ? this.#wire.buffered > 0 : this.#wire.hasLine(chunkLineBytesMax);
  }

  async #size(): Promise<void> {
    const line = await this.#line(chunkLineBytesMax, "a chunk line that is too long");
    const [, digits] = /^([0-9a-f]{1,8})(?:[ \t]*;[\t\x20-\x7e]*)?$/i.exec(line) ?? [];
    if (digits === undefined) throw malformed("a bad chunk size");
    this.#left = parseInt(digits, 16);
    if (this.#left === 0) return await this.#trailer();
    this.#count.foresee(this.#left);
    this.#awaits = "data";
  }

  async #piece(bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#wire.buffered === 0 && !await this.#wire.fill()) throw truncated();
    const piece = this.#wire.take(Math.min(this.#left, bytesMax));
    this.#left -= piece.length;
    this.#count.add(piece.length);
    if (this.#left === 0) this.#awaits = "end of chunk";
    return piece;
  }

  async #endOfChunk(): Promise<void> {
    const line = await this.#line(chunkLineBytesMax, "a chunk line that is too long");
    if (line !== "") throw malformed("a chunk that is longer than its size");
    this.#awaits = "size";
  }

  /** The fields behind the last chunk are checked and dropped: what a head must say cannot come later. */
  async #trailer(): Promise<void> {
    const tooLong = "a trailer that is too large";
    let bytesLeft = trailerBytesMax;
    for (let count = 0;; count++) {
      const line = await this.#line(bytesLeft, tooLong);
      if (line === "") break;
      bytesLeft -= line.length + 2;
      if (bytesLeft < 0 || count >= fieldsMax) throw malformed(tooLong);
      parseField(line, malformed);
    }
    this.#awaits = "nothing";
  }

  async #line(bytesMax: number, tooLong: string): Promise<string> {
    const rule = { bytesMax, malformed, tooLong: () => malformed(tooLong) };
    const line = await this.#wire.line(rule).catch((error) => {
      throw error instanceof OutboundError && error.code === "CONNECTION_CLOSED" ? truncated() : error;
    });
    if (line === undefined) throw truncated();
    return line;
  }
}

/** The error for a body over its bound. */
export function tooLarge(bytesMax: number): OutboundError {
  return new OutboundError("BODY_TOO_LARGE", "body", { message: `the body has more than ${bytesMax} bytes` });
}

/** The error for a body that is not what its framing or its encoding says. */
export function malformed(message: string, cause?: unknown): OutboundError {
  return new OutboundError("MALFORMED_RESPONSE", "body", { message: `the body has ${message}`, cause });
}

function truncated(): OutboundError {
  return new OutboundError("BODY_TRUNCATED", "body", { message: "the connection was closed before the body's end" });
}
