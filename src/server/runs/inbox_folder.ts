import { dirname } from "node:path";
import type { Disk } from "@/workspace/disk.ts";
import { makeOwnedFolder } from "@/workspace/owned_folder.ts";

/** Makes the folder of what came with one task, when it is not there, and those above it. Throws as `requireInboxFolder`. */
export async function makeInboxFolder(disk: Disk, folder: string): Promise<void> {
  await makeOwnedFolder(disk, folder);
  requireInboxFolder(disk, folder);
}

/**
 * What a caller's session may have put in the place of the folder is not followed: our writes would go where it leads.
 * Look again after each long wait.
 *
 * @throws {Error} When no folder stands there.
 */
export function requireInboxFolder(disk: Disk, folder: string): void {
  const found = disk.linkStampSync(folder)?.kind;
  if (found === "folder") return;
  throw new Error(`Cannot keep files in ${folder}: it is ${found === "link" ? "a link" : "no folder"}`);
}

/** Makes durable what was written into the folder. A new one is as durable as its name, and the caller's may be new too. */
export async function syncInboxFolder(
  disk: Disk,
  folder: string,
  { isNew, root }: { readonly isNew: boolean; readonly root: string },
): Promise<void> {
  await disk.syncFolder(folder);
  if (!isNew) return;
  for (let at = folder; at !== root;) await disk.syncFolder(at = dirname(at));
}

/** Removes files from the folder, and not through a link in its place; then the folder, when `isNew` and nothing is left. */
export async function removeFromInbox(
  disk: Disk,
  folder: string,
  { paths, isNew }: { readonly paths: readonly string[]; readonly isNew: boolean },
): Promise<void> {
  for (const path of paths) {
    requireInboxFolder(disk, folder);
    await disk.remove(path);
  }
  if (isNew && (await disk.list(folder)).length === 0) await disk.remove(folder);
}
