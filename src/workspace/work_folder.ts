import type { CallerName } from "@/protocol/ids.ts";
import type { Disk } from "./disk.ts";
import type { WorkspacePaths } from "./workspace_paths.ts";

/**
 * Removes what a caller's sessions made: `work/<caller>/` (data-model.md 11: with the caller's last task). Nothing to
 * remove is fine. Links in it are removed and not followed.
 *
 * Only when none of the caller's tasks is stored and none of its sessions is open: a box may be at work in the folder.
 * Rejects with the disk's error.
 */
export async function removeWork(disk: Disk, paths: WorkspacePaths, caller: CallerName): Promise<void> {
  await disk.remove(paths.workOf(caller));
}
