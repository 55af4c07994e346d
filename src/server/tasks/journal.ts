import { join } from "node:path";
import { getLogger } from "@logtape/logtape";
import type { Counters } from "@/counters.ts";
import type { TaskId } from "@/protocol/ids.ts";
import type { Clock } from "@/time/clock.ts";
import type { Disk, WritableFile } from "@/workspace/disk.ts";
import { StorageFull } from "./task_store.ts";

const logger = getLogger(["a2a", "server", "tasks"]);

const defaultJournalBytesMax = 16 * 1024 * 1024;
const defaultBacklogBytesMax = 64 * 1024 * 1024;
/** How long a commit waits for room when too much is not checkpointed. */
const roomMsMax = 30_000;

/** A journal that is closed: what it holds must be in task files before it is deleted. */
export interface ClosedJournal {
  readonly path: string;
  readonly ids: ReadonlySet<TaskId>;
  readonly bytes: number;
}

/**
 * The journal of a store: `journal-<n>.jsonl`, one line a change, with group commit (data-model.md 6).
 *
 * Lines that come while a flush is under way go out together: one write, one flush, then all their promises resolve. A
 * batch that cannot be written is cut off again and all its promises reject with `StorageFull`; the file is then left
 * behind and the next batch begins a new one, so a torn line is never in the middle.
 */
export class Journal implements AsyncDisposable {
  readonly #options: JournalOptions;
  #file: OpenJournal | undefined;
  #number: number;
  #goodBytes = 0;
  #ids = new Set<TaskId>();
  #closed: ClosedJournal[] = [];
  #pending: Pending[] = [];
  #flushing: Promise<void> | undefined;
  #closeAsked: PromiseWithResolvers<void> | undefined;
  #backlogBytes = 0;
  #room = Promise.withResolvers<void>();
  /** The last checkpoint failed: room comes only with the cure. */
  #isStuck = false;
  #disposed = false;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#number = options.lastNumber;
  }

  /**
   * Resolves when `line` (without a line end) is durable. `onDurable` runs in the very step in which it becomes so: nobody
   * can close and checkpoint the journal between that and what it does. It must not throw.
   *
   * While too much is not checkpointed it waits for room: 30 s at most, and not at all when the last checkpoint failed.
   *
   * @throws {StorageFull} When it is not durable, and never will be.
   */
  async append(taskId: TaskId, line: string, { onDurable }: { readonly onDurable: () => void }): Promise<void> {
    if (this.#isOverfull) await this.#roomLeft();
    if (this.#disposed) throw new StorageFull("Cannot store a task: the store is closed");
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const bytes = new TextEncoder().encode(line + "\n");
    this.#backlogBytes += bytes.length;
    this.#pending.push({ taskId, bytes, onDurable, resolve, reject });
    this.#flushing ??= this.#flushAll();
    return await promise;
  }

  /** Closes the running journal when it holds something, and returns all that are closed, oldest first. */
  async close(): Promise<readonly ClosedJournal[]> {
    if (this.#flushing === undefined) this.#closeFile();
    else await (this.#closeAsked ??= Promise.withResolvers<void>()).promise;
    return [...this.#closed];
  }

  /** Says that what `closed` holds is in task files: the journal goes. */
  async delete(closed: ClosedJournal): Promise<void> {
    await this.#options.disk.remove(closed.path);
    this.#closed = this.#closed.filter((other) => other !== closed);
    this.#free(closed.bytes);
  }

  /** Says how the last checkpoint went. After one that did not move all, nothing waits for room any more. */
  checkpointed(what: "all" | "not all"): void {
    this.#isStuck = what === "not all";
    if (this.#isStuck) this.#free(0);
  }

  get #isOverfull(): boolean {
    return this.#backlogBytes > (this.#options.backlogBytesMax ?? defaultBacklogBytesMax);
  }

  /** Throws StorageFull when no room came. */
  async #roomLeft(): Promise<void> {
    using deadline = this.#options.clock.deadline(roomMsMax);
    const { promise: tooLate, resolve } = Promise.withResolvers<void>();
    deadline.signal.addEventListener("abort", () => resolve());
    while (this.#isOverfull && !this.#disposed) {
      if (this.#isStuck || deadline.signal.aborted) {
        throw new StorageFull("Cannot store a task: too many changes wait to be written to task files");
      }
      await Promise.race([this.#room.promise, tooLate]);
    }
  }

  /** Bytes in the running journal. */
  get bytes(): number {
    return this.#goodBytes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    this.#room.resolve();
    while (this.#flushing !== undefined) await this.#flushing;
    this.#closeFile();
  }

  async #flushAll(): Promise<void> {
    while (this.#pending.length > 0) {
      const batch = this.#pending;
      this.#pending = [];
      const failure = await this.#tryFlush(batch);
      for (const pending of batch) settle(pending, failure);
      // Between two batches, or a journal under steady load would never be closed.
      if (this.#closeAsked !== undefined) this.#closeFile();
      this.#closeAsked?.resolve();
      this.#closeAsked = undefined;
    }
    this.#flushing = undefined;
  }

  async #tryFlush(batch: readonly Pending[]): Promise<StorageFull | undefined> {
    try {
      await this.#flush(batch);
      return undefined;
    } catch (error) {
      await this.#abandonFile();
      this.#free(joined(batch).length);
      return new StorageFull("Cannot store a task: the disk is full or refuses", { cause: error });
    }
  }

  async #flush(batch: readonly Pending[]): Promise<void> {
    const bytes = joined(batch);
    const { file } = this.#file ??= await this.#begin();
    await file.write(bytes);
    if (this.#options.durability === "disk") await file.flush();
    for (const { taskId } of batch) this.#ids.add(taskId);
    this.#goodBytes += bytes.length;
    this.#options.counters.add("journal.flushes");
    this.#options.counters.add("journal.bytes", bytes.length);
    if (this.#goodBytes >= (this.#options.journalBytesMax ?? defaultJournalBytesMax)) this.#closeFile();
  }

  /** The name must be as durable as the lines: the folder is synced before the first of them counts. */
  async #begin(): Promise<OpenJournal> {
    const { disk, folder, epoch, durability } = this.#options;
    const number = ++this.#number;
    const path = join(folder, journalName(number));
    const file = await disk.createNew(path);
    try {
      const header = new TextEncoder().encode(JSON.stringify({ v: 1, journal: number, epoch }) + "\n");
      await file.write(header);
      if (durability === "disk") await disk.syncFolder(folder);
      return { file, path, headerBytes: header.length };
    } catch (error) {
      file[Symbol.dispose]();
      await disk.remove(path).catch(() => {});
      throw error;
    }
  }

  /** What waits for room goes on, as far as there is some. */
  #free(bytes: number): void {
    this.#backlogBytes -= bytes;
    this.#room.resolve();
    this.#room = Promise.withResolvers();
  }

  #closeFile(): void {
    if (this.#file === undefined) return;
    this.#file.file[Symbol.dispose]();
    this.#closed.push({ path: this.#file.path, ids: this.#ids, bytes: this.#goodBytes });
    this.#file = undefined;
    this.#ids = new Set();
    this.#goodBytes = 0;
  }

  /**
   * What a failed batch left behind is cut off, so that it cannot count after a crash; the good lines stay. A file without
   * any goes, or a disk that stays full would collect one for every try.
   */
  async #abandonFile(): Promise<void> {
    if (this.#file === undefined) return;
    const { file, path, headerBytes } = this.#file;
    const isEmpty = this.#goodBytes === 0;
    try {
      await file.truncate(headerBytes + this.#goodBytes);
      if (this.#options.durability === "disk") await file.flush();
    } catch (error) {
      logger.error("Cannot cut a failed write off {path}: {error}", { path, error });
    }
    this.#closeFile();
    // One that does not go now goes with the next checkpoint.
    if (isEmpty) await this.delete(this.#closed.at(-1)!).catch(() => {});
  }
}

/** Where a journal lives and what its promises mean. */
export interface JournalOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly folder: string;
  readonly epoch: number;
  /** The number of the newest journal that was ever there. */
  readonly lastNumber: number;
  /** `disk`: flushed, survives a loss of power. `process`: survives `kill -9` only. */
  readonly durability: "disk" | "process";
  readonly counters: Counters;
  /** Bytes after which a journal is closed and the next one begun; 16 MiB when absent. */
  readonly journalBytesMax?: number;
  /** Bytes that are not checkpointed yet, those on their way included, after which commits wait; 64 MiB when absent. */
  readonly backlogBytesMax?: number;
}

interface OpenJournal {
  readonly file: WritableFile;
  readonly path: string;
  readonly headerBytes: number;
}

interface Pending {
  readonly taskId: TaskId;
  /** The line, with its end. */
  readonly bytes: Uint8Array;
  readonly onDurable: () => void;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

function joined(batch: readonly Pending[]): Uint8Array {
  const all = new Uint8Array(batch.reduce((sum, { bytes }) => sum + bytes.length, 0));
  let place = 0;
  for (const { bytes } of batch) {
    all.set(bytes, place);
    place += bytes.length;
  }
  return all;
}

/** Without a failure the line is durable. What `onDurable` throws is a bug of one commit, and told to that one only. */
function settle({ onDurable, resolve, reject }: Pending, failure: StorageFull | undefined): void {
  if (failure !== undefined) return reject(failure);
  try {
    onDurable();
    resolve();
  } catch (bug) {
    reject(bug);
  }
}

/** The name of journal `number`. */
export function journalName(number: number): string {
  return `journal-${number}.jsonl`;
}

/** The number of a journal by its name, and whether it was kept for its bad lines; undefined for another file. */
export function journalNumber(name: string): { readonly number: number; readonly isBad: boolean } | undefined {
  if (!name.startsWith("journal-")) return undefined; // nearly every name in the folder
  const [, digits, bad] = /^journal-(\d{1,15})\.jsonl(\.bad)?$/.exec(name) ?? [];
  return digits === undefined ? undefined : { number: Number(digits), isBad: bad !== undefined };
}
