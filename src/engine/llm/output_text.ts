/** The most bytes of a tool's output that a model is given (data-model.md 7). */
export const outputBytesMax = 64 * 1024;

/** Cuts a text to `bytesMax` bytes of UTF-8, never inside a character, and says at its end what is missing. */
export function cutOutput(text: string, bytesMax: number = outputBytesMax): string {
  if (text.length * 3 <= bytesMax) return text;
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= bytesMax) return text;
  return `${decodeHead(bytes.subarray(0, bytesMax))}\n[cut: ${bytes.length - bytesMax} more bytes]`;
}

/**
 * The output of a program as it grows: of a long one its head and its tail are kept, in bounded memory, with a line between
 * them that says how much is left out.
 */
export class ProgramOutput {
  readonly #head: Uint8Array;
  readonly #tail: Uint8Array;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#head = new Uint8Array(bytesMax >> 1);
    this.#tail = new Uint8Array(bytesMax - (bytesMax >> 1));
  }

  /** Adds what the program wrote. */
  add(chunk: Uint8Array): void {
    const headRoom = Math.max(0, this.#head.length - this.#bytes);
    const first = chunk.subarray(0, headRoom);
    this.#head.set(first, this.#bytes < this.#head.length ? this.#bytes : 0);
    this.#bytes += first.length;
    const rest = chunk.subarray(first.length);
    const size = this.#tail.length;
    const kept = rest.subarray(Math.max(0, rest.length - size));
    const at = (this.#bytes - this.#head.length + rest.length - kept.length) % size;
    const untilEnd = kept.subarray(0, size - at);
    if (kept.length > 0) {
      this.#tail.set(untilEnd, at);
      this.#tail.set(kept.subarray(untilEnd.length));
    }
    this.#bytes += rest.length;
  }

  /** All of it, or its head and its tail. */
  get text(): string {
    const inTail = this.#bytes - this.#head.length;
    const size = this.#tail.length;
    if (inTail <= 0) return decoded(this.#head.subarray(0, this.#bytes));
    if (inTail <= size) return decoded(joined(this.#head, this.#tail.subarray(0, inTail)));
    const at = inTail % size;
    const tail = joined(this.#tail.subarray(at), this.#tail.subarray(0, at));
    return `${decodeHead(this.#head)}\n[cut: ${inTail - size} bytes left out here]\n${decodeTail(tail)}`;
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

function decoded(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Without the character that is cut at its end. */
function decodeHead(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes, { stream: true });
}

/** Without the character that is cut at its beginning. */
function decodeTail(bytes: Uint8Array): string {
  let start = 0;
  while (start < 3 && (bytes[start]! & 0xc0) === 0x80) start++;
  return decoded(bytes.subarray(start));
}
