import { basename, sep } from "node:path";
import { isEntryName } from "@/protocol/ids.ts";

/** A workspace of a host: its name, which is unique there, and its folder: absolute, links followed. */
export interface NamedWorkspace {
  readonly name: string;
  readonly folder: string;
}

/** The name of a workspace that was given none: its folder's, made to fit `[a-z0-9-]{1,40}`. */
export function nameOfFolder(folder: string): string {
  const fitting = basename(folder).normalize("NFKD").toLowerCase().replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^a-z0-9]+/g, "-").slice(0, nameCharsMax).replaceAll(/^-+|-+$/g, "");
  return fitting === "" ? "workspace" : fitting;
}

/**
 * Says why one host cannot serve these workspaces together: a name that does not fit, two alike, a folder that is another's or
 * lies in it, whose callers could then read it (product.md §3). Undefined when it can.
 */
export function workspacesProblem(workspaces: readonly NamedWorkspace[]): string | undefined {
  for (const [place, { name, folder }] of workspaces.entries()) {
    if (!isEntryName(name)) return `Cannot name a workspace "${name}": expected 1 to 40 of a-z, 0-9 and "-"`;
    for (const other of workspaces.slice(0, place)) {
      if (other.name === name) {
        return `Cannot serve two workspaces called "${name}": name one of them with --workspace NAME=DIR`;
      }
      if (isInside(folder, other.folder) || isInside(other.folder, folder)) {
        return `Cannot serve ${folder} beside ${other.folder}: one lies in the other, and its files would be read from there`;
      }
    }
  }
  return undefined;
}

const nameCharsMax = 40;

function isInside(folder: string, around: string): boolean {
  return folder === around || folder.startsWith(around.endsWith(sep) ? around : around + sep);
}
