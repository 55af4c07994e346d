import { dirname } from "node:path";
import type { Disk, FileStamp, WritableFile } from "./disk.ts";
import { lastLineEnd } from "./line_reader.ts";
import { ownLikeFolder } from "./owned_folder.ts";

/**
 * A file of lines that only grows: Write J of data-model.md 0. One process writes it.
 *
 * What is appended is in the file in order, as whole lines. A write that failed leaves nothing behind: the file is cut
 * back to the last whole line before anything else is written.
 */
export class LineFile implements Disposable {
  readonly #file: WritableFile;
  readonly #path: string;
  readonly #stamp: FileStamp;
  #bytes: number;
  #torn = false;
  #closed = false;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(path: string, file: WritableFile, bytes: number) {
    this.#path = path;
    this.#file = file;
    this.#stamp = file.stamp;
    this.#bytes = bytes;
  }

  /**
   * Opens the file at `path`, made when missing (mode 0600), and cuts a torn last line off. `cutBytes` of the result says
   * how much that was. Rejects with a TypeError when something else than a regular file is there.
   */
  static async open(disk: Disk, path: string): Promise<{ readonly file: LineFile; readonly cutBytes: number }> {
    const there = disk.stampSync(path);
    if (there && there.kind !== "file") throw new TypeError(`Cannot open ${path}: it is not a regular file`);
    const file = await disk.openAppend(path);
    try {
      const { bytes, owner } = file.stamp;
      if (!there) await ownLikeFolder(disk, path, { owner, folder: dirname(path) });
      const end = bytes === 0 ? 0 : await lastLineEnd(disk, path);
      if (end < bytes) await file.truncate(end);
      return { file: new LineFile(path, file, end), cutBytes: bytes - end };
    } catch (error) {
      file[Symbol.dispose]();
      throw error;
    }
  }

  /** The size of the file, with all that was appended and without what failed. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Says whether this file is still the one at its path, and not moved or replaced. */
  isAt(disk: Disk): boolean {
    const there = disk.stampSync(this.#path);
    return there?.inode === this.#stamp.inode && there.device === this.#stamp.device;
  }

  /**
   * Adds lines, given without their LF, in one write. Resolves when the system has them; `flush` makes them durable.
   *
   * Rejects with the disk's error, and then none of them is in the file; the next call first tries to cut off what the
   * failed write left, and rejects as long as that fails. Calls are done in the order they were made.
   *
   * @throws {TypeError} If a line holds an LF.
   */
  append(lines: readonly string[]): Promise<void> {
    if (lines.some((line) => line.includes("\n"))) {
      throw new TypeError(`Cannot append to ${this.#path}: a line holds a line feed`);
    }
    const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""));
    return this.#inTurn(async () => {
      await this.#mend();
      try {
        await this.#file.write(bytes);
      } catch (error) {
        this.#torn = true;
        await this.#mend().catch(() => {}); // tried again by the next append
        throw error;
      }
      this.#bytes += bytes.length;
    });
  }

  /** Resolves when all that was appended before survives a loss of power. */
  flush(): Promise<void> {
    return this.#inTurn(() => this.#file.flush());
  }

  /** Resolves when everything asked for before is done, whether it went well or not. */
  async settle(): Promise<void> {
    await this.#last;
  }

  /** Closes the file; what was not done by then rejects. `settle` first to lose nothing. */
  [Symbol.dispose](): void {
    this.#closed = true;
    this.#file[Symbol.dispose]();
  }

  async #mend(): Promise<void> {
    if (!this.#torn) return;
    await this.#file.truncate(this.#bytes);
    this.#torn = false;
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(() => {
      if (this.#closed) throw new TypeError(`Cannot write ${this.#path}: it was closed`);
      return work();
    });
    this.#last = done.catch(() => {});
    return done;
  }
}
