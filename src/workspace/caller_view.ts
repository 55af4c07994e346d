import type { CallerName } from "@/protocol/ids.ts";
import type { Random } from "@/random.ts";
import type { Confinement } from "./confined_path.ts";
import type { Disk } from "./disk.ts";
import type { WorkspacePaths } from "./workspace_paths.ts";

/** Whose view of which workspace. */
export interface CallerViewOptions {
  readonly disk: Disk;
  readonly random: Random;
  readonly paths: WorkspacePaths;
  readonly caller: CallerName;
}

/**
 * What of a workspace a caller's session may read by name: all but our state, what other callers and agents brought or
 * made, and files that look like secrets (product.md §6).
 */
export function callerView({ disk, random, paths, caller }: CallerViewOptions): Confinement {
  return { disk, random, root: paths.root, hidden: [paths.volcanic], isHidden: (path) => isHiddenFrom(caller, path) };
}

/** The only place that a caller's session may write to: `work/<caller>/`. */
export function callerWorkshop({ disk, random, paths, caller }: CallerViewOptions): Confinement {
  return { disk, random, root: paths.workOf(caller), hidden: [] };
}

function isHiddenFrom(caller: CallerName, path: string): boolean {
  const [top, owner] = path.split("/");
  const isSomeonesFolder = top === "inbox" || top === "work";
  if (isSomeonesFolder && owner !== undefined && owner !== caller) return true;
  return secretShapes.some((shape) => shape.test(path));
}

/** By the path from the root, in whatever case: a file system may not see it. */
const secretShapes: readonly RegExp[] = [
  /(^|\/)\.volcanic(\/|$)/i,
  /(^|\/)\.env[^/]*(\/|$)/i,
  /\.(pem|key)$/i,
  /(^|\/)\.git\/config$/i,
  /(^|\/)\.netrc$/i,
];
