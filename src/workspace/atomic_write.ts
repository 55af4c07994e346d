import { basename, dirname } from "node:path";
import type { Random } from "@/random.ts";
import type { Disk, FolderEntry } from "./disk.ts";
import { ownLikeFolder } from "./owned_folder.ts";

/** The content, once, and how it is written. */
export type AtomicWrite =
  & ({ readonly bytes: Uint8Array } | { readonly text: string })
  & {
    readonly random: Random;
    /** False: the caller makes the name durable itself, with `Disk.syncFolder`. */
    readonly syncFolder?: boolean;
  };

/**
 * Writes a file so that after a crash at any point it holds the old or the new content, never a part: Write A of
 * data-model.md 0. The folder must be there; only its own processes may write in it (else `confined_files.ts`).
 *
 * The file is new, has mode 0600 and, when root writes into another user's folder, that user. Resolves when content and
 * name are durable. Rejects with the disk's error: then the old content stands, except that after a failure of the last
 * step, the sync of the folder, the new one may; the temporary file is removed as far as that is possible.
 */
export async function writeAtomically(disk: Disk, path: string, write: AtomicWrite): Promise<void> {
  const folder = dirname(path);
  const temporary = temporaryPath(path, write.random);
  const bytes = "bytes" in write ? write.bytes : new TextEncoder().encode(write.text);
  using file = await disk.createNew(temporary);
  try {
    await file.write(bytes);
    await ownLikeFolder(disk, temporary, { owner: file.stamp.owner, folder });
    await file.flush();
    file[Symbol.dispose](); // Windows renames no open file
    await disk.rename(temporary, path);
  } catch (error) {
    file[Symbol.dispose]();
    await disk.remove(temporary).catch(() => {}); // the first error says more; what is left is swept at the next start
    throw error;
  }
  if (write.syncFolder !== false) await disk.syncFolder(folder);
}

/**
 * Removes the temporary files that crashes left in a folder, and says how many. Only for the holder of `host.lock`, at
 * its start: another process may be writing. What is not a regular file stays. `of`: only those of the files so named.
 * `listing`: what `Disk.list` says of the folder, when it was asked already.
 */
export async function sweepTemporary(
  disk: Disk,
  folder: string,
  { of, listing }: { readonly of?: readonly string[]; readonly listing?: readonly FolderEntry[] } = {},
): Promise<number> {
  let removed = 0;
  for (const { name, kind } of listing ?? await disk.list(folder)) {
    if (kind !== "file" || !isTemporaryName(name, of)) continue;
    await disk.remove(`${folder}/${name}`);
    removed++;
  }
  return removed;
}

/** Returns a new name for what is to be the file at `path`: one that `isTemporaryName` knows. */
export function temporaryPath(path: string, random: Random): string {
  return `${path}.${random.hex(4)}.tmp`;
}

/** Says whether a file of this name is the temporary file of a write, to one of the files `of`: `<name>.<8 hex>.tmp`. */
export function isTemporaryName(name: string, of?: readonly string[]): boolean {
  const [, target] = /^(.+)\.[0-9a-f]{8}\.tmp$/.exec(basename(name)) ?? [];
  return target !== undefined && (of?.includes(target) ?? true);
}
