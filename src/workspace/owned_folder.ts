import { dirname } from "node:path";
import type { Disk } from "./disk.ts";

/**
 * Makes a folder and those above it (mode 0700), each with the owner of the folder it is in when root makes it: else
 * `sudo volcanic-a2a callers add` locks the service out (data-model.md 0).
 */
export async function makeOwnedFolder(disk: Disk, path: string): Promise<void> {
  const missing: string[] = [];
  for (let at = path; disk.stampSync(at) === undefined; at = dirname(at)) {
    missing.push(at);
    if (dirname(at) === at) break;
  }
  for (const folder of missing.reverse()) {
    await disk.makeFolder(folder);
    await ownLikeFolder(disk, folder, { folder: dirname(folder) });
  }
  await disk.makeFolder(path); // says so when a file is in the way
}

/**
 * Gives what root just made at `path` to the owner and group of its folder. `owner` is who owns it now, when known.
 * Nothing happens for other users: what they make is theirs.
 */
export async function ownLikeFolder(
  disk: Disk,
  path: string,
  { owner, folder }: { readonly owner?: number; readonly folder: string },
): Promise<void> {
  if ((owner ?? disk.linkStampSync(path)?.owner) !== 0) return;
  const around = disk.stampSync(folder);
  if (around && around.owner !== 0) await disk.own(path, around.owner, around.group);
}
