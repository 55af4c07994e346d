import { join } from "node:path";
import { getLogger } from "@logtape/logtape";
import { isTaskId, type TaskId } from "@/protocol/ids.ts";
import type { Random } from "@/random.ts";
import { writeAtomically } from "@/workspace/atomic_write.ts";
import { type Disk, type FolderEntry, isMissing } from "@/workspace/disk.ts";
import { parseRecord, recordText } from "./record_json.ts";
import type { TaskRecord } from "./task_record.ts";

const logger = getLogger(["a2a", "server", "tasks"]);

/** A record as read from its file, with the file's size. */
export interface StoredRecord {
  readonly record: TaskRecord;
  readonly bytes: number;
}

/**
 * The task files: `tasks/<taskId>.json` and, beside it, `<taskId>.blobs/` (data-model.md 5).
 *
 * A file that does not parse, or is of a newer format, is as if absent, and is never written over. What is in the place of
 * a file and is none, a folder or a link, is put aside when the task is written.
 */
export class RecordFiles {
  readonly #disk: Disk;
  readonly #random: Random;
  readonly #folder: string;
  readonly #lanes = new Map<TaskId, Lane>();
  readonly #unsure = new Set<TaskId>();

  constructor(options: { disk: Disk; random: Random; folder: string }) {
    this.#disk = options.disk;
    this.#random = options.random;
    this.#folder = options.folder;
  }

  /** Reads a record; undefined when there is none that can be read. Waits for those who write it. */
  async read(id: TaskId): Promise<StoredRecord | undefined> {
    await this.#lanes.get(id)?.last; // what is being written may still be undone
    try {
      using file = await this.#disk.openRead(this.path(id));
      if (file.stamp.kind !== "file") return undefined;
      const bytes = await file.read();
      const record = parseRecord(new TextDecoder().decode(bytes));
      return record?.task.id === id ? { record, bytes: bytes.length } : undefined;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Writes a record, unless a newer one was written: writers of one task take turns. The name is durable after `sync`. */
  async write(record: TaskRecord, text: string): Promise<void> {
    await this.#inLane(record.task.id, async (lane) => {
      if (lane.rev >= record.rev) return;
      await this.#replace(record.task.id, text);
      lane.rev = record.rev;
    });
  }

  /**
   * Writes a record durably, name included. `onDurable` runs in the very step in which it becomes so, while other writers
   * of the task still wait: none of them can put an older record over it. It must not throw.
   *
   * Rejects with the disk's error; then `before`, the record that still stands, is put back.
   */
  async commit(record: TaskRecord, text: string, options: FileCommit): Promise<void> {
    const { id } = record.task;
    await this.#inLane(id, async (lane) => {
      await this.#replace(id, text);
      try {
        await this.sync();
      } catch (error) {
        await this.#putBack(id, options.before);
        throw error;
      }
      lane.rev = record.rev;
      this.#unsure.delete(id);
      options.onDurable();
    });
  }

  /**
   * Says whether a refused record is still in the task's file, since the one before could not be put back. The next commit
   * must then be written over it: in the journal, with the same revision, it would lose against the file after a crash.
   */
  isUnsure(id: TaskId): boolean {
    return this.#unsure.has(id);
  }

  /** Gives what is at the path of a task another name, `….bad` or one like it, so that it is kept when the task is written. */
  async putAside(id: TaskId): Promise<void> {
    const path = this.path(id);
    if (this.#disk.linkStampSync(path) === undefined) return;
    const isTaken = this.#disk.linkStampSync(`${path}.bad`) !== undefined;
    const aside = isTaken ? `${path}.${this.#random.hex(4)}.bad` : `${path}.bad`;
    await this.#disk.rename(path, aside);
    logger.warning("Put what was at the path of task {id} aside as {aside}", { id, aside });
  }

  /** Removes the file and the blobs of a task. */
  async remove(id: TaskId): Promise<void> {
    await this.#disk.remove(this.path(id));
    await this.#disk.remove(this.blobFolder(id));
  }

  async sync(): Promise<void> {
    await this.#disk.syncFolder(this.#folder);
  }

  async #replace(id: TaskId, text: string): Promise<void> {
    const there = this.#disk.linkStampSync(this.path(id));
    if (there !== undefined && there.kind !== "file") await this.putAside(id);
    await writeAtomically(this.#disk, this.path(id), { text, random: this.#random, syncFolder: false });
  }

  async #putBack(id: TaskId, before: TaskRecord | undefined): Promise<void> {
    try {
      if (before === undefined) await this.#disk.remove(this.path(id));
      else await this.#replace(id, recordText(before));
      this.#unsure.delete(id);
    } catch (error) {
      this.#unsure.add(id);
      logger.error("Cannot put back the file of task {id}: {error}", { id, error });
    }
  }

  async #inLane(id: TaskId, work: (lane: Lane) => Promise<void>): Promise<void> {
    let lane = this.#lanes.get(id);
    if (lane === undefined) this.#lanes.set(id, lane = { writers: 0, rev: 0, last: Promise.resolve() });
    lane.writers++;
    const before = lane.last;
    const { promise, resolve } = Promise.withResolvers<void>();
    lane.last = promise;
    try {
      await before;
      await work(lane);
    } finally {
      resolve();
      if (--lane.writers === 0) this.#lanes.delete(id);
    }
  }

  path(id: TaskId): string {
    return join(this.#folder, `${id}.json`);
  }

  blobFolder(id: TaskId): string {
    return join(this.#folder, `${id}.blobs`);
  }
}

/** What a commit straight to a file needs besides its record. */
export interface FileCommit {
  /** The record that stands until then; undefined for a new task. */
  readonly before: TaskRecord | undefined;
  readonly onDurable: () => void;
}

/** Those who write one task's file, and the newest revision that one of them wrote. */
interface Lane {
  writers: number;
  rev: number;
  last: Promise<void>;
}

/** The tasks and the blob folders that a listing of the folder names. */
export function namedTasks(entries: readonly FolderEntry[]): { records: TaskId[]; blobs: TaskId[] } {
  const records: TaskId[] = [];
  const blobs: TaskId[] = [];
  for (const { name, kind } of entries) {
    const id = name.slice(0, 36);
    if (!isTaskId(id)) continue;
    if (kind === "file" && name.length === 41 && name.endsWith(".json")) records.push(id);
    if (kind === "folder" && name.length === 42 && name.endsWith(".blobs")) blobs.push(id);
  }
  return { records, blobs };
}
