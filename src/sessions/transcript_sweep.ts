import { join } from "node:path";
import { getLogger } from "@logtape/logtape";
import type { CallerName } from "@/protocol/ids.ts";
import type { TimeMs } from "@/time/clock.ts";
import type { Disk } from "@/workspace/disk.ts";
import { scopeOwner, transcriptName } from "./session_scope.ts";
import type { SessionPool } from "./session_pool.ts";

const logger = getLogger(["a2a", "sessions"]);

/** Where the transcripts are, and which of them are old. */
export interface TranscriptSweepOptions {
  readonly disk: Disk;
  /** `.volcanic/sessions` of the workspace, absolute. */
  readonly folder: string;
  /** A conversation that was written to since stays: now less `KeepFor`. */
  readonly before: TimeMs;
  /** Says whether a task of the conversation is stored: its transcript stays, however old. */
  readonly hasTasks: (caller: CallerName, contextId: string) => Promise<boolean>;
  readonly sessions: Pick<SessionPool, "removeTranscript">;
  /** Ends the sweep between two conversations. */
  readonly signal?: AbortSignal;
}

/**
 * Removes the transcripts of callers' old conversations, all their files, and returns of how many (product.md §7 `KeepFor`).
 *
 * Old: no file was written to since `before`, no task of it is stored, and its session is not open. The owner's own
 * conversation and files that are none of ours stay. What cannot be removed is warned of and left for the next sweep.
 * Rejects when the folder cannot be listed. The whole folder is listed, so once an hour is often enough.
 */
export async function sweepTranscripts(options: TranscriptSweepOptions): Promise<number> {
  const { sessions, hasTasks, signal } = options;
  let removed = 0;
  for (const [scope, parts] of await transcriptsIn(options)) {
    if (signal?.aborted) break;
    const owner = scopeOwner(scope);
    try {
      if (owner === undefined || !isOld(parts, options) || await hasTasks(owner.caller, owner.contextId)) continue;
      // The newest goes last: what a crash leaves can still be read, and is swept again.
      const files = [...parts].sort(([a], [b]) => (a || Infinity) - (b || Infinity)).map(([, name]) => name);
      if (await sessions.removeTranscript(scope, files)) removed++;
    } catch (error) {
      logger.warning("Cannot remove the old transcript of {scope}: {error}", { scope, error });
    }
  }
  if (removed > 0) logger.info("Removed {removed} old transcripts", { removed });
  return removed;
}

/** The names of each scope's files, by part number. */
async function transcriptsIn({ disk, folder }: TranscriptSweepOptions): Promise<Map<string, Map<number, string>>> {
  const found = new Map<string, Map<number, string>>();
  for (const { name, kind } of await disk.list(folder)) {
    const named = kind === "file" ? transcriptName(name) : undefined;
    if (named === undefined) continue;
    const parts = found.get(named.scope) ?? new Map<number, string>();
    found.set(named.scope, parts.set(named.part, name));
  }
  return found;
}

function isOld(parts: ReadonlyMap<number, string>, { disk, folder, before }: TranscriptSweepOptions): boolean {
  return [...parts.values()].every((name) => {
    const stamp = disk.linkStampSync(join(folder, name));
    return stamp === undefined || stamp.modifiedMs < before;
  });
}
