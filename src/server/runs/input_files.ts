import { join } from "node:path";
import { getLogger } from "@logtape/logtape";
import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { MessageJson, PartJson } from "@/protocol/task.ts";
import type { Random } from "@/random.ts";
import { writeAtomically } from "@/workspace/atomic_write.ts";
import { type Disk, isDiskFull } from "@/workspace/disk.ts";
import { cleanFileName, uniqueFileName } from "@/workspace/file_names.ts";
import { mediaTypeOf } from "@/workspace/media_types.ts";
import { sha256Hex } from "@/workspace/sha256.ts";
import type { WorkspacePaths } from "@/workspace/workspace_paths.ts";
import { makeInboxFolder, syncInboxFolder } from "./inbox_folder.ts";
import { type ReceivedFile, receivedFileKey } from "./prompt_parts.ts";

const logger = getLogger(["a2a", "server", "runs"]);

/**
 * The files that callers bring: `inbox/<caller>/<taskId>/<name>` (data-model.md 11).
 *
 * They are written before the message is accepted, so that what was accepted is never lost and a run that is queued again
 * finds them. A message that is then refused takes them away again.
 */
export class InputFiles {
  readonly #disk: Disk;
  readonly #random: Random;
  readonly #paths: WorkspacePaths;
  readonly #fileBytesMax: number;

  constructor(options: { disk: Disk; random: Random; paths: WorkspacePaths; fileBytesMax: number }) {
    this.#disk = options.disk;
    this.#random = options.random;
    this.#paths = options.paths;
    this.#fileBytesMax = options.fileBytesMax;
  }

  /**
   * Writes the bytes of a message into the inbox, durably, and returns the message with notes in their place. A file over
   * the limit is not kept and noted as such: its run fails, naming it.
   */
  async store(message: MessageJson, task: { id: TaskId; caller: CallerName }): Promise<StoredInput | "storage full"> {
    if (!message.parts.some(({ raw }) => typeof raw === "string")) return { message, paths: [] };
    const folder = this.#paths.inboxOf(task.caller, task.id);
    const isNew = this.#disk.linkStampSync(folder) === undefined;
    const paths: string[] = isNew ? [folder] : [];
    try {
      await makeInboxFolder(this.#disk, folder);
      const names = (await this.#disk.list(folder)).map(({ name }) => name);
      const parts: PartJson[] = [];
      for (const part of message.parts) {
        if (typeof part.raw !== "string") {
          parts.push(part);
          continue;
        }
        const bytes = Uint8Array.fromBase64(part.raw);
        const name = uniqueFileName(cleanFileName(part.filename ?? "file"), names);
        if (bytes.length <= this.#fileBytesMax) {
          await writeAtomically(this.#disk, join(folder, name), { bytes, random: this.#random, syncFolder: false });
          names.push(name);
          if (!isNew) paths.push(join(folder, name));
        }
        parts.push(this.#note(part, { bytes, path: join(folder, name) }));
      }
      await syncInboxFolder(this.#disk, folder, { isNew, root: this.#paths.root });
      return { message: { ...message, parts }, paths };
    } catch (error) {
      await this.remove(paths);
      if (isDiskFull(error)) return "storage full";
      throw error;
    }
  }

  /** A message that no run will work on, with notes in the place of its bytes, which are not kept. */
  withoutBytes(message: MessageJson): MessageJson {
    const parts = message.parts.map((part) => {
      if (typeof part.raw !== "string") return part;
      return this.#note(part, { bytes: Uint8Array.fromBase64(part.raw), path: undefined });
    });
    return { ...message, parts };
  }

  /** Takes away again what was made for a message that was refused. Best effort: the rest goes with the task's folder. */
  async remove(paths: readonly string[]): Promise<void> {
    for (const path of paths) await this.#disk.remove(path).catch(() => {});
  }

  /** Removes all that came with a task. Never rejects: what cannot be removed stays, with a warning. */
  async forget(task: { id: TaskId; caller: CallerName }): Promise<void> {
    const folder = this.#paths.inboxOf(task.caller, task.id);
    const kept = (error: unknown) => logger.warning("Cannot remove {folder}: {error}", { folder, error });
    await this.#disk.remove(folder).catch(kept);
  }

  /** `path` undefined: the bytes are not kept. */
  #note(part: PartJson, { bytes, path }: { bytes: Uint8Array; path: string | undefined }): PartJson {
    const { raw: _, ...rest } = part;
    const isKept = path !== undefined && bytes.length <= this.#fileBytesMax;
    const file: ReceivedFile = {
      bytes: bytes.length,
      ...(isKept && { sha256: sha256Hex(bytes), path: path.slice(this.#paths.root.length + 1) }),
    };
    const mediaType = part.mediaType ?? mediaTypeOf(part.filename ?? "");
    return { ...rest, mediaType, data: { [receivedFileKey]: file } };
  }
}

/** A message whose bytes are in the inbox, and the files that were written for it. */
export interface StoredInput {
  readonly message: MessageJson;
  /** What is to be removed again when the message is refused. */
  readonly paths: readonly string[];
}
