import type { Counters } from "@/counters.ts";
import type { CallerName } from "@/protocol/ids.ts";
import type { SessionPool } from "@/sessions/session_pool.ts";
import { sweepTranscripts } from "@/sessions/transcript_sweep.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import type { TaskStore } from "@/server/tasks/task_store.ts";
import type { Clock, TimeMs } from "@/time/clock.ts";
import type { Disk } from "@/workspace/disk.ts";
import { removeWork } from "@/workspace/work_folder.ts";
import type { WorkspacePaths } from "@/workspace/workspace_paths.ts";
import type { InputFiles } from "./input_files.ts";

/** The whole folder of transcripts is listed, so not each minute. */
const transcriptsEveryMs = 60 * 60 * 1000;

/** What the retention works with. */
export interface RetentionOptions {
  readonly store: TaskStore;
  readonly sessions: Pick<SessionPool, "closeCaller" | "removeTranscript">;
  readonly inputs: InputFiles;
  readonly disk: Disk;
  readonly paths: WorkspacePaths;
  readonly clock: Clock;
  readonly counters: Counters;
  /** How long a conversation is kept after its last turn, in milliseconds; `Infinity` for ever. */
  readonly keepMs: number;
  /** Says whether a message of the caller is being taken. */
  readonly isSending: (caller: CallerName) => boolean;
}

/** What goes with tasks that are gone: what was received with them, what their caller's sessions made, old conversations (product.md §7). */
export class Retention {
  readonly #options: RetentionOptions;
  #sweptAt = -Infinity;

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  /** The store has forgotten a task: removes what came with it, and with a caller's last one what its sessions made. */
  async forget(record: TaskRecord): Promise<void> {
    const { inputs, counters, store, sessions, disk, paths, isSending } = this.#options;
    const { caller, task: { id } } = record;
    counters.add("tasks.pruned");
    await inputs.forget({ id, caller });
    const left = await store.list({ caller, pageSize: 1, pageToken: "" });
    if (left.kind !== "page" || left.total > 0 || isSending(caller)) return;
    sessions.closeCaller(caller);
    await removeWork(disk, paths, caller);
  }

  /** Removes the transcripts of old conversations, once an hour. Ends early with `signal`. */
  async sweep(signal: AbortSignal): Promise<void> {
    const { clock, keepMs, store, sessions, disk, paths } = this.#options;
    if (!Number.isFinite(keepMs) || clock.elapsed() - this.#sweptAt < transcriptsEveryMs) return;
    this.#sweptAt = clock.elapsed();
    await sweepTranscripts({
      disk,
      folder: paths.sessions,
      before: clock.now() - keepMs as TimeMs,
      hasTasks: async (caller, contextId) => {
        const page = await store.list({ caller, contextId, pageSize: 1, pageToken: "" });
        return page.kind !== "page" || page.total > 0;
      },
      sessions,
      signal,
    });
  }
}
