import { join } from "node:path";
import {
  areFolders,
  changeablePlace,
  type Confinement,
  findPlace,
  isRefusal,
  isSameFile,
  leadsTo,
  orRefusal,
  type Place,
  placeOf,
  realRoot,
  type Refusal,
  refuse,
} from "./confined_path.ts";
import type { FileStamp, ReadableFile, WritableFile } from "./disk.ts";

/** A regular file in the root, open. Who gets it closes it. */
export interface Opened {
  readonly kind: "opened";
  readonly file: ReadableFile;
  /** From the root, with slashes, links followed. */
  readonly path: string;
}

/** A file that was written where it belongs. */
export interface Written {
  readonly kind: "written";
  /** From the root, with slashes. */
  readonly path: string;
}

/** How links on the way are taken. */
export interface OpenOptions {
  /** `inside` (the default): links are followed as long as they stay in the root. `none`: a link on the way is refused. */
  readonly links?: "inside" | "none";
}

/**
 * Opens a file that someone else named, to read it: a regular one, in the root, not hidden (product.md §4).
 *
 * It is opened first, without waiting, and then it is proven that what is open is what the path leads to; so it does not
 * matter who changes links meanwhile. A FIFO, a device, a socket and a folder are refused. `path` is relative to the root,
 * or absolute and in it. Rejects only when the disk fails.
 */
export async function openConfined(
  within: Confinement,
  path: string,
  { links = "inside" }: OpenOptions = {},
): Promise<Opened | Refusal> {
  for (let tries = 1;; tries++) {
    const place = await findPlace(within, path, links);
    if ("kind" in place) return place;
    const file = await orRefusal(within.disk.openRead(place.path));
    if (isRefusal(file)) return file;
    if (file.stamp.kind !== "file") return close(file, "it is not a regular file");
    if (leadsTo(within, place, file.stamp)) return { kind: "opened", file, path: place.names.join("/") };
    // Someone may have saved it by a rename: once more. Who swaps links on purpose gains nothing by it.
    const refusal = close(file, "it changed while it was opened");
    if (tries === triesMax) return refusal;
  }
}

/**
 * Writes a file that someone else named, making it and the folders above it when they are missing.
 *
 * The bytes go into an open file that was proven to be in the root: never into a hidden or outside one, whoever changes
 * links meanwhile. So the file is written in place and not by a rename: between the two paths of a rename a swap can
 * fall, which put 3 of 100 writes into the hidden folder. A crash can leave a part; files of ours are written by
 * `writeAtomically`. A link anywhere on the way is refused. In a race an empty folder can be left where it does not belong,
 * never content. Rejects only when the disk fails.
 */
export async function writeConfined(within: Confinement, path: string, bytes: Uint8Array): Promise<Written | Refusal> {
  const place = await makeWay(within, path);
  if ("kind" in place) return place;
  const opened = await openToWrite(within, place);
  if (isRefusal(opened)) return opened;
  using file = opened;
  await file.write(bytes);
  await file.truncate(bytes.length);
  await file.flush();
  return { kind: "written", path: place.names.join("/") };
}

const triesMax = 3;

/** Where the file is to be, once the folders above it are there: made one by one, each looked at before the next. */
async function makeWay(within: Confinement, path: string): Promise<Place | Refusal> {
  const { disk } = within;
  const asked = placeOf(within.root, path);
  if ("kind" in asked) return asked;
  const root = await realRoot(within);
  if (isRefusal(root)) return root;
  const place = changeablePlace(within, root, asked.names.join("/"));
  if ("kind" in place) return place;
  for (let count = 1; count < place.names.length; count++) {
    const folder = join(root, ...place.names.slice(0, count));
    if (disk.linkStampSync(folder) === undefined) {
      const made = await makeFolder(within, place, count);
      if (isRefusal(made)) return made;
    }
    if (!areFolders(within, place, count)) return refuse("its folder is a link, or none that may be written to");
  }
  return place;
}

async function makeFolder(within: Confinement, place: Place, count: number): Promise<void | Refusal> {
  const folder = changeablePlace(within, place.root, place.names.slice(0, count).join("/"));
  if ("kind" in folder) return folder;
  if (!areFolders(within, place, count - 1)) return refuse("its folder changed while it was made");
  return await orRefusal(within.disk.makeFolder(folder.path));
}

async function openToWrite(within: Confinement, place: Place): Promise<WritableFile | Refusal> {
  const { disk } = within;
  const there = disk.linkStampSync(place.path);
  if (there && there.kind !== "file") return refuse("it is not a regular file");
  const file = await orRefusal(there ? disk.openWrite(place.path) : disk.createNew(place.path));
  if (isRefusal(file)) return file;
  const { stamp } = file;
  if (stamp.kind === "file" && leadsTo(within, place, stamp)) return file;
  file[Symbol.dispose]();
  if (!there) await removeStray(within, place.path, stamp);
  return refuse("it changed while it was opened");
}

/** Removes the empty file that a swap of links made us make outside. Nobody can swap links out there. */
async function removeStray(within: Confinement, path: string, stamp: FileStamp): Promise<void> {
  const { disk } = within;
  const root = await disk.realPath(within.root);
  for (let looks = 0; looks < strayLooksMax; looks++) {
    const real = await orRefusal(disk.realPath(path));
    if (isRefusal(real) || !("kind" in changeablePlace(within, root, real))) continue;
    const found = disk.linkStampSync(real);
    if (!found || !isSameFile(found, stamp) || found.bytes > 0) continue;
    return await disk.remove(real).catch(() => {}); // an empty file is left: no harm, and no better way
  }
}

const strayLooksMax = 200;

function close(file: Disposable, why: string): Refusal {
  file[Symbol.dispose]();
  return refuse(why);
}
