import { dirname } from "node:path";
import type { Random } from "@/random.ts";
import { writeAtomically } from "./atomic_write.ts";
import type { FileContent } from "./cached_file.ts";
import { type Disk, isMissing } from "./disk.ts";
import { withLock } from "./file_lock.ts";
import { readEntries } from "./json_entries.ts";
import { makeOwnedFolder } from "./owned_folder.ts";

/** Where and how an array of entries is edited. */
export interface EntryFile {
  readonly disk: Disk;
  readonly random: Random;
  /** `callers.json` or `agents.json`. */
  readonly path: string;
  /** `edit.lock`. */
  readonly lock: string;
  readonly entriesMax: number;
  readonly bytesMax: number;
}

/** The edit was not made, and the file is as it was. `why` is a whole sentence for a person. */
export interface EditRefused {
  readonly kind: "refused";
  readonly why: string;
}

/** What an edit makes of the entries: the new ones and a result to give back, or a refusal. */
export type Edit<T> = (
  entries: readonly unknown[],
) => { readonly entries: readonly unknown[]; readonly result: T } | EditRefused;

/**
 * Changes a file of entries that a person edits too: read, change, write under `edit.lock`, with Write A, as JSON with two
 * spaces (data-model.md 0). Entries that `edit` passes on, and their unknown fields, stay as they are.
 *
 * A malformed file is never written over: that is a refusal. Rejects only with the disk's errors; then the file is as it was.
 */
export async function editEntries<T>(file: EntryFile, edit: Edit<T>): Promise<T | EditRefused> {
  const { disk, path } = file;
  await makeOwnedFolder(disk, dirname(file.lock));
  const done = await withLock({ disk, path: file.lock }, async () => {
    const read = readEntries(await readContent(disk, path, file.bytesMax), file.entriesMax);
    if (read.kind === "malformed") return refused(`Cannot change ${path}: ${read.why}; repair the file first`);
    const edited = edit(read.kind === "none" ? [] : read.entries);
    if ("kind" in edited) return edited;
    const bytes = new TextEncoder().encode(`${JSON.stringify(edited.entries, null, 2)}\n`);
    if (edited.entries.length > file.entriesMax || bytes.length > file.bytesMax) {
      return refused(`Cannot change ${path}: it may hold ${file.entriesMax} entries and ${file.bytesMax} bytes`);
    }
    await writeAtomically(disk, await linkTarget(disk, path), { bytes, random: file.random });
    return { kind: "done" as const, result: edited.result };
  });
  if (done.kind === "busy") return refused(`Cannot change ${path}: another command is changing it; try again`);
  return done.kind === "refused" ? done : done.result;
}

/** Makes a refusal. */
export function refused(why: string): EditRefused {
  return { kind: "refused", why };
}

/** Reads what is at a path now, without ever waiting for it. Rejects with the disk's errors. */
export async function readContent(disk: Disk, path: string, bytesMax: number): Promise<FileContent> {
  try {
    using file = await disk.openRead(path);
    if (file.stamp.kind !== "file") return { kind: "unusable", why: "it is not a regular file" };
    if (file.stamp.bytes > bytesMax) return { kind: "unusable", why: `it is larger than ${bytesMax} bytes` };
    return { kind: "bytes", bytes: await file.read() };
  } catch (error) {
    if (isMissing(error)) return { kind: "missing" };
    throw error;
  }
}

/** The owner may keep the file elsewhere and have a link here: then the file is replaced, not the link. */
async function linkTarget(disk: Disk, path: string): Promise<string> {
  return disk.linkStampSync(path)?.kind === "link" ? await disk.realPath(path) : path;
}
