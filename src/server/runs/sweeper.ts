import { getLogger } from "@logtape/logtape";
import type { Counters } from "@/counters.ts";
import type { TaskEvent } from "@/server/tasks/lifecycle.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import type { TaskStore } from "@/server/tasks/task_store.ts";
import type { Clock, TimeMs } from "@/time/clock.ts";
import { unlessAborted } from "@/time/unless_aborted.ts";
import type { ContextSlots } from "./context_slots.ts";
import type { Retention } from "./retention.ts";
import type { Runner } from "./runner.ts";
import type { RunSlots } from "./run_slots.ts";
import type { EventMaker, TaskWriter } from "@/server/tasks/task_writer.ts";

const logger = getLogger(["a2a", "server", "runs"]);

const everyMs = 60_000;
/** Records that are looked at in one round of each kind. */
const roundMax = 1_000;

/** What the sweeper works with, and what counts as old, in milliseconds. */
export interface SweeperOptions {
  readonly store: TaskStore;
  readonly writer: TaskWriter;
  readonly slots: ContextSlots;
  readonly runSlots: RunSlots;
  readonly runner: Runner;
  readonly retention: Retention;
  readonly clock: Clock;
  readonly counters: Counters;
  readonly inputMs: number;
  readonly keepMs: number;
}

/**
 * Puts right what a crash or time left behind, at the start and every minute: runs that nobody works on (T13, T14),
 * questions that nobody answered (T12), tasks that are old (T17). Never a reader does this (state-machines.md 0.6).
 */
export class Sweeper implements AsyncDisposable {
  readonly #options: SweeperOptions;
  readonly #stop = new AbortController();
  readonly #loop: Promise<void>;
  #sweeping: Promise<void> | undefined;

  constructor(options: SweeperOptions) {
    this.#options = options;
    this.#loop = this.#run();
  }

  /** Sweeps once, after a sweep that runs; not any more once the host stops. */
  async sweep(): Promise<void> {
    while (this.#sweeping !== undefined) await this.#sweeping.catch(() => {});
    if (this.#stop.signal.aborted) return;
    this.#sweeping = this.#sweep();
    try {
      await this.#sweeping;
    } finally {
      this.#sweeping = undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#loop;
    while (this.#sweeping !== undefined) await this.#sweeping.catch(() => {}); // one that was asked for
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.sweep().catch((error) => logger.error("Cannot look for abandoned tasks: {error}", { error }));
      await this.#options.clock.sleep(everyMs, signal).catch(() => {});
    }
  }

  async #sweep(): Promise<void> {
    const { store, slots, clock, inputMs, keepMs } = this.#options;
    await slots.renew(); // a process that was suspended still holds what nobody took meanwhile
    const old = (state: "waiting" | "terminal", ms: number) => store.aged(state, clock.now() - ms as TimeMs, roundMax);
    await this.#each(() => store.abandoned(roundMax), (record) => this.#putRight(record));
    await this.#each(() => old("waiting", inputMs), (record) => this.#endUnanswered(record));
    await this.#each(() => old("terminal", keepMs), (record) => this.#forget(record));
    await this.#options.retention.sweep(this.#stop.signal);
  }

  /** Does `work` for each record, until the host stops. One that breaks it is logged, and keeps no other from its turn. */
  async #each(list: () => Promise<readonly TaskRecord[]>, work: (record: TaskRecord) => Promise<void>): Promise<void> {
    const { signal } = this.#stop;
    if (signal.aborted) return;
    const records = await unlessAborted(list(), signal) ?? []; // a list may wait for the index of a whole folder
    for (const record of records) {
      if (signal.aborted) return;
      try {
        await work(record);
      } catch (error) {
        logger.error("Cannot sweep task {taskId}: {error}", { taskId: record.task.id, error });
      }
    }
  }

  async #endUnanswered(record: TaskRecord): Promise<void> {
    await this.#options.runner.end(taskOf(record), ifUnchanged(record, { kind: "no answer came" }), "refuse");
  }

  async #putRight(record: TaskRecord): Promise<void> {
    const { runner, counters } = this.#options;
    if (runner.isActive(record)) return;
    if (record.run!.startedAt === null && record.run!.attempt < 2) return await this.#queueAgain(record);
    const applied = await runner.end(taskOf(record), ifUnchanged(record, { kind: "host lost" }), "refuse");
    if (applied.kind === "changed") {
      logger.warning("Task {taskId} failed: the server restarted while it ran", { taskId: record.task.id });
      counters.add("tasks.lost");
    }
  }

  /** T13. When something else runs in the context by now, the next sweep tries again. */
  async #queueAgain(record: TaskRecord): Promise<void> {
    const { slots, runSlots, runner, writer, counters } = this.#options;
    const lease = await slots.take({ caller: record.caller, contextId: record.task.contextId }, record.task.id);
    if ("kind" in lease) return;
    const { fence, key } = lease;
    const applied = await writer.apply(taskOf(record), ifUnchanged(record, { kind: "queued again", fence }), {
      whenFull: "refuse", // the next sweep tries again
      afterwards: async (next) => {
        if (next.run === null) return await slots.giveUp(key, fence);
        runSlots.waitAnyway(next.run.runId, next.caller);
        counters.add("tasks.requeued");
        runner.wait(next);
      },
    });
    if (applied.kind !== "changed") await slots.giveUp(key, fence);
  }

  async #forget(record: TaskRecord): Promise<void> {
    const { store, retention } = this.#options;
    if (await store.remove(record.task.id, record.rev) === "removed") await retention.forget(record);
  }
}

/** A list is old when its last record is looked at: the event only for the status, and the run, that were listed. */
function ifUnchanged(listed: TaskRecord, event: TaskEvent): EventMaker {
  return ({ task, run }) => {
    const isSame = task.status.timestamp === listed.task.status.timestamp && run?.fence === listed.run?.fence;
    return isSame ? event : undefined;
  };
}

function taskOf(record: TaskRecord) {
  return { id: record.task.id, caller: record.caller };
}
