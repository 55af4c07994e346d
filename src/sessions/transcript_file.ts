import { dirname } from "node:path";
import { type Disk, isMissing, type ReadableFile } from "@/workspace/disk.ts";
import { LineFile } from "@/workspace/line_file.ts";
import { makeOwnedFolder } from "@/workspace/owned_folder.ts";
import { olderTranscriptPath, transcriptPath } from "./session_scope.ts";
import { parseLine } from "./transcript_line.ts";
import type { TranscriptParts } from "./transcript_parts.ts";
import { TurnHistory } from "./turn_history.ts";

/** Which transcript's files are opened. */
export interface TranscriptFileOptions {
  readonly disk: Disk;
  /** The folder of the sessions, absolute; made when missing. */
  readonly folder: string;
  readonly scope: string;
  readonly parts: TranscriptParts;
  /** 64 MiB when absent. */
  readonly fileBytesMax?: number;
}

/** A file that was opened, and what it said. */
export interface OpenedTranscriptFile {
  readonly file: TranscriptFile;
  readonly history: TurnHistory;
  /** Lines that are none of ours. */
  readonly damaged: number;
}

/** `<scope>.jsonl`, and the files before it: `<scope>.1.jsonl` is the oldest (data-model.md 7). */
export class TranscriptFile implements Disposable {
  readonly #options: TranscriptFileOptions;
  readonly #fileBytesMax: number;
  #lines: LineFile | undefined;
  #parts: number;
  /** The full file is put aside, and the new one is not there yet. */
  #isAside = false;

  private constructor(options: TranscriptFileOptions, lines: LineFile, parts: number) {
    this.#options = options;
    this.#fileBytesMax = options.fileBytesMax ?? 64 * 1024 * 1024;
    this.#lines = lines;
    this.#parts = parts;
  }

  /** Opens the newest file, made when missing; a torn last line is cut off. Rejects with the disk's errors. */
  static async open(options: TranscriptFileOptions): Promise<OpenedTranscriptFile> {
    const { disk, folder, scope } = options;
    await makeOwnedFolder(disk, folder);
    const path = transcriptPath(folder, scope);
    const { file: lines } = await LineFile.open(disk, path);
    try {
      const parts = await options.parts.newest(scope);
      if (lines.bytes === 0) await disk.syncFolder(folder);
      return { file: new TranscriptFile(options, lines, parts), ...await readHistory(options, parts) };
    } catch (error) {
      lines[Symbol.dispose]();
      throw error;
    }
  }

  /** Says whether `lines` fit in, or whether a new file has to be started first: also when that failed before. */
  fits(lines: readonly string[]): boolean {
    if (this.#lines === undefined) return false;
    const chars = lines.reduce((sum, line) => sum + line.length + 1, 0);
    // Three bytes a character at most: far from the limit no exact count is needed.
    if (this.#open.bytes + chars * 3 <= this.#fileBytesMax) return true;
    const encoder = new TextEncoder();
    const bytes = lines.reduce((sum, line) => sum + encoder.encode(line).length + 1, 0);
    return this.#open.bytes + bytes <= this.#fileBytesMax;
  }

  /** Adds lines, all or none. Rejects with the disk's error. */
  append(lines: readonly string[]): Promise<void> {
    return this.#open.append(lines);
  }

  /** Resolves when all that was added survives a loss of power. */
  flush(): Promise<void> {
    return this.#open.flush();
  }

  /**
   * Puts the file aside as the newest of the older ones and goes on in a new one that begins with `head`. Rejects with the
   * disk's error; called again it goes on where it failed.
   */
  async startNew(head: readonly string[]): Promise<void> {
    const { disk, folder, scope } = this.#options;
    const path = transcriptPath(folder, scope);
    await this.#lines?.flush();
    this[Symbol.dispose]();
    if (!this.#isAside) {
      await disk.rename(path, olderTranscriptPath(folder, scope, this.#parts + 1));
      this.#isAside = true;
      await this.#options.parts.added(scope, ++this.#parts);
    }
    const { file } = await LineFile.open(disk, path);
    try {
      await file.append(head); // a second time at most: the same lines again say nothing else
      await file.flush();
      await disk.syncFolder(dirname(path));
    } catch (error) {
      file[Symbol.dispose]();
      throw error;
    }
    this.#lines = file;
    this.#isAside = false;
  }

  [Symbol.dispose](): void {
    this.#lines?.[Symbol.dispose]();
    this.#lines = undefined;
  }

  get #open(): LineFile {
    if (this.#lines === undefined) throw new Error(`Cannot use the transcript of ${this.#options.scope}: it is closed`);
    return this.#lines;
  }
}

/**
 * Reads what is of use: the newest file, and with it the one before when the newest alone does not fill the memory
 * (it may be new, or missing after a crash between two renames).
 */
async function readHistory(options: TranscriptFileOptions, parts: number) {
  const { folder, scope } = options;
  const newest = transcriptPath(folder, scope);
  const alone = await readFiles(options.disk, [newest]);
  if (parts === 0 || alone.history.isFull) return alone;
  return await readFiles(options.disk, [olderTranscriptPath(folder, scope, parts), newest]);
}

async function readFiles(disk: Disk, paths: readonly string[]) {
  const history = new TurnHistory();
  let damaged = 0;
  for (const path of paths) {
    using file = await openIfThere(disk, path);
    if (file === undefined) continue;
    for await (const text of linesOf(file)) {
      const line = parseLine(text);
      if (line === undefined) damaged++;
      else history.add(line, text.length);
    }
  }
  return { history, damaged };
}

async function openIfThere(disk: Disk, path: string): Promise<ReadableFile | undefined> {
  try {
    return await disk.openRead(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

const pieceBytes = 256 * 1024;

/** The whole lines of a file, one at a time: 64 MiB of them are folded into 4 MiB of history and never held together. */
async function* linesOf(file: ReadableFile): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for (let at = 0; at < file.stamp.bytes;) {
    const piece = await file.readAt(at, pieceBytes);
    if (piece.length === 0) return;
    at += piece.length;
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
