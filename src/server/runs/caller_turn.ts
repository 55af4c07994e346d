import type { ToolResult } from "@/engine/engine.ts";
import { relative } from "node:path";
import type { Counters } from "@/counters.ts";
import type { Outbound } from "@/outbound/outbound.ts";
import type { CallerName } from "@/protocol/ids.ts";
import type { ArtifactJson } from "@/protocol/task.ts";
import type { Random } from "@/random.ts";
import { callerScope } from "@/sessions/session_scope.ts";
import type { Clock } from "@/time/clock.ts";
import { type CallerMap, confinementOf, workshopOf } from "@/workspace/caller_map.ts";
import type { Disk } from "@/workspace/disk.ts";
import type { WorkspacePaths } from "@/workspace/workspace_paths.ts";
import { artifactBytes } from "@/server/tasks/lifecycle.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import type { TaskStore } from "@/server/tasks/task_store.ts";
import type { Prepared } from "./active_run.ts";
import { fetchFiles } from "./downloads.ts";
import { promptParts } from "./prompt_parts.ts";
import { CallerFiles } from "./session_files.ts";
import { type CallerTools, callerTools, type Notify } from "./session_tools.ts";

/** What a run of a caller's task needs of its workspace. */
export interface CallerTurnOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly counters: Counters;
  readonly outbound: Pick<Outbound, "guarded">;
  readonly random: Random;
  readonly paths: WorkspacePaths;
  readonly store: TaskStore;
  readonly fileBytesMax: number;
  readonly notify: Notify | undefined;
  /** What a caller may see and change now. */
  readonly mapOf: (caller: CallerName) => CallerMap;
}

/** One run's turn: where it takes place, how it is prompted, and the tools it is lent. */
export interface CallerTurn {
  readonly scope: string;
  readonly prepare: (signal: AbortSignal) => Promise<Prepared>;
  readonly tools: CallerTools;
}

/** Makes the turn of a run that has begun, from the newest message of its caller. */
export function callerTurn(
  record: TaskRecord,
  options: CallerTurnOptions & { readonly commitFile: (artifact: ArtifactJson) => Promise<ToolResult> },
): CallerTurn {
  const { caller, task, hops, run } = record;
  const { paths, fileBytesMax } = options;
  const map = options.mapOf(caller);
  const { id: taskId, contextId } = task;
  const scope = callerScope(caller, contextId);
  const message = task.history!.at(-1)!;
  const tools = callerTools({
    ...options,
    taskId,
    contextId,
    caller,
    view: confinementOf(map, options),
    files: new CallerFiles({ ...options, map }),
    workshop: workshopOf(map, options),
    artifactBytes: artifactBytes(task.artifacts),
  });
  return {
    scope,
    tools,
    async prepare(signal) {
      const folder = relative(paths.root, paths.inboxOf(caller, taskId));
      let parts = promptParts(message, { fileBytesMax, folder });
      if (parts.kind === "to fetch") {
        const task = { id: taskId, caller };
        const fetched = await fetchFiles(parts.parts, { ...options, task, signal });
        if (fetched.kind !== "fetched") return fetched;
        parts = promptParts(message, { fileBytesMax, folder, fetched: fetched.files });
      }
      if (parts.kind === "bad file") return { kind: "failed", message: parts.message };
      if (parts.kind === "to fetch") throw new RangeError("Cannot prompt: a file is missing");
      const { text, files } = parts;
      const { runId, fence } = run!;
      const { messageId } = message;
      const where = { scope, trust: "isolated" as const, fence, caller, contextId, messageId };
      return {
        kind: "turn",
        request: { ...where, runId, taskId, from: "caller", text, files, hops, tools: tools.tools },
      };
    },
  };
}
