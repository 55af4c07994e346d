import { dirname } from "node:path";
import type { Disk } from "./disk.ts";
import { LineFile } from "./line_file.ts";
import { makeOwnedFolder } from "./owned_folder.ts";

/** Which file, and when it is put aside. */
export interface RotatingLineFileOptions {
  readonly disk: Disk;
  /** `…/audit.jsonl`: older ones are `…/audit.1.jsonl` (the newest of them) to `…/audit.5.jsonl`. */
  readonly path: string;
  /** 10 MiB when absent. */
  readonly bytesMax?: number;
}

/** How many full files are kept beside the one that grows. */
export const rotatedFilesMax = 5;

/** The file and its older ones, newest first. Some may be missing. */
export function rotatedPaths(path: string): readonly string[] {
  const stem = path.replace(/\.jsonl$/, "");
  return [path, ...Array.from({ length: rotatedFilesMax }, (_, index) => `${stem}.${index + 1}.jsonl`)];
}

/**
 * A file of JSON lines that starts anew when it is full, and keeps five full ones (data-model.md 8, 9). Its first line is
 * `{"v":1}`. It is opened at the first append. One process writes it.
 *
 * The files are renamed from the oldest down, so a crash in between loses at most the oldest. A failed append leaves
 * nothing in the file, and the next one begins from scratch.
 */
export class RotatingLineFile implements AsyncDisposable {
  readonly #disk: Disk;
  readonly #path: string;
  readonly #bytesMax: number;
  #file: LineFile | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;
  /** The name of the file is not durable yet. */
  #isNew = false;

  constructor({ disk, path, bytesMax = bytesMaxDefault }: RotatingLineFileOptions) {
    this.#disk = disk;
    this.#path = path;
    this.#bytesMax = bytesMax;
  }

  /**
   * Adds lines, given without their LF, to one file. Resolves when the system has them, and with `flush` when they are
   * durable. Rejects with the disk's error. Calls are done in the order they were made.
   */
  append(lines: readonly string[], { flush = false }: { readonly flush?: boolean } = {}): Promise<void> {
    const done = this.#last.then(() => this.#append(lines, flush));
    this.#last = done.catch(() => {});
    return done;
  }

  /** Waits for the appends that were asked for, and closes the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last;
    this.#closed = true;
    this.#drop();
  }

  async #append(lines: readonly string[], flush: boolean): Promise<void> {
    if (this.#closed) throw new TypeError(`Cannot write ${this.#path}: it was closed`);
    const bytes = lines.reduce((sum, line) => sum + new TextEncoder().encode(line).length + 1, 0);
    let file = await this.#open();
    if (file.bytes > firstLine.length + 1 && file.bytes + bytes > this.#bytesMax) {
      this.#drop();
      await this.#rotate();
      file = await this.#open();
    }
    await file.append(file.bytes === 0 ? [firstLine, ...lines] : lines);
    if (!flush) return;
    await file.flush();
    if (this.#isNew) await this.#disk.syncFolder(dirname(this.#path));
    this.#isNew = false;
  }

  /** The open file, as long as it is still the one at the path: a person may have moved it away. */
  async #open(): Promise<LineFile> {
    if (this.#file?.isAt(this.#disk)) return this.#file;
    this.#drop();
    await makeOwnedFolder(this.#disk, dirname(this.#path));
    this.#isNew ||= this.#disk.stampSync(this.#path) === undefined;
    this.#file = (await LineFile.open(this.#disk, this.#path)).file;
    return this.#file;
  }

  async #rotate(): Promise<void> {
    const paths = rotatedPaths(this.#path);
    // A rotation that a crash ended left a gap: only what is newer moves into it, so nothing more is lost.
    const gap = paths.findIndex((path) => this.#disk.linkStampSync(path) === undefined);
    const free = gap < 0 ? paths.length - 1 : gap;
    if (gap < 0) await this.#disk.remove(paths[free]!);
    for (let index = free; index > 0; index--) await this.#disk.rename(paths[index - 1]!, paths[index]!);
    await this.#disk.syncFolder(dirname(this.#path));
  }

  #drop(): void {
    this.#file?.[Symbol.dispose]();
    this.#file = undefined;
  }
}

const bytesMaxDefault = 10 * 1024 * 1024;
const firstLine = '{"v":1}';
