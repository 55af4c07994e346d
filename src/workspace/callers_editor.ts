import type { Clock } from "@/time/clock.ts";
import { isoTime, type TimeMs } from "@/time/clock.ts";
import { callersBytesMax, callersMax, readCaller } from "./callers_file.ts";
import { editEntries, type EditRefused, type EntryFile, refused } from "./entry_editor.ts";
import { fieldOf, isObject, type JsonObject } from "./json_entries.ts";
import { hashKey, readKeyHash } from "./key_hash.ts";
import { Secret } from "./secret.ts";

/** Where `callers.json` is edited. */
export type CallersEditing = Pick<EntryFile, "disk" | "random" | "path" | "lock"> & { readonly clock: Clock };

/** A new entry: its name and what else it is to say, in the words of the file (data-model.md 1), without keys. */
export type NewCaller = JsonObject & { readonly name: string };

/** The key is shown once and is in no file: only its hash and its last four characters are. */
export interface KeyMade {
  readonly kind: "made";
  readonly key: Secret;
}

/**
 * Adds a caller with a new key (`callers add NAME`). Refused: a name that is taken, also by a bad entry; a field that is
 * not as it must be; a malformed file.
 */
export async function addCaller(file: CallersEditing, caller: NewCaller): Promise<KeyMade | EditRefused> {
  const made = makeKey(file);
  return await edit(file, (entries) => {
    const entry = { ...caller, ...made.fields };
    const read = readCaller(entry);
    if ("why" in read) return refused(`Cannot add a caller: ${read.why}`);
    if (named(entries, read.name).length > 0) return nameTaken(read.name);
    return { entries: [...entries, entry], result: { kind: "made" as const, key: made.key } };
  });
}

/**
 * Lets a workspace of this host in (product.md §12). Refused: a name or workspace that is taken; a field that is not as it
 * must be; a malformed file.
 */
export async function addLocalCaller(
  file: CallersEditing,
  caller: NewCaller & { readonly workspace: string },
): Promise<{ readonly kind: "added" } | EditRefused> {
  return await edit(file, (entries) => {
    const read = readCaller(caller);
    if ("why" in read) return refused(`Cannot add a caller: ${read.why}`);
    if (named(entries, read.name).length > 0) return nameTaken(read.name);
    const isIn = entries.some((entry) => isObject(entry) && fieldOf(entry, "workspace") === caller.workspace);
    if (isIn) return refused(`Cannot add caller "${read.name}": the workspace has an entry`);
    return { entries: [...entries, caller], result: { kind: "added" as const } };
  });
}

/**
 * Gives a caller a new key (`callers rotate NAME`). The old one works for `overlapMs` more, 0 when absent: not at all. A
 * key from an earlier rotation ends now. All other fields stay.
 */
export async function rotateCaller(
  file: CallersEditing,
  name: string,
  { overlapMs = 0 }: { readonly overlapMs?: number } = {},
): Promise<KeyMade | EditRefused> {
  const made = makeKey(file);
  return await edit(file, (entries) => {
    const [entry, ...others] = named(entries, name);
    if (!entry) return noSuchCaller(`rotate the key of "${name}"`);
    if (others.length > 0) {
      return refused(`Cannot rotate the key of "${name}": several entries have the name; remove all but one`);
    }
    if (fieldOf(entry, "workspace") !== undefined) {
      return refused(
        `Cannot rotate the key of "${name}": it is a workspace of this host and has no key; nothing needs to be done`,
      );
    }
    const { key, keyHash: _, previousKeyHash: __, previousUntil: ___, ...rest } = entry;
    const old = typeof key === "string" ? hashKey(key) : readKeyHash(entry.keyHash);
    const previous = old && overlapMs > 0
      ? { previousKeyHash: old, previousUntil: isoTime(file.clock.now() + overlapMs as TimeMs) }
      : {};
    const next = { ...rest, ...made.fields, ...previous };
    const read = readCaller(next);
    if ("why" in read) return refused(`Cannot rotate the key of "${name}": ${read.why}`);
    return {
      entries: entries.map((other) => other === entry ? next : other),
      result: { kind: "made" as const, key: made.key },
    };
  });
}

/**
 * Removes a caller (`callers remove NAME`): all entries of the name, for with only the first of two gone the second, and
 * its key, would begin to count.
 */
export async function removeCaller(
  file: CallersEditing,
  name: string,
): Promise<{ readonly kind: "removed" } | EditRefused> {
  return await edit(file, (entries) => {
    const gone = new Set<unknown>(named(entries, name));
    if (gone.size === 0) return noSuchCaller(`remove "${name}"`);
    return { entries: entries.filter((entry) => !gone.has(entry)), result: { kind: "removed" as const } };
  });
}

function nameTaken(name: string): EditRefused {
  return refused(`Cannot add caller "${name}": the name is taken; choose another, or rotate the key of this one`);
}

function noSuchCaller(action: string): EditRefused {
  return refused(`Cannot ${action}: there is no such caller; \`callers list\` shows the names`);
}

/** The entries that have a name, good or bad. */
export function named(entries: readonly unknown[], name: string): readonly JsonObject[] {
  return entries.filter((entry) => isObject(entry) && fieldOf(entry, "name") === name) as readonly JsonObject[];
}

const keyBytes = 32;

function makeKey({ random }: CallersEditing) {
  const key = new Secret(`k_${random.hex(keyBytes)}`);
  return { key, fields: { keyHash: hashKey(key.reveal()), keyHint: key.hint() } };
}

function edit<T>(file: CallersEditing, change: Parameters<typeof editEntries<T>>[1]): Promise<T | EditRefused> {
  return editEntries({ ...file, entriesMax: callersMax, bytesMax: callersBytesMax }, change);
}
