import { getLogger } from "@logtape/logtape";
import type { TaskId } from "@/protocol/ids.ts";
import { eachAtOnce } from "@/time/each_at_once.ts";
import type { FolderEntry } from "@/workspace/disk.ts";
import type { BlobFiles } from "./blob_files.ts";
import { namedTasks, type RecordFiles } from "./record_files.ts";
import type { TaskIndex } from "./task_index.ts";
import type { TaskRecord } from "./task_record.ts";

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
 * Puts the task files of a folder into the index, and sweeps blobs that no record names. One that cannot be read is left
 * alone, counted, and stops no other. Says whether it saw all: not when it was aborted. Never throws.
 */
export async function scanTaskFiles(scan: IndexScan): Promise<boolean> {
  const { index, files, blobs, isKnown, signal } = scan;
  const named = namedTasks(scan.entries);
  const withBlobs = new Set(named.blobs);
  let unreadable = 0;
  const look = async (id: TaskId) => {
    if (isKnown(id) || signal.aborted) return;
    const stored = await files.read(id).catch(() => undefined);
    if (isKnown(id)) return; // it changed while its file was read
    const hasBlobs = withBlobs.delete(id); // of an unreadable one they are left alone too
    if (stored === undefined || !isIndexed(index, stored.record)) unreadable++;
    else if (hasBlobs) await sweepOne(blobs, id, stored.record);
  };
  await eachAtOnce(named.records, filesReadAtOnce, look);
  for (const id of withBlobs) if (!signal.aborted && !isKnown(id)) await sweepOne(blobs, id, undefined);
  if (unreadable > 0) logger.warning("{unreadable} task files cannot be read and are left alone", { unreadable });
  return !signal.aborted;
}

/** A record that cannot be put in is one we did not write: as if it could not be read. */
function isIndexed(index: TaskIndex, record: TaskRecord): boolean {
  try {
    index.put(record);
    return true;
  } catch (error) {
    logger.warning("Cannot index task {id}: {error}", { id: record.task.id, error });
    return false;
  }
}

/** Sweeps the blobs of tasks that are known already, before anything can be at work on them. Never throws. */
export async function sweepBlobs(sweep: {
  readonly entries: readonly FolderEntry[];
  readonly records: readonly TaskRecord[];
  readonly blobs: BlobFiles;
}): Promise<void> {
  if (sweep.records.length === 0) return;
  const withBlobs = new Set(namedTasks(sweep.entries).blobs);
  for (const record of sweep.records) {
    if (withBlobs.has(record.task.id)) await sweepOne(sweep.blobs, record.task.id, record);
  }
}

async function sweepOne(blobs: BlobFiles, id: TaskId, record: TaskRecord | undefined): Promise<void> {
  await blobs.sweep(id, record).catch((error) => logger.warning("Cannot sweep blobs of {id}: {error}", { id, error }));
}
