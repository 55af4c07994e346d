import { join } from "node:path";
import type { TaskId } from "@/protocol/ids.ts";
import type { BlobRef } from "@/protocol/task.ts";
import type { Random } from "@/random.ts";
import { type Disk, isDiskFull } from "@/workspace/disk.ts";
import { type StreamedFile, writeStream } from "@/workspace/stream_write.ts";
import type { RecordFiles } from "./record_files.ts";
import type { TaskRecord } from "./task_record.ts";
import { StorageFull } from "./task_store.ts";

/** Bytes beside a task: `tasks/<taskId>.blobs/<sha256>` (data-model.md 5). */
export class BlobFiles {
  readonly #disk: Disk;
  readonly #random: Random;
  readonly #files: RecordFiles;
  readonly #sweeping = new Map<TaskId, Promise<void>>();
  /** Tasks with a blob that was put since the start: its record may be about to name it. Undefined when all is swept. */
  #fresh: Set<TaskId> | undefined = new Set();

  constructor(options: { disk: Disk; random: Random; files: RecordFiles }) {
    this.#disk = options.disk;
    this.#random = options.random;
    this.#files = options.files;
  }

  /**
   * Streams bytes to a temporary file, hashes them, and gives the file its name: durable when this resolves. Over
   * `bytesMax` nothing is left behind.
   *
   * @throws {StorageFull} When the disk has no room.
   */
  async put(taskId: TaskId, bytes: ReadableStream<Uint8Array>, bytesMax: number): Promise<BlobRef | "too large"> {
    const folder = this.#files.blobFolder(taskId);
    const temporary = join(folder, `${this.#random.hex(4)}.tmp`);
    this.#fresh?.add(taskId);
    await this.#sweeping.get(taskId); // it began before
    try {
      await this.#disk.makeFolder(folder);
      const pathOf = ({ sha256 }: StreamedFile) => join(folder, sha256);
      const written = await writeStream(this.#disk, temporary, { bytes, bytesMax, pathOf });
      if (written === "too large") return written;
      await this.#disk.syncFolder(folder);
      await this.#files.sync();
      return { blob: written.sha256, bytes: written.bytes };
    } catch (error) {
      if (isDiskFull(error)) throw new StorageFull("Cannot store a file: the disk is full", { cause: error });
      throw error;
    }
  }

  async open(taskId: TaskId, ref: BlobRef): Promise<ReadableStream<Uint8Array>> {
    if (!/^[0-9a-f]{64}$/.test(ref.blob)) throw new TypeError("Cannot open a blob: its name is no SHA-256");
    const file = await this.#disk.openRead(join(this.#files.blobFolder(taskId), ref.blob));
    return file.stream();
  }

  /**
   * Removes what `record` does not name: a crash between a blob and its commit leaves such. Nothing when one was put since
   * the start, or after `sweptAll`.
   */
  async sweep(taskId: TaskId, record: TaskRecord | undefined): Promise<void> {
    if (this.#fresh === undefined || this.#fresh.has(taskId)) return;
    const sweep = this.#sweep(taskId, record);
    this.#sweeping.set(taskId, sweep.catch(() => {}));
    try {
      await sweep;
    } finally {
      this.#sweeping.delete(taskId);
    }
  }

  /** Says that no sweep comes any more: which tasks got blobs is no longer remembered. */
  sweptAll(): void {
    this.#fresh = undefined;
  }

  async #sweep(taskId: TaskId, record: TaskRecord | undefined): Promise<void> {
    const folder = this.#files.blobFolder(taskId);
    if (record === undefined) return await this.#disk.remove(folder);
    const named = blobsOf(record);
    for (const { name } of await this.#disk.list(folder)) {
      if (!named.has(name)) await this.#disk.remove(join(folder, name));
    }
  }
}

function blobsOf({ task }: TaskRecord): ReadonlySet<string> {
  const parts = [...(task.artifacts ?? []), ...(task.history ?? [])].flatMap(({ parts }) => parts);
  return new Set(parts.flatMap(({ raw }) => typeof raw === "object" ? [raw.blob] : []));
}
