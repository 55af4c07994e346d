import { join, relative, resolve } from "node:path";
import {
  areFolders,
  type Confinement,
  findPlace,
  isRefusal,
  orRefusal,
  picks,
  type Place,
  realRoot,
  type Refusal,
  refuse,
} from "./confined_path.ts";
import type { FolderEntry } from "./disk.ts";

/** What is in a folder of the root, without what is hidden. */
export interface Listed {
  readonly kind: "listed";
  /** From the root, with slashes, links followed; "" is the root. */
  readonly path: string;
  /** Files and folders, by name. A link counts as what it leads to; one that leads to nothing that may be seen is left out. */
  readonly entries: readonly ListedEntry[];
}

/** A name in a folder that may be seen. */
export interface ListedEntry {
  readonly name: string;
  readonly kind: "file" | "folder";
  readonly isLink: boolean;
}

/** How sure the names must be. */
export interface ListOptions {
  /** False: a swap may show other names. Only for what is opened by `openConfined` before anyone sees it. */
  readonly isProven?: boolean;
}

/**
 * Lists a folder that someone else named, as `openConfined` opens a file: names of what is hidden or outside never show, whoever
 * changes links meanwhile. Rejects only when the disk fails.
 */
export async function listConfined(
  within: Confinement,
  path: string,
  { isProven = true }: ListOptions = {},
): Promise<Listed | Refusal> {
  for (let tries = 1;; tries++) {
    const place = await folderPlace(within, path);
    if (isRefusal(place)) return place;
    if (!areFolders(within, place, place.names.length)) return refuse("it is no folder");
    const found = isProven ? await proven(within, place) : await listOnce(within, place);
    if (isRefusal(found)) return found;
    if (found !== "changed") {
      return { kind: "listed", path: place.names.join("/"), entries: await seen(within, place, found) };
    }
    if (tries === triesMax) return refuse("it changed while it was listed");
  }
}

const triesMax = 3;

async function folderPlace(within: Confinement, path: string): Promise<Place | Refusal> {
  if (path.length > 0 && relative(within.root, resolve(within.root, path)) !== "") {
    return await findPlace(within, path, "inside");
  }
  const root = await realRoot(within);
  return isRefusal(root) ? root : { root, names: [], path: root };
}

/**
 * The entries of a place, proven to be of the folder there.
 *
 * A folder cannot be listed by what is open, only by its path. So as with `leadsTo` chance decides what comes next: the list once
 * more, which must be the same, or a look at one name of the path, which must be a real folder. Who shows another folder at the
 * lists is caught by a look, who shows the right one there by another list. Where the caller cannot change anything on the way
 * there is nothing to swap, and one list will do.
 */
async function proven(within: Confinement, place: Place): Promise<readonly FolderEntry[] | Refusal | "changed"> {
  const first = await listOnce(within, place);
  if (isRefusal(first) || !isSwappable(within, place)) return first;
  const expected = namesOf(first);
  for (const pick of picks(within.random, place.names.length + 1)) {
    if (pick < place.names.length) {
      if (!isFolder(within, place, pick + 1)) return "changed";
      continue;
    }
    const again = await listOnce(within, place);
    if (isRefusal(again)) return again;
    if (namesOf(again) !== expected) return "changed";
  }
  return first;
}

async function listOnce({ disk }: Confinement, { path }: Place): Promise<readonly FolderEntry[] | Refusal> {
  return await orRefusal(disk.list(path));
}

function isSwappable({ mayChange }: Confinement, { names }: Place): boolean {
  return names.some((_, index) => mayChange?.(names.slice(0, index + 1).join("/")) ?? true);
}

/** Looks at one name alone: those above it get looks of their own. */
function isFolder(within: Confinement, place: Place, count: number): boolean {
  return areFolders(within, { ...place, names: [place.names.slice(0, count).join("/")] }, 1);
}

function namesOf(entries: readonly FolderEntry[]): string {
  return entries.map(({ name, kind }) => `${kind} ${name}`).sort().join("\0");
}

async function seen(within: Confinement, place: Place, found: readonly FolderEntry[]): Promise<readonly ListedEntry[]> {
  const entries: ListedEntry[] = [];
  for (const { name, kind } of [...found].sort((a, b) => a.name < b.name ? -1 : 1)) {
    const path = [...place.names, name].join("/");
    if (within.isHidden?.(path) || within.hidden.includes(join(place.root, path))) continue;
    const shown = kind === "link" ? await linkedKind(within, path) : kind;
    if (shown === "file" || shown === "folder") entries.push({ name, kind: shown, isLink: kind === "link" });
  }
  return entries;
}

async function linkedKind(within: Confinement, path: string) {
  const target = await findPlace(within, path, "inside");
  return isRefusal(target) ? undefined : within.disk.linkStampSync(target.path)?.kind;
}
