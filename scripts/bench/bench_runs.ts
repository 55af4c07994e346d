import { Counters } from "@/counters.ts";
import type { EngineEvent } from "@/engine/engine.ts";
import { createFauxEngine } from "@/engine/faux_engine.ts";
import { systemRandom } from "@/random.ts";
import { Outbound } from "@/outbound/outbound.ts";
import type { PartJson } from "@/protocol/task.ts";
import { RunService } from "@/server/runs/run_service.ts";
import type { Accepted } from "@/server/runs/submission.ts";
import { MemoryTaskStore } from "@tests/fakes/memory_task_store.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import type { TaskStore } from "@/server/tasks/task_store.ts";
import { WebhookPlaces } from "@/server/tasks/webhook_places.ts";
import { TaskWriter } from "@/server/tasks/task_writer.ts";
import { SessionPool } from "@/sessions/session_pool.ts";
import { systemClock } from "@/time/clock.ts";
import type { Disk } from "@/workspace/disk.ts";
import { readInstructions } from "@/workspace/instruction_files.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";
import { benchDisk, openBenchStore } from "./bench_store.ts";
import { benchCaller } from "./made_tasks.ts";

export interface BenchRunsOptions {
  readonly store?: "file" | "memory";
  readonly disk?: Disk;
  /** Sessions that may be open at once; no limit when absent. */
  readonly sessionsMax?: number;
  /** What files of messages are fetched through; the caller's to close. Absent: the door as it is by default. */
  readonly outbound?: Outbound;
  readonly observe?: (record: TaskRecord, event: EngineEvent) => void;
  readonly onCommitted?: (record: TaskRecord) => void;
}

/** A workspace at work with the faux engine, wired as `app.ts` wires it, without the host's files and locks. */
export interface BenchRuns extends AsyncDisposable {
  readonly runs: RunService;
  readonly store: TaskStore;
  readonly sessions: SessionPool;
  /** Sends one message into a context; throws when it is refused. */
  send(content: string | readonly PartJson[], contextId?: string): Promise<Accepted>;
}

/** Opens a folder as a workspace. Runs have no limits, so what is measured is the work. */
export async function openBenchRuns(folder: string, options: BenchRunsOptions = {}): Promise<BenchRuns> {
  const { disk = benchDisk, sessionsMax = 0, observe, onCommitted } = options;
  const paths = workspacePaths(folder);
  await disk.makeFolder(paths.a2a);
  await using opened = new AsyncDisposableStack();
  const clock = systemClock;
  const random = systemRandom;
  const counters = new Counters();
  const engine = opened.use(createFauxEngine({ clock }));
  const store: TaskStore = opened.use(
    options.store === "memory"
      ? new MemoryTaskStore({ clock, storedTasksMax: Infinity })
      : await openBenchStore(paths.tasks, { disk, counters }),
  );
  const view = { disk, random, root: paths.root, hidden: [paths.volcanic] };
  const sessions = opened.use(
    new SessionPool({
      ...{ engine, disk, clock, random },
      folder: paths.sessions,
      hostVersion: "0",
      readInstructions: () => readInstructions(view),
      callerSessionsMax: () => sessionsMax === 0 ? Infinity : sessionsMax,
    }),
  );
  const limits = {
    ...{ hopsMax: 4, runsMax: Infinity, queuedMax: Infinity, runMs: Infinity },
    ...{
      inputMs: Infinity,
      keepMs: Infinity,
      fileBytesMax: Infinity,
      turnsPerContextMax: Infinity,
      delegatedTurnsMax: Infinity,
    },
  };
  const outbound = options.outbound ?? opened.use(new Outbound({ clock }));
  const webhookPlaces = new WebhookPlaces({ store, max: Infinity });
  const parts = { disk, clock, random, counters, paths, store, sessions, outbound, limits, observe, onCommitted };
  const runs = opened.use(
    new RunService({ ...parts, ...{ writer: new TaskWriter(parts), webhookPlaces, notify: undefined } }),
  );
  let sent = 0;
  const all = opened.move();
  return {
    runs,
    store,
    sessions,
    async send(content, contextId) {
      const parts = typeof content === "string" ? [{ text: content }] : content;
      const message = { messageId: `${++sent}`, role: "ROLE_USER" as const, parts, contextId };
      const accepted = await runs.submit({ caller: benchCaller, hops: 0, message });
      if (accepted.kind === "refused") throw new Error(`Cannot send: ${accepted.why}`);
      return accepted;
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
