import type { ReadableFile } from "./disk.ts";

/** Some lines of a text file. */
export interface TextWindow {
  readonly kind: "window";
  /** The lines, without carriage returns, joined by line feeds. */
  readonly text: string;
  /** Lines of the whole file. */
  readonly lines: number;
  /** Lines follow, or one of these was cut. */
  readonly isCut: boolean;
}

/** Which lines, and how much of them. */
export interface TextWindowOptions {
  /** The first, from 1. */
  readonly from: number;
  readonly count: number;
  /** The most bytes of all lines; at least one line is given. */
  readonly bytesMax: number;
  /** A longer line is cut, and marked. */
  readonly lineCharsMax: number;
}

/**
 * Reads lines of an open file, whatever its size and theirs, in memory of about `bytesMax`. "no text": it has a NUL, or is not
 * UTF-8. The file is read to its end, to count its lines. Rejects only when the disk fails.
 */
export async function readTextWindow(file: ReadableFile, options: TextWindowOptions): Promise<TextWindow | "no text"> {
  const lines = new WindowLines(options);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let position = 0;
  while (true) {
    const bytes = await file.readAt(position, Math.min(pieceBytes, file.stamp.bytes - position));
    position += bytes.length;
    const isLast = bytes.length === 0; // its end as it was opened, or it became shorter
    const text = decoded(decoder, bytes, { stream: !isLast });
    if (text === undefined || text.includes("\0")) return "no text";
    lines.add(text);
    if (isLast) return lines.end();
  }
}

/** A text file's bytes as text, a mark at its beginning kept; undefined when it has a NUL or is not UTF-8. */
export function textOf(bytes: Uint8Array): string | undefined {
  const text = decoded(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }), bytes);
  return text?.includes("\0") ? undefined : text;
}

/** A line as far as it may be shown; a mark says when it was cut. */
export function cutLine(line: string, charsMax: number, length = line.length): string {
  if (length <= charsMax) return line;
  const head = line.slice(0, charsMax).replace(/[\ud800-\udbff]$/, "");
  return `${head}… (cut, ${length} characters in all)`;
}

const pieceBytes = 64 * 1024;

function decoded(decoder: TextDecoder, bytes: Uint8Array, options?: TextDecodeOptions): string | undefined {
  try {
    return decoder.decode(bytes, options);
  } catch {
    return undefined;
  }
}

/** Takes text in pieces and keeps the lines of a window. */
class WindowLines {
  readonly #options: TextWindowOptions;
  readonly #kept: string[] = [];
  #bytes = 0;
  #lines = 0;
  #isCut = false;
  #isFull = false;
  /** The beginning of the line that is being read, and its length so far. */
  #head = "";
  #length = 0;
  #last = "";

  constructor(options: TextWindowOptions) {
    this.#options = options;
  }

  add(text: string): void {
    for (let at = 0; at < text.length;) {
      const found = text.indexOf("\n", at);
      const end = found === -1 ? text.length : found;
      this.#grow(text.slice(at, end));
      if (found !== -1) this.#endLine();
      at = end + 1;
    }
  }

  end(): TextWindow {
    if (this.#length > 0) this.#endLine();
    return { kind: "window", text: this.#kept.join("\n"), lines: this.#lines, isCut: this.#isCut };
  }

  #grow(piece: string): void {
    if (piece === "") return;
    this.#length += piece.length;
    this.#last = piece.at(-1)!;
    const room = this.#options.lineCharsMax + 1 - this.#head.length; // one more, for a carriage return
    if (room > 0 && this.#isInWindow(this.#lines + 1)) this.#head += piece.slice(0, room);
  }

  #isInWindow(line: number): boolean {
    const { from, count } = this.#options;
    return line >= from && line < from + count && !this.#isFull;
  }

  #endLine(): void {
    const line = ++this.#lines;
    const isReturned = this.#length > 0 && this.#last === "\r";
    const length = this.#length - (isReturned ? 1 : 0);
    if (this.#isInWindow(line)) this.#keep(this.#head.slice(0, length), length);
    else if (line >= this.#options.from) this.#isCut = true;
    [this.#head, this.#length, this.#last] = ["", 0, ""];
  }

  #keep(head: string, length: number): void {
    const { lineCharsMax, bytesMax } = this.#options;
    const shown = cutLine(head, lineCharsMax, length);
    this.#bytes += new TextEncoder().encode(shown).length + 1;
    if (this.#bytes > bytesMax && this.#kept.length > 0) {
      this.#isFull = this.#isCut = true;
      return;
    }
    this.#kept.push(shown);
    if (length > lineCharsMax) this.#isCut = true;
  }
}
