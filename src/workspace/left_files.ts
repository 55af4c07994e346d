import { join } from "node:path";
import { getLogger } from "@logtape/logtape";
import { isCallerName, isTaskId, type TaskId } from "@/protocol/ids.ts";
import { eachAtOnce } from "@/time/each_at_once.ts";
import { isTemporaryName, sweepTemporary } from "./atomic_write.ts";
import type { Disk } from "./disk.ts";
import { withLock } from "./file_lock.ts";
import type { WorkspacePaths } from "./workspace_paths.ts";

const logger = getLogger(["a2a", "workspace"]);

const foldersAtOnce = 32;

/**
 * Removes what crashes left beside our files and in the inbox: temporary files of ours, and files that came with a message
 * whose task was never stored (data-model.md 0 and 11, state-machines.md 8).
 *
 * Only for the holder of `host.lock`, when the journals are in task files and before a message is taken: a received file
 * belongs to nobody when its task has no file. Files that others change are swept under their own lock, at the next start
 * when that is taken. Never throws: what cannot be removed is warned of.
 */
export async function sweepLeftFiles(disk: Disk, paths: WorkspacePaths): Promise<void> {
  const sweeps = [
    sweepWritten(disk, paths, { of: ["host.json", "control.token"] }),
    sweepWritten(disk, paths, { of: ["callers.json", "agents.json", "webhook.secret"], lock: paths.editLock }),
    sweepWritten(disk, paths, { of: ["pending.json"], lock: paths.pendingLock }),
    sweepInbox(disk, paths),
  ];
  for (const { reason } of (await Promise.allSettled(sweeps)).filter((swept) => swept.status === "rejected")) {
    logger.warning("Cannot remove what a crash left: {error}", { error: reason });
  }
}

/** `lock`: the one under which the files are written. It is taken, and so made, only when there is something to remove. */
async function sweepWritten(
  disk: Disk,
  { a2a }: WorkspacePaths,
  { of, lock }: { readonly of: readonly string[]; readonly lock?: string },
): Promise<void> {
  if (!(await disk.list(a2a)).some(({ name }) => isTemporaryName(name, of))) return;
  const sweep = () => sweepTemporary(disk, a2a, { of });
  if (lock === undefined) await sweep();
  else await withLock({ disk, path: lock, waitMs: 0 }, sweep);
}

async function sweepInbox(disk: Disk, { inbox, tasks }: WorkspacePaths): Promise<void> {
  const folders: { readonly path: string; readonly taskId: TaskId }[] = [];
  for (const { name: caller, kind } of await disk.list(inbox)) {
    if (kind !== "folder" || caller === "a2a" || !isCallerName(caller)) continue; // `a2a`: what agents sent us
    for (const { name, kind } of await disk.list(join(inbox, caller))) {
      if (kind === "folder" && isTaskId(name)) folders.push({ path: join(inbox, caller, name), taskId: name });
    }
  }
  await eachAtOnce(folders, foldersAtOnce, async ({ path, taskId }) => {
    if (disk.linkStampSync(join(tasks, `${taskId}.json`)) === undefined) return await disk.remove(path);
    for (const { name, kind } of await disk.list(path)) {
      if (kind === "file" && isTemporaryName(name)) await disk.remove(join(path, name));
    }
  });
}
