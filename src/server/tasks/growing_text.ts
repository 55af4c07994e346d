/**
 * Text that grows by chunks and is read by many at their own pace.
 *
 * A reader keeps the number of chunks it has seen; a range is joined only when it is asked for. So N chunks cost N steps,
 * whatever the number of readers, and no reader costs memory of its own.
 */
export class GrowingText {
  readonly #chunks: string[] = [];
  #length = 0;

  append(chunk: string): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /** Chunks so far: the position of a reader that has seen all. */
  get end(): number {
    return this.#chunks.length;
  }

  /** Characters (UTF-16 units) so far. */
  get length(): number {
    return this.#length;
  }

  /** The chunks from position `from` (included) to `to` (excluded), as one text. */
  range(from: number, to = this.end): string {
    return this.#chunks.slice(from, to).join("");
  }
}
