import { type NamedWorkspace, nameOfFolder, workspacesProblem } from "@/workspace/workspace_names.ts";
import type { Disk } from "@/workspace/disk.ts";

/** The workspaces that a command line names, or why it cannot be these. */
export type WorkspacesRead =
  | { readonly kind: "workspaces"; readonly workspaces: readonly NamedWorkspace[] }
  | { readonly kind: "problem"; readonly message: string };

/** Reads each `--workspace`: `DIR` or `NAME=DIR`. A folder that is missing is made: its workspace is empty. */
export async function readWorkspaces(given: readonly string[], disk: Disk): Promise<WorkspacesRead> {
  const workspaces: NamedWorkspace[] = [];
  for (const text of given) {
    const [, name, dir] = /^([^=/\\]*)=(.+)$/s.exec(text) ?? [undefined, undefined, text];
    const problem = await makeFolder(dir!, disk);
    if (problem !== undefined) return { kind: "problem", message: problem };
    const folder = await disk.realPath(dir!);
    workspaces.push({ name: name ?? nameOfFolder(folder), folder });
  }
  const problem = workspacesProblem(workspaces);
  return problem === undefined ? { kind: "workspaces", workspaces } : { kind: "problem", message: problem };
}

async function makeFolder(dir: string, disk: Disk): Promise<string | undefined> {
  try {
    const stamp = disk.stampSync(dir);
    if (stamp === undefined) await disk.makeFolder(dir);
    else if (stamp.kind !== "folder") {
      return `Cannot open ${dir}: it is not a folder; name another with --workspace DIR`;
    }
    return undefined;
  } catch (error) {
    return `Cannot open ${dir}: ${error instanceof Error ? error.message : error}; name another with --workspace DIR`;
  }
}
