import { join } from "node:path";
import type { Clock } from "@/time/clock.ts";
import { type Disk, isMissing } from "@/workspace/disk.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";

/** What looking at a folder needs. */
export interface TrustOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  /** Who we are; null where there are no users. */
  readonly uid: number | null;
  /** The program that is run as git. */
  readonly git?: string;
}

/** A repository whose index is read for longer than this is not waited for. */
const gitMs = 5_000;

/**
 * Says why a folder must not be served: what is under `.volcanic/` came with a checkout, or is another user's, and would let in
 * whoever they like (product.md §4). Undefined when it may be.
 *
 * Of `tasks/` and `sessions/`, which hold many files, the folders are looked at: who may write there is who owns them.
 */
export async function trustProblem(folder: string, options: TrustOptions): Promise<string | undefined> {
  const { volcanic } = workspacePaths(folder);
  if (options.disk.linkStampSync(volcanic) === undefined) return undefined;
  const cure = "if you put it there, serve it with --trust-workspace";
  const foreign = await foreignPath(folder, options);
  if (foreign !== undefined) return `Cannot serve ${folder}: ${foreign} belongs to another user; ${cure}`;
  const tracked = await trackedPath(folder, options);
  if (tracked.kind === "unknown") return `Cannot serve ${folder}: ${tracked.why}; ${cure}`;
  return tracked.kind === "none" ? undefined : `Cannot serve ${folder}: ${tracked.path} is tracked by git; ${cure}`;
}

async function foreignPath(folder: string, { disk, uid }: TrustOptions): Promise<string | undefined> {
  if (uid === null) return undefined;
  const { volcanic, a2a, tasks, sessions } = workspacePaths(folder);
  const isForeign = (path: string) => (disk.linkStampSync(path)?.owner ?? uid) !== uid;
  const paths = [volcanic];
  for (const parent of [volcanic, a2a]) for (const { name } of await disk.list(parent)) paths.push(join(parent, name));
  return [...paths, tasks, sessions].find(isForeign);
}

type Tracked =
  | { readonly kind: "none" }
  | { readonly kind: "tracked"; readonly path: string }
  | { readonly kind: "unknown"; readonly why: string };

/** Asks git, in a way that runs nothing which the repository names. Without git nothing is tracked. */
async function trackedPath(folder: string, { clock, git = "git" }: TrustOptions): Promise<Tracked> {
  using deadline = clock.deadline(gitMs);
  try {
    const { code, stdout, stderr } = await new Deno.Command(git, {
      args: [
        ...["-c", "core.fsmonitor=false", "-c", "safe.directory=*", "-C", folder],
        ...["ls-files", "-z", "--", ":(icase).volcanic"],
      ],
      env: { LC_ALL: "C", GIT_OPTIONAL_LOCKS: "0" },
      stdin: "null",
      signal: deadline.signal,
    }).output();
    if (deadline.signal.aborted) return { kind: "unknown", why: "git did not say in time whether it is tracked" };
    const [path] = new TextDecoder().decode(stdout).split("\0");
    if (code === 0) return path === undefined || path === "" ? { kind: "none" } : { kind: "tracked", path };
    const said = new TextDecoder().decode(stderr).trim().split("\n", 1)[0]!.slice(0, 200);
    return /not a git repository/.test(said) ? { kind: "none" } : { kind: "unknown", why: `git says "${said}"` };
  } catch (error) {
    if (isMissing(error)) return { kind: "none" };
    return { kind: "unknown", why: "git cannot be asked whether it is tracked" };
  }
}
