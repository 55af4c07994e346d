import type { TaskId } from "@/protocol/ids.ts";
import { RecordCache } from "./record_cache.ts";
import type { RecordFiles, StoredRecord } from "./record_files.ts";
import { recordText } from "./record_json.ts";
import type { TaskRecord } from "./task_record.ts";

const cacheBytesMax = 64 * 1024 * 1024;

/**
 * The newest durable record of each task: in memory while it runs or while its file is older, else in its file, cached.
 *
 * What is durable is said by `durable` and `forget`; this class only keeps and moves it.
 */
export class StoredRecords {
  readonly #files: RecordFiles;
  readonly #pinned = new Map<TaskId, Pinned>();
  readonly #removed = new Set<TaskId>();
  readonly #cache = new RecordCache(cacheBytesMax);
  readonly #reads = new Map<TaskId, Promise<StoredRecord | undefined>>();

  constructor(files: RecordFiles) {
    this.#files = files;
  }

  /** The record, when it is in memory. */
  peek(id: TaskId): TaskRecord | undefined {
    return this.#pinned.get(id)?.record ?? this.#cache.get(id);
  }

  /** The record, from memory or its file; undefined when there is none that can be read. */
  async get(id: TaskId): Promise<TaskRecord | undefined> {
    const inMemory = this.peek(id);
    if (inMemory !== undefined || this.#removed.has(id)) return inMemory;
    let read = this.#reads.get(id);
    if (read === undefined) this.#reads.set(id, read = this.#files.read(id));
    try {
      const stored = await read;
      // Another reader was first, or the task changed while its old file was read.
      if (this.#reads.get(id) !== read) return await this.get(id);
      if (stored !== undefined) this.#cache.put(stored.record, stored.bytes);
      return stored?.record;
    } finally {
      if (this.#reads.get(id) === read) this.#reads.delete(id);
    }
  }

  /** `record` is durable now: in the journal, or in its own file. `chars`: its length as JSON. */
  durable(record: TaskRecord, how: { readonly in: "journal" | "file"; readonly chars: number }): void {
    const { id } = record.task;
    this.#cache.delete(id);
    this.#reads.delete(id);
    const savedRev = how.in === "file" ? record.rev : this.#pinned.get(id)?.savedRev ?? 0;
    this.#keep({ record, savedRev, chars: how.chars });
  }

  /** The removal of a task is durable in the journal; its files go with the next `save`. */
  forget(id: TaskId): void {
    this.#pinned.delete(id);
    this.#cache.delete(id);
    this.#reads.delete(id);
    this.#removed.add(id);
  }

  /** Says whether a task was removed whose files are still there. */
  isForgotten(id: TaskId): boolean {
    return this.#removed.has(id);
  }

  /** Brings the file of a task up to its newest record. */
  async save(id: TaskId): Promise<void> {
    if (this.#removed.has(id)) {
      await this.#files.remove(id);
      this.#removed.delete(id);
      return;
    }
    const pinned = this.#pinned.get(id);
    if (pinned === undefined || pinned.savedRev >= pinned.record.rev) return;
    await this.#files.write(pinned.record, recordText(pinned.record));
    const now = this.#pinned.get(id);
    if (now !== undefined) this.#keep({ ...now, savedRev: Math.max(now.savedRev, pinned.record.rev) });
  }

  #keep(pinned: Pinned): void {
    const { record, savedRev, chars } = pinned;
    if (record.run !== null || savedRev < record.rev) {
      this.#pinned.set(record.task.id, pinned);
      return;
    }
    this.#pinned.delete(record.task.id);
    this.#cache.put(record, chars);
  }
}

interface Pinned {
  readonly record: TaskRecord;
  /** The revision that the task's file has; 0 when it has none. */
  readonly savedRev: number;
  readonly chars: number;
}
