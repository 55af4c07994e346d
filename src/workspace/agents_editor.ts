import { agentsBytesMax, agentsMax, readAgent } from "./agents_file.ts";
import { named } from "./callers_editor.ts";
import { editEntries, type EditRefused, type EntryFile, refused } from "./entry_editor.ts";
import type { JsonObject } from "./json_entries.ts";

/** Where `agents.json` is edited. */
export type AgentsEditing = Pick<EntryFile, "disk" | "random" | "path" | "lock">;

/**
 * Adds an agent (`agents add NAME URL`), given as the file has it (data-model.md 3). `workspaces` are the names of this
 * host's, when they are known.
 *
 * Refused: a name that is taken, also by a bad entry; a bad URL; both `url` and `workspace`; a workspace that is not
 * there; any other field that is not as it must be; a malformed file.
 */
export async function addAgent(
  file: AgentsEditing,
  agent: JsonObject,
  { workspaces }: { readonly workspaces?: readonly string[] } = {},
): Promise<{ readonly kind: "added" } | EditRefused> {
  const read = readAgent(agent);
  if ("why" in read) return refused(`Cannot add an agent: ${read.why}`);
  if (read.at.kind === "workspace" && workspaces && !workspaces.includes(read.at.workspace)) {
    return refused(`Cannot add agent "${read.name}": this host has no workspace "${read.at.workspace}"`);
  }
  return await edit(file, (entries) => {
    if (named(entries, read.name).length > 0) return refused(`Cannot add agent "${read.name}": the name is taken`);
    return { entries: [...entries, agent], result: { kind: "added" as const } };
  });
}

/** Removes an agent (`agents remove NAME`): all entries of the name, so that no second one takes its place unseen. */
export async function removeAgent(
  file: AgentsEditing,
  name: string,
): Promise<{ readonly kind: "removed" } | EditRefused> {
  return await edit(file, (entries) => {
    const gone = new Set<unknown>(named(entries, name));
    if (gone.size === 0) return refused(`Cannot remove "${name}": there is no such agent`);
    return { entries: entries.filter((entry) => !gone.has(entry)), result: { kind: "removed" as const } };
  });
}

function edit<T>(file: AgentsEditing, change: Parameters<typeof editEntries<T>>[1]): Promise<T | EditRefused> {
  return editEntries({ ...file, entriesMax: agentsMax, bytesMax: agentsBytesMax }, change);
}
