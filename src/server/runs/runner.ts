import { getLogger } from "@logtape/logtape";
import type { Counters } from "@/counters.ts";
import type { EngineEvent, ToolResult } from "@/engine/engine.ts";
import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { ArtifactJson } from "@/protocol/task.ts";
import type { SessionPool } from "@/sessions/session_pool.ts";
import type { Clock } from "@/time/clock.ts";
import { notNeeded } from "@/time/not_needed.ts";
import type { TaskEvent } from "@/server/tasks/lifecycle.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import type { CommitOptions, ContextKey, TaskStore } from "@/server/tasks/task_store.ts";
import { ActiveRun, type RunResult } from "./active_run.ts";
import { callerTurn, type CallerTurnOptions } from "./caller_turn.ts";
import type { ContextSlots } from "./context_slots.ts";
import { durationWords } from "./duration_words.ts";
import { runDeadline, type RunLimits } from "./run_limits.ts";
import type { RunSlots } from "./run_slots.ts";
import type { Applied, ApplyOptions, EventMaker, TaskWriter } from "@/server/tasks/task_writer.ts";

const logger = getLogger(["a2a", "server", "runs"]);

/** Queued runs that are looked at when a run slot is free. */
const candidatesMax = 200;

/** What the runner works with. */
export interface RunnerOptions {
  readonly store: TaskStore;
  readonly writer: TaskWriter;
  readonly slots: ContextSlots;
  readonly runSlots: RunSlots;
  readonly sessions: Pick<SessionPool, "turn" | "kill">;
  readonly turn: CallerTurnOptions;
  readonly clock: Clock;
  readonly counters: Counters;
  readonly limits: Pick<RunLimits, "runMs" | "callerRunMs">;
  /** Shows the owner what a run does. Must not throw. */
  readonly observe?: (record: TaskRecord, event: EngineEvent) => void;
}

/**
 * Works the runs: begins them when they get a run slot, commits how they end, and ends them from outside.
 *
 * The order at the end of a run is that of state-machines.md 1: the turn is settled and its transcript flushed, then the
 * commit, in whose step the context is free again, and only then does anyone see it.
 */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #active = new Map<TaskId, ActiveRun>();
  readonly #waiting = new Map<TaskId, Waiting>();
  readonly #working = new Set<Promise<void>>();
  #isPumping = false;
  #pumpAgain = false;
  #stopped = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** Begins the run of a record that is `working`. Its lease is held and a run slot taken. Call it in the step or mailbox item that made the record. */
  begin(record: TaskRecord): void {
    const { counters } = this.#options;
    counters.add("runs.started");
    const active = this.#makeActive(record);
    this.#active.set(record.task.id, active);
    this.#waiting.get(record.task.id)?.stop.abort();
    this.#waiting.delete(record.task.id);
    this.#own("a run", this.#work(active, record));
    this.#gauge();
  }

  /**
   * Keeps the run of a record that is queued, with its lease and its place, until it begins or its task is ended, by
   * another host too.
   */
  wait(record: TaskRecord): void {
    const waiting = { record, stop: new AbortController() };
    this.#waiting.set(record.task.id, waiting);
    if (!this.#stopped) this.#own("following a queued task", this.#followWaiting(waiting));
    this.pump();
  }

  /** Looks for queued runs that may begin. Call it whenever a run slot or a place in the queue changed. */
  pump(): void {
    this.#gauge();
    this.#pumpAgain = true;
    if (this.#isPumping) return;
    this.#isPumping = true;
    this.#own("granting run slots", this.#pump());
  }

  /**
   * Ends a task from outside: a cancel, a deadline, a limit, an expulsion, a lost host. The commit comes first, then the
   * engine is told to stop; the context is free for others once it has. What must happen, with `retry`, stops the engine
   * even when it cannot be stored.
   */
  async end(
    task: { readonly id: TaskId; readonly caller: CallerName },
    event: TaskEvent | EventMaker,
    whenFull: ApplyOptions["whenFull"],
  ): Promise<Applied> {
    const active = this.#active.get(task.id);
    try {
      return await this.#options.writer.apply(task, event, {
        whenFull,
        how: (next, before) => this.#howToEnd(next, before),
        afterwards: () => {
          this.#active.get(task.id)?.abort("the task is over");
          return Promise.resolve();
        },
      });
    } finally {
      if (whenFull === "retry") active?.abort("the task is to be over");
    }
  }

  /** Ends a task as its caller asks, with the text that its run has shown until the commit. */
  async cancel(task: { readonly id: TaskId; readonly caller: CallerName }): Promise<Applied> {
    const event = () => ({ kind: "cancel asked" as const, text: this.#active.get(task.id)?.text });
    const applied = await this.end(task, event, "refuse");
    if (applied.kind !== "refused" || applied.why !== "too large") return applied;
    return await this.end(task, { kind: "cancel asked" }, "refuse"); // the text is too much to keep: the cancel counts
  }

  /** The lease of a task's context went to another host: its run stops, or leaves the queue, and commits nothing. */
  lost(taskId: TaskId): void {
    this.#active.get(taskId)?.abort("lease lost");
    const waiting = this.#waiting.get(taskId);
    if (waiting !== undefined) this.#own("leaving the queue", this.#leaveQueue(waiting));
  }

  /** Says whether this run is at work here. */
  isActive(record: TaskRecord): boolean {
    return this.#active.get(record.task.id)?.runId === record.run?.runId;
  }

  /** Begins nothing more. */
  stop(): void {
    this.#stopped = true;
    for (const { stop } of this.#waiting.values()) stop.abort();
  }

  /** Resolves when nothing is at work, at the latest after `graceMs`. */
  async settle(graceMs: number): Promise<void> {
    const over = new AbortController();
    this.idle().then(() => over.abort());
    await this.#options.clock.sleep(graceMs, over.signal).catch(() => {});
  }

  /**
   * Ends what is at work as a restart would, without insisting on a full disk: the next start ends what cannot be stored.
   * A turn that is over and only waits to be stored is left to that. The others may go on for 5 s: wait for `idle`.
   */
  async endAll(): Promise<void> {
    const running = [...this.#active].filter(([, { phase }]) => phase.kind !== "settled");
    await Promise.all(running.map(async ([id, active]) => {
      try {
        await this.end({ id, caller: active.caller }, { kind: "host lost" }, "refuse");
      } catch (error) {
        logger.error("Cannot store that task {taskId} is over: {error}", { taskId: id, error });
      }
      active.abort("shutting down");
    }));
  }

  /** Resolves when nothing is at work. */
  async idle(): Promise<void> {
    while (this.#working.size > 0) await Promise.allSettled(this.#working);
  }

  #makeActive(record: TaskRecord): ActiveRun {
    const { store, sessions, clock, counters, observe } = this.#options;
    const { id } = record.task;
    const { caller } = record;
    const { runId, fence } = record.run!;
    const turn = callerTurn(record, {
      ...this.#options.turn,
      commitFile: (artifact) => this.#commitFile(record, artifact),
    });
    return new ActiveRun({
      taskId: id,
      caller,
      runId,
      scope: turn.scope,
      sessions,
      clock,
      counters,
      prepare: turn.prepare,
      show: (progress) => store.progress(progress, fence),
      observe: (event) => observe?.(record, event),
      onLimit: (message) =>
        this.#own("ending a run over its limit", this.#endLater(record, { kind: "failed", runId, message })),
      tools: turn.tools,
    });
  }

  async #work(active: ActiveRun, record: TaskRecord): Promise<void> {
    const stop = new AbortController();
    const key = keyOf(record);
    try {
      this.#own("ending a run at its deadline", this.#endAtDeadline(record, stop.signal));
      this.#own("following a task at work", this.#followOthers(active, record, stop.signal));
      const result = await active.work();
      stop.abort(notNeeded); // its time is no longer measured, however long the commit takes
      this.#options.counters.add("turns");
      if (result.kind !== "aborted") await this.#commitEnd(active, record, result);
    } catch (error) {
      logger.error("Cannot store how run {runId} ended: {error}", { runId: active.runId, error });
    } finally {
      stop.abort(notNeeded);
      if (this.#active.get(record.task.id) === active) this.#active.delete(record.task.id);
      await this.#options.slots.turnIsOver(key, record.run!.fence);
      this.#options.runSlots.leave(record.run!.runId);
      this.pump();
    }
  }

  async #commitEnd(
    active: ActiveRun,
    record: TaskRecord,
    result: RunResult & { kind: Exclude<RunResult["kind"], "aborted"> },
  ) {
    const { writer, slots } = this.#options;
    const { runId, fence } = record.run!;
    const key = keyOf(record);
    const event: TaskEvent = result.kind === "answered"
      ? { ...result, runId, files: active.files }
      : { ...result, runId };
    const options: ApplyOptions = {
      whenFull: "retry",
      wake: active.signal,
      how: (next) => ({
        as: fence,
        release: slots.lease(key),
        onDurable: () => {
          this.#active.delete(record.task.id);
          this.#options.runSlots.leave(runId);
          slots.settle(key, fence, next.task.status.state === "TASK_STATE_INPUT_REQUIRED" ? "asked" : "ended");
        },
      }),
    };
    const task = { id: record.task.id, caller: record.caller };
    const applied = await writer.apply(task, event, options);
    if (applied.kind !== "refused" || applied.why !== "too large") return;
    const message = "The task is over the limit of 4 MiB, files aside";
    await writer.apply(task, { kind: "failed", runId, message, usage: result.usage }, options);
  }

  async #commitFile(record: TaskRecord, artifact: ArtifactJson): Promise<ToolResult> {
    const { runId, fence } = record.run!;
    const task = { id: record.task.id, caller: record.caller };
    const event = { kind: "file sent" as const, runId, artifact };
    const applied = await this.#options.writer.apply(task, event, {
      whenFull: "retry",
      wake: this.#active.get(task.id)?.signal,
      how: () => ({ as: fence }),
    });
    if (applied.kind === "changed") return { kind: "done" };
    const isTooLarge = applied.kind === "refused" && applied.why === "too large";
    return { kind: "refused", why: isTooLarge ? "the task holds too much already" : "the task is over" };
  }

  /** What ending a task from outside does to its context, depending on where its run stands. */
  #howToEnd(next: TaskRecord, before: TaskRecord): CommitOptions {
    const { slots, runSlots } = this.#options;
    const key = keyOf(next);
    const { id } = next.task;
    const { run } = before;
    if (run === null) return { onDurable: () => slots.closeQuestion(key, id) };
    if (this.#active.has(id)) return { onDurable: () => slots.abort(key, run.fence) };
    if (!slots.holds(key, run.fence)) return {};
    return { // queued here: no engine is at work
      release: slots.lease(key),
      onDurable: () => {
        slots.settle(key, run.fence, "ended");
        runSlots.leave(run.runId);
        this.pump();
      },
    };
  }

  async #followWaiting(waiting: Waiting): Promise<void> {
    const { record, stop } = waiting;
    const { runId, fence } = record.run!;
    const items = await this.#options.store.follow(record.task.id, record.caller, stop.signal);
    for await (const item of items ?? []) {
      if (item.kind !== "record") continue;
      const { run } = item.record;
      if (run?.runId !== runId || run.fence !== fence) return await this.#leaveQueue(waiting);
    }
  }

  /** A queued run is over, or another host has it: its place and its context are free. Nothing when they are already. */
  async #leaveQueue(waiting: Waiting): Promise<void> {
    const { slots, runSlots } = this.#options;
    const { record, stop } = waiting;
    stop.abort();
    if (this.#waiting.get(record.task.id) === waiting) this.#waiting.delete(record.task.id);
    runSlots.leave(record.run!.runId);
    await slots.giveUp(keyOf(record), record.run!.fence);
    this.pump();
  }

  async #pump(): Promise<void> {
    const { store, slots, runSlots } = this.#options;
    try {
      while (this.#pumpAgain && !this.#stopped) {
        this.#pumpAgain = false;
        if (runSlots.queued === 0) continue;
        const here = (await store.queued(candidatesMax)).filter((record) =>
          slots.holds(keyOf(record), record.run!.fence)
        );
        const granted = runSlots.grant(here);
        if (granted === undefined) continue;
        await this.#start(granted);
        this.#pumpAgain = true;
      }
    } finally {
      this.#isPumping = false;
    }
  }

  async #start(record: TaskRecord): Promise<void> {
    const { writer, clock, runSlots, limits } = this.#options;
    const { runId, fence } = record.run!;
    const deadline = runDeadline(limits, record.caller, clock.now());
    const task = { id: record.task.id, caller: record.caller };
    const applied = await writer.apply(task, { kind: "started", runId, deadline }, {
      whenFull: "retry",
      wake: this.#waiting.get(task.id)?.stop.signal,
      how: () => ({ as: fence }),
      afterwards: (next) => Promise.resolve(this.begin(next)),
    });
    if (applied.kind !== "changed") runSlots.leave(runId);
  }

  async #endAtDeadline(record: TaskRecord, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const { deadline, startedAt, runId } = record.run!;
    if (deadline === null) return;
    try {
      await clock.sleep(Math.max(0, deadline - clock.now()), signal);
    } catch {
      return; // the run ended in time
    }
    await this.#endLater(record, { kind: "deadline passed", runId, limit: durationWords(deadline - startedAt!) });
  }

  /** Another replica may end the task: the run here then stops. */
  async #followOthers(active: ActiveRun, record: TaskRecord, signal: AbortSignal): Promise<void> {
    const { store, slots } = this.#options;
    const items = await store.follow(record.task.id, record.caller, signal);
    for await (const item of items ?? []) {
      if (item.kind !== "record" || item.record.run?.runId === active.runId) continue;
      if (this.#active.get(record.task.id) !== active) return;
      slots.abort(keyOf(record), record.run!.fence);
      return active.abort("ended elsewhere");
    }
  }

  async #endLater(record: TaskRecord, event: TaskEvent): Promise<void> {
    if (!this.isActive(record)) return; // it ended by itself
    await this.end({ id: record.task.id, caller: record.caller }, event, "retry");
  }

  /** Keeps what was started until it is done. A failure of it is a bug, and is logged: the host goes on. */
  #own(what: string, work: Promise<void>): Promise<void> {
    const owned = work.catch((error) => logger.error("A bug ended {what}: {error}", { what, error }));
    this.#working.add(owned);
    owned.finally(() => this.#working.delete(owned));
    return owned;
  }

  #gauge(): void {
    const { counters, runSlots } = this.#options;
    counters.set("runs.running", runSlots.running);
    counters.set("runs.queued", runSlots.queued);
  }
}

/** A run that waits for a run slot, and what ends following it. */
interface Waiting {
  readonly record: TaskRecord;
  readonly stop: AbortController;
}

function keyOf(record: TaskRecord): ContextKey {
  return { caller: record.caller, contextId: record.task.contextId };
}
