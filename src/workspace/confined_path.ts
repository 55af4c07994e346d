import { isAbsolute, join, relative, resolve, sep } from "node:path";
import type { Random } from "@/random.ts";
import { type Disk, type FileStamp, isMissing, isPathTrouble } from "./disk.ts";

/** What paths from outside may lead to. */
export interface Confinement {
  readonly disk: Disk;
  readonly random: Random;
  /** The folder that everything must be in. It and the folders above it are not for strangers to change. */
  readonly root: string;
  /** Files and folders that are hidden, with all that is in them: known by device and inode as well as by path. */
  readonly hidden: readonly string[];
  /** Hides more, by the path from the root, with slashes, links followed. */
  readonly isHidden?: (path: string) => boolean;
  /** What may be made and written, by the same; absent: all that is not hidden. */
  readonly mayChange?: (path: string) => boolean;
}

/** What was asked for is not to be had. `why` ends a sentence, and says nothing of what lies outside. */
export interface Refusal {
  readonly kind: "refused";
  readonly why: string;
}

/** A place in the root as it was when looked at: real folders from the root down, no link among them. */
export interface Place {
  /** The root with its links followed. */
  readonly root: string;
  /** The names from the root down; the last is the file's. */
  readonly names: readonly string[];
  readonly path: string;
}

/** Makes a refusal. */
export function refuse(why: string): Refusal {
  return { kind: "refused", why };
}

/** Says whether the outcome of an operation is a refusal. */
export function isRefusal(value: unknown): value is Refusal {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "refused";
}

/** What is not there, what is hidden, and what a link leads out to, in the same words: else links would tell what exists. */
export const unseen = "there is no such file, or it is hidden";

/** The result of an operation, or why a path is not one for it. Trouble of the disk itself goes on. */
export async function orRefusal<T>(work: Promise<T>): Promise<T | Refusal> {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return refuse(unseen);
    if (isPathTrouble(error)) return refuse("it cannot be opened");
    throw error;
  }
}

/** The folder that everything must be in, with its links followed. */
export async function realRoot({ disk, root }: Confinement): Promise<string | Refusal> {
  return await orRefusal(disk.realPath(root));
}

/**
 * Where a path from outside leads now. Links are followed as long as they stay in the root; with `none` the place is where the
 * words say, and a link on the way shows when the place is proven.
 */
export async function findPlace(within: Confinement, path: string, links: "inside" | "none"): Promise<Place | Refusal> {
  const root = await realRoot(within);
  if (isRefusal(root)) return root;
  const asked = placeOf(within.root, path);
  if ("kind" in asked) return asked;
  const real = links === "none"
    ? asked.names.join("/")
    : await orRefusal(within.disk.realPath(join(root, ...asked.names)));
  const place = isRefusal(real) ? real : realPlace(within, root, real);
  return "kind" in place ? refuse(unseen) : place;
}

/**
 * Takes a path from outside apart: relative to the root, or absolute and in it. Only a first look at the words: nothing
 * is said about where they lead.
 */
export function placeOf(root: string, path: string): Place | Refusal {
  if (path.length === 0 || path.length > charsMax || path.includes("\0")) return refuse("it is no path");
  const inside = relative(root, resolve(root, path));
  if (inside === "") return refuse("it is a folder");
  if (isOutside(inside)) return refuse("it is outside");
  const names = inside.split(sep);
  return names.length > namesMax ? refuse("it is no path") : { root, names, path: join(root, inside) };
}

/** The same for a path whose links were followed already. */
export function realPlace(within: Confinement, root: string, path: string): Place | Refusal {
  const place = placeOf(root, path);
  if ("kind" in place) return place;
  return isHiddenPlace(within, place) ? refuse(unseen) : place;
}

/** The same for a path that is to be made or written. */
export function changeablePlace(within: Confinement, root: string, path: string): Place | Refusal {
  const place = realPlace(within, root, path);
  if ("kind" in place || (within.mayChange?.(place.names.join("/")) ?? true)) return place;
  return refuse("it may not be changed");
}

/**
 * Says whether `opened` is the file at `place`, reached through real folders only, whoever swaps folders and links
 * meanwhile.
 *
 * No call of the runtime tells the path of an open file, and each look at a path can be shown something else. One sweep
 * (open, real path, compare) is beaten by a loop that exchanges a folder with a link: 1,000 of 8,000 reads. So there are
 * many looks, each at one name of the path that chance picks: a folder must be a folder and not a hidden one, the last
 * name must be the opened file. At no instant are all of them so when the opened file is elsewhere; who swaps cannot know
 * the next pick, and is caught at each look with a chance of at least one in the number of names. The number of looks
 * leaves one chance in 2^30.
 */
export function leadsTo(within: Confinement, place: Place, opened: FileStamp): boolean {
  const hidden = hiddenStamps(within);
  const paths = place.names.map((_, index) => join(place.root, ...place.names.slice(0, index + 1)));
  const last = paths.length - 1;
  const isAsMustBe = (index: number): boolean => {
    const found = within.disk.linkStampSync(paths[index]!);
    if (!found || hidden.some((stamp) => isSameFile(stamp, found))) return false;
    return index === last ? found.kind === "file" && isSameFile(found, opened) : found.kind === "folder";
  };
  if (!paths.every((_, index) => isAsMustBe(index))) return false;
  if (last === 0) return true; // one look at one name below a folder that nobody can swap proves it
  return picks(within.random, paths.length).every(isAsMustBe);
}

/** Says whether each of the first `count` names of a place is a real folder that is not hidden, as far as one look tells. */
export function areFolders(within: Confinement, place: Place, count: number): boolean {
  const hidden = hiddenStamps(within);
  return place.names.slice(0, count).every((_, index) => {
    const found = within.disk.linkStampSync(join(place.root, ...place.names.slice(0, index + 1)));
    return found?.kind === "folder" && !hidden.some((stamp) => isSameFile(stamp, found));
  });
}

/** Says whether two stamps are of one file. */
export function isSameFile(a: FileStamp, b: FileStamp): boolean {
  return a.device === b.device && a.inode === b.inode;
}

const charsMax = 4096;
const namesMax = 64;
const chanceBits = 30;

/** Picks of one of `count` by chance: so many that missing a given one each time has a chance of 2^-30. */
export function picks(random: Random, count: number): readonly number[] {
  const length = Math.ceil(chanceBits * Math.LN2 / -Math.log1p(-1 / count));
  // Two bytes a pick: what they leave over favours a name by less than one in a thousand.
  const bytes = Uint8Array.fromHex(random.hex(length * 2));
  return Array.from({ length }, (_, at) => (bytes[at * 2]! * 256 + bytes[at * 2 + 1]!) % count);
}

function isHiddenPlace({ hidden, isHidden }: Confinement, place: Place): boolean {
  if (hidden.some((path) => !isOutside(relative(path, place.path)))) return true;
  return isHidden?.(place.names.join("/")) ?? false;
}

function hiddenStamps({ disk, hidden }: Confinement): readonly FileStamp[] {
  return hidden.map((path) => disk.stampSync(path)).filter((stamp) => stamp !== undefined);
}

function isOutside(inside: string): boolean {
  return inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside);
}
