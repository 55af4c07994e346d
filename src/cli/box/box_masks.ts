import { join, relative } from "node:path";
import type { CallerMap } from "@/workspace/caller_map.ts";
import { type Disk, isMissing, isPathTrouble } from "@/workspace/disk.ts";

/** What lies over the workspace in a box, by path from its root. A folder stands before what is in it. */
export interface BoxMasks {
  readonly hiddenFolders: readonly string[];
  /** Files, and what is no file: a socket or a pipe can be used through a read-only mount. */
  readonly hiddenFiles: readonly string[];
  /** Control paths that are there, for who may write around them. */
  readonly fixed: readonly string[];
  /** Control paths that are not there, for the same: they must not be made. */
  readonly missingFolders: readonly string[];
  readonly missingFiles: readonly string[];
}

/** The most that is looked at, and laid over. */
export interface MaskBounds {
  readonly entriesMax?: number;
  readonly depthMax?: number;
  readonly masksMax?: number;
  /** Says whether what is at a path in the root, absolute, is a mount point of another box: as good as missing. */
  readonly isOurs?: (path: string) => boolean;
}

/** The workspace cannot be put into a box; a sentence without a path of the machine. */
export interface NoMasks {
  readonly kind: "refused";
  readonly why: string;
}

/**
 * Walks a workspace to find what the caller's map hides or fixes. Links are not followed: what they lead to has a path of its own,
 * or is not in the box. What is there at this moment counts; what the owner makes later is hidden from the next program.
 *
 * Refuses when it cannot see everything: a workspace with more in it than `entriesMax`, deeper than `depthMax`, a control path that
 * is a link where it could be replaced.
 */
export async function findMasks(
  map: CallerMap,
  { disk, ...bounds }: MaskBounds & { readonly disk: Disk },
): Promise<{ readonly kind: "masks"; readonly masks: BoxMasks } | NoMasks> {
  const walk = new MaskWalk(map, disk, bounds);
  if (map.access === "write") walk.addMissing();
  const why = await walk.addStates() ?? await walk.look("", 0);
  if (why !== undefined) return { kind: "refused", why };
  return { kind: "masks", masks: walk };
}

class MaskWalk implements BoxMasks {
  readonly hiddenFolders: string[] = [];
  readonly hiddenFiles: string[] = [];
  readonly fixed: string[] = [];
  readonly missingFolders: string[] = [];
  readonly missingFiles: string[] = [];
  readonly #map: CallerMap;
  readonly #disk: Disk;
  readonly #bounds: Required<MaskBounds>;
  readonly #covered = new Set<string>(["work", "inbox"]);
  #entries = 0;

  constructor(map: CallerMap, disk: Disk, bounds: MaskBounds) {
    const { entriesMax = 200_000, depthMax = 64, masksMax = 2_000, isOurs = () => false } = bounds;
    this.#map = map;
    this.#disk = disk;
    this.#bounds = { entriesMax, depthMax, masksMax, isOurs };
  }

  /** State that a link leads to is where the link does not say so. */
  async addStates(): Promise<string | undefined> {
    for (const state of this.#map.states) {
      let path: string;
      try {
        path = relative(this.#map.root, await this.#disk.realPath(state));
      } catch (error) {
        if (isMissing(error)) continue;
        throw error;
      }
      if (path === "") return "The workspace is the state of another one, which no caller may see";
      if (!path.startsWith("..")) this.#cover(this.hiddenFolders, path);
    }
    return undefined;
  }

  /** Looks at a folder; gives why the walk must end. `isFixed`: it is in a control path. */
  async look(folder: string, depth: number, isFixed = false): Promise<string | undefined> {
    const { entriesMax, depthMax, masksMax } = this.#bounds;
    if (depth > depthMax) return `The workspace cannot be put into a box: its folders are over ${depthMax} deep`;
    const entries = await this.#list(folder);
    this.#entries += entries?.length ?? 0;
    if (this.#entries > entriesMax) {
      return `The workspace cannot be put into a box: it has over ${entriesMax} files to look at`;
    }
    if (entries === undefined) this.#cover(this.hiddenFolders, folder); // what we cannot see, no program shall
    for (const { name, kind } of entries ?? []) {
      const path = folder === "" ? name : `${folder}/${name}`;
      if (this.#covered.has(path)) continue;
      const isControl = !isFixed && this.#map.access === "write" && this.#map.isControl(path);
      if (isControl && kind === "link") {
        return `The workspace cannot be put into a box: ${path} is a link, which a caller with access "write" could replace`;
      }
      if (kind === "link") continue;
      const isHidden = this.#map.isHidden(path) || kind === "other";
      if (isHidden) this.#cover(kind === "folder" ? this.hiddenFolders : this.hiddenFiles, path);
      else if (isControl) this.#cover(this.fixed, path);
      if (this.#covered.size > masksMax) {
        return `The workspace cannot be put into a box: over ${masksMax} of its files are to be hidden`;
      }
      if (kind !== "folder" || isHidden) continue;
      const why = await this.look(path, depth + 1, isFixed || isControl);
      if (why !== undefined) return why;
    }
    return undefined;
  }

  addMissing(): void {
    for (const path of this.#map.controlPaths) {
      const name = relative(this.#map.root, path);
      const at = join(this.#map.root, name);
      if (this.#disk.linkStampSync(at) !== undefined && !this.#bounds.isOurs(at)) continue;
      this.#cover(path.endsWith("/") ? this.missingFolders : this.missingFiles, name);
    }
  }

  #cover(list: string[], path: string): void {
    if (this.#covered.has(path)) return;
    this.#covered.add(path);
    list.push(path);
  }

  async #list(folder: string) {
    try {
      return await this.#disk.list(join(this.#map.root, folder));
    } catch (error) {
      if (isPathTrouble(error) && folder !== "") return undefined;
      throw error;
    }
  }
}
