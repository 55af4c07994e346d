import type { TaskId } from "@/protocol/ids.ts";
import type { TaskRecord } from "./task_record.ts";

/** Records that are in their files, kept in memory up to a size; the longest unused goes first. */
export class RecordCache {
  readonly #bytesMax: number;
  readonly #records = new Map<TaskId, { readonly record: TaskRecord; readonly bytes: number }>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(id: TaskId): TaskRecord | undefined {
    const found = this.#records.get(id);
    if (found === undefined) return undefined;
    this.#records.delete(id);
    this.#records.set(id, found);
    return found.record;
  }

  /** `bytes`: the length of the record as JSON, which stands for its size in memory. */
  put(record: TaskRecord, bytes: number): void {
    this.delete(record.task.id);
    this.#records.set(record.task.id, { record, bytes });
    this.#bytes += bytes;
    for (const id of this.#records.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.delete(id);
    }
  }

  delete(id: TaskId): void {
    this.#bytes -= this.#records.get(id)?.bytes ?? 0;
    this.#records.delete(id);
  }
}
