import { type Disk, isMissing, type ReadableFile } from "./disk.ts";

/** What `readLines` found. */
export interface LinesRead {
  /** The values of the good lines, in the order of the file. */
  readonly values: readonly unknown[];
  /** How many whole lines were not JSON in UTF-8. They are left out. */
  readonly badLines: number;
  /** Bytes after the last LF: a write that was cut by a crash, or is under way. They are left out. */
  readonly tornBytes: number;
  /** Bytes at the beginning that were left out because the file is larger than `bytesMax`. */
  readonly skippedBytes: number;
}

/** Which file, and how much of it. */
export interface ReadLinesOptions {
  /** How much of the file is read at most, from its end: the newest lines count. */
  readonly bytesMax: number;
}

/**
 * Reads a file of JSON lines (Write J of data-model.md 0) without changing it. A missing file has no lines.
 *
 * It reads piece by piece, so that it holds the values and never the whole text; `bytesMax` bounds both. A bad line is
 * counted and the others stand. Rejects with the disk's errors, and with a TypeError for what is not a regular file.
 */
export async function readLines(disk: Disk, path: string, { bytesMax }: ReadLinesOptions): Promise<LinesRead> {
  using file = await openLines(disk, path);
  if (!file) return { values: [], badLines: 0, tornBytes: 0, skippedBytes: 0 };
  const end = file.stamp.bytes;
  const start = await firstLineStart(file, Math.max(0, end - bytesMax));
  const values: unknown[] = [];
  let badLines = 0;
  let rest: Uint8Array[] = [];
  let restBytes = 0;
  for (let at = start; at < end;) {
    const piece = await file.readAt(at, Math.min(pieceBytes, end - at));
    if (piece.length === 0) break; // cut by its writer meanwhile
    at += piece.length;
    let from = 0;
    for (let to = piece.indexOf(lineFeed); to >= 0; from = to + 1, to = piece.indexOf(lineFeed, from)) {
      const line = joined([...rest, piece.subarray(from, to)]);
      rest = [];
      restBytes = 0;
      const value = parseLine(line);
      if (value === undefined) badLines++;
      else values.push(value.json);
    }
    rest.push(piece.subarray(from));
    restBytes += piece.length - from;
  }
  return { values, badLines, tornBytes: restBytes, skippedBytes: start };
}

/** Where the last whole line of a file ends: the byte after its last LF, 0 when it has none. Reads from the end on. */
export async function lastLineEnd(disk: Disk, path: string): Promise<number> {
  using file = await openLines(disk, path);
  for (let to = file?.stamp.bytes ?? 0; to > 0;) {
    const from = Math.max(0, to - pieceBytes);
    const at = (await file!.readAt(from, to - from)).lastIndexOf(lineFeed);
    if (at >= 0) return from + at + 1;
    to = from;
  }
  return 0;
}

const lineFeed = 10;
const pieceBytes = 256 * 1024;

async function openLines(disk: Disk, path: string): Promise<ReadableFile | undefined> {
  let file: ReadableFile;
  try {
    file = await disk.openRead(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  if (file.stamp.kind === "file") return file;
  file[Symbol.dispose]();
  throw new TypeError(`Cannot read ${path}: it is not a regular file`);
}

/** The first place at or after `from` where a line begins. */
async function firstLineStart(file: ReadableFile, from: number): Promise<number> {
  if (from === 0) return 0;
  for (let at = from - 1; at < file.stamp.bytes;) {
    const piece = await file.readAt(at, pieceBytes);
    const found = piece.indexOf(lineFeed);
    if (found >= 0) return at + found + 1;
    if (piece.length === 0) break;
    at += piece.length;
  }
  return file.stamp.bytes;
}

function parseLine(bytes: Uint8Array): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) };
  } catch {
    return undefined;
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
