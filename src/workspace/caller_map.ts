import { join } from "node:path";
import { foldPath, matchesPath, parsePathPattern, type PathPattern } from "@/path_pattern.ts";
import type { CallerName } from "@/protocol/ids.ts";
import type { Random } from "@/random.ts";
import type { Caller, CallersRead } from "./callers_file.ts";
import type { Confinement } from "./confined_path.ts";
import { controlNames, controlPatterns } from "./control_paths.ts";
import type { Disk } from "./disk.ts";
import { secretShapes } from "./secret_shapes.ts";
import type { WorkspacePaths } from "./workspace_paths.ts";

/**
 * What a caller's session may see and change of a workspace (product.md §6): one value for the file tools in this process and
 * for the box. Paths that it is asked about are relative to the root, with slashes and links followed; the root is "".
 */
export interface CallerMap {
  readonly caller: CallerName;
  /** The workspace's folder, absolute. */
  readonly root: string;
  readonly access: Caller["access"];
  /** Where it may write, absolute: `work/<caller>` first; with access "write" the root as well. */
  readonly writable: readonly string[];
  /** Its own inbox, absolute, which it only reads. */
  readonly inbox: string;
  /** The state folders of all served workspaces, absolute: hidden by device and inode, whatever a path calls them. */
  readonly states: readonly string[];
  /**
   * Hidden with all that is in it: state, other callers' folders and files of agents, what looks like a secret, what the owner
   * hides. In the caller's own folders only state is: what it brought or made is no secret from it.
   */
  isHidden(path: string): boolean;
  /**
   * Not to be changed, not even with access "write", with all that is in it: see `controlPatterns`. The inbox is, too: the host
   * writes there what callers send, and must not find links that a session laid (decision 10).
   */
  isControl(path: string): boolean;
  /** May be made, written and removed: inside `writable`, and neither hidden nor control. */
  mayChange(path: string): boolean;
  /**
   * The control paths in the root, absolute, a folder with a slash at its end: who may write to the root must not make those that
   * are missing.
   */
  readonly controlPaths: readonly string[];
}

/** Whose map of which workspace. */
export interface CallerMapOptions {
  readonly paths: WorkspacePaths;
  readonly caller: CallerName;
  /** What its entry in `callers.json` says now. */
  readonly access: Caller["access"];
  /** What the owner hides besides (`Hide`). */
  readonly hide: readonly PathPattern[];
  /** The state folders of the other workspaces that are served, absolute. */
  readonly otherStates: readonly string[];
}

/** Makes the map of one caller. Pure: nothing is looked at on the disk. */
export function callerMap({ paths, caller, access, hide, otherStates }: CallerMapOptions): CallerMap {
  const work = paths.workOf(caller);
  const hidden = [...secretShapes, ...hide];
  const isHidden = (path: string) => {
    const names = foldPath(path);
    if (matchesPath(statePattern, names)) return true;
    const place = placeIn(path, names, caller);
    return place === "others" || (place === "workspace" && hidden.some((pattern) => matchesPath(pattern, names)));
  };
  const isControl = (path: string) => {
    const names = foldPath(path);
    const place = placeIn(path, names, caller);
    return place !== "work" &&
      (place !== "workspace" || controlPatterns.some((pattern) => matchesPath(pattern, names)));
  };
  return {
    caller,
    root: paths.root,
    access,
    writable: access === "write" ? [work, paths.root] : [work],
    inbox: paths.inboxOf(caller),
    states: [paths.volcanic, ...otherStates],
    isHidden,
    isControl,
    mayChange(path) {
      const isIn = access === "write" || placeIn(path, foldPath(path), caller) === "work";
      return isIn && !isHidden(path) && !isControl(path);
    },
    controlPaths: controlNames.map((name) => join(paths.root, name)),
  };
}

/** The workspace as the map has it, for paths that a session names. */
export function confinementOf(
  map: CallerMap,
  { disk, random }: { readonly disk: Disk; readonly random: Random },
): Confinement {
  const { root, states } = map;
  return { disk, random, root, hidden: states, isHidden: map.isHidden, mayChange: map.mayChange };
}

/** The caller's own folder, where its session's `write` makes files by their names alone: `work/<caller>/`. */
export function workshopOf(
  map: CallerMap,
  { disk, random }: { readonly disk: Disk; readonly random: Random },
): Confinement {
  const { states, caller } = map;
  return {
    disk,
    random,
    root: map.writable[0]!,
    hidden: states,
    isHidden: (path) => map.isHidden(`work/${caller}/${path}`),
  };
}

/** What `callers.json` gives a caller now; "read" for one that it does not name. */
export function accessOf({ callers }: CallersRead, caller: CallerName): Caller["access"] {
  return callers.find((one) => one.caller === caller)?.access ?? "read";
}

const statePattern = parsePathPattern(".volcanic")!;

/**
 * Whose a path is: in the caller's own folders, among other callers', one of the folders that hold both, or the workspace's. A
 * folder `Work` counts as `work`: they may be one.
 */
function placeIn(path: string, folded: readonly string[], caller: CallerName) {
  if (folded[0] !== "inbox" && folded[0] !== "work") return "workspace";
  const [top, whose] = path.split("/");
  if (whose === undefined) return "between";
  return whose === caller && (top === "inbox" || top === "work") ? top : "others";
}
