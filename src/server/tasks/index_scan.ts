import { getLogger } from "@logtape/logtape";
import type { TaskId } from "@/protocol/ids.ts";
import { eachAtOnce } from "@/time/each_at_once.ts";
import type { FolderEntry } from "@/workspace/disk.ts";
import type { BlobFiles } from "./blob_files.ts";
import { namedTasks, type RecordFiles } from "./record_files.ts";
import type { TaskIndex } from "./task_index.ts";

const logger = getLogger(["a2a", "server", "tasks"]);
const filesReadAtOnce = 32;

/** What a scan looks through, and what it fills. */
export interface IndexScan {
  readonly entries: readonly FolderEntry[];
  /** Tasks that are known already or removed: their files say nothing new. */
  readonly isKnown: (id: TaskId) => boolean;
  readonly index: TaskIndex;
  readonly files: RecordFiles;
  readonly blobs: BlobFiles;
  readonly signal: AbortSignal;
}

/**
 * Puts the task files of a folder into the index, and sweeps blobs that no record names. Says whether it saw all of them:
 * not when it was aborted, or when the folder could not be read. Never throws.
 */
export async function scanTaskFiles(scan: IndexScan): Promise<boolean> {
  const { index, files, blobs, isKnown, signal } = scan;
  const named = namedTasks(scan.entries);
  const withBlobs = new Set(named.blobs);
  let unreadable = 0;
  const look = async (id: TaskId) => {
    if (isKnown(id) || signal.aborted) return;
    const stored = await files.read(id);
    if (isKnown(id)) return; // it changed while its file was read
    if (stored === undefined) unreadable++;
    else index.put(stored.record);
    // A file that cannot be read is left alone, and so is all that belongs to it.
    if (withBlobs.delete(id) && stored?.record.run === null) await blobs.sweep(id, stored.record);
  };
  try {
    await eachAtOnce(named.records, filesReadAtOnce, look);
    for (const id of withBlobs) if (!signal.aborted && !isKnown(id)) await blobs.sweep(id, undefined);
  } catch (error) {
    logger.error("Cannot read all tasks: {error}", { error });
    return false;
  }
  if (unreadable > 0) logger.warning("{unreadable} task files cannot be read and are left alone", { unreadable });
  return !signal.aborted;
}
