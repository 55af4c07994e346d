import { type BodyPieces, malformed, tooLarge } from "./response_body.ts";

/** How much is given to the decoder at once: it can make at most a thousand times as much of it before it is looked at. */
const fedBytesMax = 4 * 1024;

/**
 * Decodes a body in gzip, one layer of it, as it is asked for.
 *
 * `bytesMax` holds for what comes out. Dispose of it when it is not read to its end: the decoder is not plain memory.
 */
export class GunzipBody implements BodyPieces, AsyncDisposable {
  readonly #encoded: BodyPieces;
  readonly #bytesMax: number;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  #feeding: Promise<void> | undefined;
  #failure: { readonly reason: unknown } | undefined;
  #count = 0;

  constructor(encoded: BodyPieces, bytesMax: number) {
    const decoder = new DecompressionStream("gzip");
    this.#encoded = encoded;
    this.#bytesMax = bytesMax;
    this.#writer = decoder.writable.getWriter();
    this.#reader = decoder.readable.getReader();
    this.#writer.closed.catch(() => {}); // what went wrong is seen by who reads
    this.#reader.closed.catch(() => {});
  }

  /** As of `BodyPieces`. */
  async next(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    this.#feeding ??= this.#feed();
    const { value, done } = await this.#reader.read().catch((error) => {
      throw this.#failure?.reason ?? malformed("data that is no good gzip", error);
    });
    if (done) return undefined;
    this.#count += value.length;
    if (this.#count > this.#bytesMax) throw tooLarge(this.#bytesMax);
    return value;
  }

  /** Lets go of the decoder. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader.cancel().catch(() => {}); // first: an abort would wait for a write that waits for the reader
    await this.#writer.abort().catch(() => {});
    await this.#feeding;
  }

  /** Feeds as fast as it is read: the decoder takes the next part when the one before was asked for. Never rejects. */
  async #feed(): Promise<void> {
    try {
      for (let piece = await this.#nextEncoded(); piece !== undefined; piece = await this.#nextEncoded()) {
        for (let from = 0; from < piece.length; from += fedBytesMax) {
          await this.#writer.write(piece.subarray(from, from + fedBytesMax));
        }
      }
      await this.#writer.close(); // rejects when it was cut; who reads is told so by the decoder
    } catch (reason) {
      await this.#writer.abort(reason).catch(() => {});
    }
  }

  /** Keeps why there is no next piece, which the decoder would take for its own trouble. */
  async #nextEncoded(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    try {
      return await this.#encoded.next();
    } catch (reason) {
      this.#failure = { reason };
      throw reason;
    }
  }
}
