import type { Counters } from "@/counters.ts";
import type { EngineEvent } from "@/engine/engine.ts";
import type { CallerName, TaskId } from "@/protocol/ids.ts";
import { isTerminal, type StreamJson, type TaskJson } from "@/protocol/task.ts";
import type { Random } from "@/random.ts";
import type { SessionPool } from "@/sessions/session_pool.ts";
import { dedupeName } from "@/server/tasks/index_entry.ts";
import { newTask } from "@/server/tasks/lifecycle.ts";
import { sentBefore } from "@/server/tasks/sent_before.ts";
import { taskEvents } from "@/server/tasks/task_events.ts";
import type { RunId, RunState, TaskRecord } from "@/server/tasks/task_record.ts";
import {
  type ContextKey,
  type Created,
  type Lease,
  RecordTooLarge,
  type TaskStore,
} from "@/server/tasks/task_store.ts";
import { Turns } from "@/server/tasks/turns.ts";
import type { Clock } from "@/time/clock.ts";
import { unlessAborted } from "@/time/unless_aborted.ts";
import { acceptTask } from "./accepted_task.ts";
import type { CallerTurnOptions } from "./caller_turn.ts";
import { ContextSlots } from "./context_slots.ts";
import { followTask } from "./followed_task.ts";
import { InputFiles, type StoredInput } from "./input_files.ts";
import { type RefusalReason, type Refused, refused } from "@/server/tasks/refusal.ts";
import { Retention } from "./retention.ts";
import { runDeadline, type RunLimits } from "./run_limits.ts";
import { Runner } from "./runner.ts";
import { RunSlots } from "./run_slots.ts";
import type { Accepted, Submission } from "./submission.ts";
import { Sweeper } from "./sweeper.ts";
import { TurnLimits } from "./turn_limits.ts";
import type { TaskWriter } from "@/server/tasks/task_writer.ts";
import type { WebhookPlaces } from "@/server/tasks/webhook_places.ts";

/** What the service works with, and who hears of it. */
export interface RunServiceOptions extends Omit<CallerTurnOptions, "fileBytesMax"> {
  readonly store: TaskStore;
  /** Who else changes tasks of the store does it through this one, too: a task has one mailbox. */
  readonly writer: TaskWriter;
  /** Where the webhooks that come with messages find room. */
  readonly webhookPlaces: Pick<WebhookPlaces, "take">;
  readonly sessions: Pick<SessionPool, "turn" | "kill" | "closeCaller" | "removeTranscript">;
  readonly clock: Clock;
  readonly random: Random;
  readonly counters: Counters;
  readonly limits: RunLimits;
  /** Shows the owner what a run does. Must not throw. */
  readonly observe?: (record: TaskRecord, event: EngineEvent) => void;
}

/**
 * Message in, task out: the only writer of task state in a host (product.md §5.5).
 *
 * Callers are authenticated and input is checked before it. Ending a request never ends a run: only `cancel`, `expel`,
 * the limits and `drain` do.
 */
export class RunService implements AsyncDisposable {
  readonly #options: RunServiceOptions;
  readonly #writer: TaskWriter;
  readonly #slots: ContextSlots;
  readonly #runSlots: RunSlots;
  readonly #turnLimits: TurnLimits;
  readonly #runner: Runner;
  readonly #retention: Retention;
  readonly #sweeper: Sweeper;
  readonly #inputs: InputFiles;
  readonly #keyTurns = new Turns();
  readonly #draining = new AbortController();
  readonly #submitting = new Map<Promise<unknown>, CallerName>();
  #drained: Promise<void> | undefined;

  constructor(options: RunServiceOptions) {
    this.#options = options;
    const { limits, clock, store } = options;
    this.#writer = options.writer;
    this.#slots = new ContextSlots({ store, clock, onLost: (taskId) => this.#runner.lost(taskId) });
    this.#runSlots = new RunSlots(limits);
    this.#turnLimits = new TurnLimits(options);
    this.#inputs = new InputFiles({ ...options, fileBytesMax: limits.fileBytesMax });
    const turn = { ...options, fileBytesMax: limits.fileBytesMax };
    const parts = { writer: this.#writer, slots: this.#slots, runSlots: this.#runSlots };
    this.#runner = new Runner({ ...options, ...parts, turn });
    const isSending = (caller: CallerName) => [...this.#submitting.values()].includes(caller);
    this.#retention = new Retention({ ...options, ...limits, inputs: this.#inputs, isSending });
    this.#sweeper = new Sweeper({ ...options, ...parts, ...limits, runner: this.#runner, retention: this.#retention });
  }

  /**
   * Accepts a message: resolves when its task, or the continuation, is durable, before the engine runs. Everything that can
   * be refused is refused here, and leaves no trace.
   */
  async submit(submission: Submission): Promise<Accepted | Refused> {
    if (this.#drained !== undefined) return this.#refuse("shutting down");
    const work = submission.dedupe === undefined ? this.#take(submission) : this.#takeOnce(submission);
    this.#submitting.set(work, submission.caller);
    try {
      return await work;
    } finally {
      this.#submitting.delete(work);
    }
  }

  /** Commits `canceled` first, then stops the engine; resolves after the commit. Idempotent. */
  async cancel(
    id: TaskId,
    caller: CallerName,
  ): Promise<{ readonly kind: "canceled"; readonly task: TaskJson } | Refused> {
    const applied = await this.#runner.cancel({ id, caller });
    if (applied.kind === "refused") return refused(applied.why);
    if (applied.kind === "dropped") return refused("not cancelable");
    return { kind: "canceled", task: applied.record.task };
  }

  /** The task now, then what follows, until it is terminal; open while it waits for its caller. Refused on terminal. */
  async follow(
    id: TaskId,
    caller: CallerName,
    signal: AbortSignal,
  ): Promise<{ readonly kind: "events"; readonly events: AsyncIterableIterator<StreamJson> } | Refused> {
    const followed = await followTask(this.#options.store, { id, caller }, signal);
    if (followed === undefined) return refused("not found");
    const { record, items } = followed;
    if (!isTerminal(record.task.status.state)) return { kind: "events", events: taskEvents(items, "terminal") };
    await items.return?.();
    return refused("terminal");
  }

  /**
   * Ends the work of a caller that was removed from a well-formed `callers.json` (T15), what is being accepted just now
   * too. Nothing of the caller may be submitted after it.
   */
  async expel(caller: CallerName): Promise<void> {
    const late = [...this.#submitting].filter(([, from]) => from === caller).map(([work]) => work);
    await this.#endAllOf(caller);
    if (late.length === 0) return;
    await Promise.allSettled(late);
    await this.#endAllOf(caller);
  }

  async #endAllOf(caller: CallerName): Promise<void> {
    for (const record of await this.#options.store.unfinished(caller, Infinity)) {
      await this.#runner.end({ id: record.task.id, caller }, { kind: "caller removed" }, "retry");
    }
    this.#options.sessions.closeCaller(caller);
  }

  /** Looks for what a crash or time left behind (T12, T13, T14, T17). Runs by itself at the start and every minute. */
  async sweep(): Promise<void> {
    await this.#sweeper.sweep();
  }

  /**
   * Takes nothing new and waits up to `graceMs` for what runs; then ends it as a restart would. Queued runs stay queued for
   * the next start. Releases every lease.
   */
  drain(graceMs: number): Promise<void> {
    return this.#drained ??= this.#drain(graceMs);
  }

  /** Drains without grace, if that was not done, and stops everything that goes on by itself. */
  async [Symbol.asyncDispose](): Promise<void> {
    await (this.#drained ?? this.drain(0));
    await this.#slots[Symbol.asyncDispose]();
  }

  async #drain(graceMs: number): Promise<void> {
    this.#runner.stop();
    this.#draining.abort();
    await this.#sweeper[Symbol.asyncDispose]();
    await Promise.allSettled(this.#submitting.keys());
    await this.#runner.settle(graceMs);
    this.#writer.stop(); // what a full disk still holds up is tried once more, and then left to the next start
    await this.#runner.endAll();
    await this.#runner.idle();
    await this.#writer.idle();
    await this.#slots.releaseAll();
  }

  async #take(submission: Submission): Promise<Accepted | Refused> {
    const { taskId } = submission.message;
    return taskId === undefined ? await this.#start(submission) : await this.#continue(submission, taskId);
  }

  /** Of two sends with one dedupe key the second waits until the first is stored or refused. */
  async #takeOnce(submission: Submission): Promise<Accepted | Refused> {
    const name = dedupeName(submission.caller, submission.dedupe!);
    return await this.#keyTurns.take(name, () => this.#duplicateOrTake(submission));
  }

  async #duplicateOrTake(submission: Submission): Promise<Accepted | Refused> {
    const { caller, dedupe, message } = submission;
    if (message.taskId !== undefined) return await this.#take(submission);
    const duplicate = await unlessAborted(this.#options.store.duplicateOf(caller, dedupe!), this.#draining.signal);
    if (this.#drained !== undefined) return this.#refuse("shutting down"); // the index of a whole folder may take long
    return duplicate === undefined ? await this.#take(submission) : await this.#answerAgain(duplicate, caller);
  }

  async #answerAgain(duplicate: Exclude<Created, { kind: "created" | "full" }>, caller: CallerName) {
    if (duplicate.kind === "conflict") return this.#refuse("id reused");
    return await this.#accept({ id: duplicate.taskId, caller });
  }

  async #start(submission: Submission): Promise<Accepted | Refused> {
    const { random, limits, webhookPlaces } = this.#options;
    const { caller, push } = submission;
    using place = push && webhookPlaces.take(caller);
    if (push !== undefined && place === undefined) return this.#refuse("too many active webhooks");
    const task = { id: random.uuid() as TaskId, caller };
    const contextId = submission.message.contextId ?? random.uuid();
    if (submission.hops > limits.hopsMax) return await this.#createFailed(submission, { ...task, contextId });
    const entered = await this.#enter({ caller: task.caller, contextId }, task.id, submission);
    if (entered.kind === "refused") return entered;
    const input = await this.#storeInput(submission, task, entered);
    if ("kind" in input) return input;
    const { run } = entered;
    const record = newTask({ ...submission, ...task, contextId, message: input.message, run }, this.#writer.moment);
    const created = await this.#create(record).catch(async (error) => {
      await this.#leave(entered, input);
      throw error;
    });
    if (created.kind !== "created") {
      await this.#leave(entered, input);
      return await this.#notCreated(created, submission.caller);
    }
    return await this.#writer.inMailbox(task.id, () => this.#acceptAndBegin(task, entered));
  }

  /** T1h. */
  async #createFailed(submission: Submission, task: { id: TaskId; caller: CallerName; contextId: string }) {
    const failed =
      `hop limit: the message came over ${submission.hops} agents, the limit is ${this.#options.limits.hopsMax}`;
    const message = this.#inputs.withoutBytes(submission.message);
    const record = newTask({ ...submission, ...task, message, run: null, failed }, this.#writer.moment);
    const created = await this.#create(record);
    if (created.kind !== "created") return await this.#notCreated(created, task.caller);
    return await this.#accept(task);
  }

  async #create(record: TaskRecord): Promise<Created | Refused> {
    try {
      return await this.#writer.create(record, { onPruned: (pruned) => this.#retention.forget(pruned) });
    } catch (error) {
      if (error instanceof RecordTooLarge) return this.#refuse("too large");
      throw error;
    }
  }

  async #notCreated(why: Exclude<Created | Refused, { kind: "created" }>, caller: CallerName) {
    if (why.kind === "refused") return why;
    if (why.kind === "full") return this.#refuse(why.of === "disk" ? "storage full" : "too many tasks");
    return await this.#answerAgain(why, caller);
  }

  async #continue(submission: Submission, id: TaskId): Promise<Accepted | Refused> {
    const { caller } = submission;
    const before = await this.#options.store.read(id, caller);
    if (before === undefined) return this.#refuse("not found");
    const again = submission.dedupe && sentBefore(before, submission.dedupe, this.#options.clock.now());
    if (again === "other") return this.#refuse("id reused");
    if (again === "same") return await this.#accept({ id, caller });
    const hopeless = whyNotContinued(before, submission);
    if (hopeless !== undefined) return this.#refuse(hopeless);
    if (submission.hops > this.#options.limits.hopsMax) return this.#refuse("hop limit");
    const isNew = isNewWebhook(before, submission.push);
    using place = isNew ? this.#options.webhookPlaces.take(caller) : undefined;
    if (isNew && place === undefined) return this.#refuse("too many active webhooks");
    const entered = await this.#enter({ caller, contextId: before.task.contextId }, id, submission);
    if (entered.kind === "refused") return entered;
    const input = await this.#storeInput(submission, { id, caller }, entered);
    if ("kind" in input) return input;
    return await this.#commitContinuation(submission, { entered, input, before });
  }

  async #commitContinuation(
    { hops, dedupe, push }: Submission,
    { entered, input, before }: { entered: Entered; input: StoredInput; before: TaskRecord },
  ): Promise<Accepted | Refused> {
    const task = { id: before.task.id, caller: before.caller };
    const { run, lease } = entered;
    let accepted: Accepted | Refused | undefined;
    const { message } = input;
    const applied = await this.#writer.apply(task, { kind: "message", message, run, hops, dedupe, push }, {
      whenFull: "refuse",
      how: () => ({ as: lease.fence }),
      afterwards: async () => {
        accepted = await this.#acceptAndBegin(task, entered);
      },
    }).catch(async (error) => {
      await this.#leave(entered, input);
      throw error;
    });
    if (applied.kind === "changed" && accepted !== undefined) return accepted;
    await this.#leave(entered, input);
    return this.#refuse(applied.kind === "refused" ? applied.why : "context busy");
  }

  /** Takes the context and a run slot, or a place in the queue, before anything is stored. */
  async #enter(key: ContextKey, taskId: TaskId, { hops }: Pick<Submission, "hops">): Promise<Entered | Refused> {
    const { random, clock, limits } = this.#options;
    const lease = await this.#slots.take(key, taskId);
    if ("kind" in lease) return this.#refuse("context busy");
    const runId = random.uuid() as RunId;
    const place = this.#drained !== undefined
      ? this.#refuse("shutting down")
      : this.#turnLimits.refusal(key, hops) ?? this.#runSlots.enter(runId, key.caller);
    if (typeof place !== "string" || place === "full") {
      await this.#slots.giveUp(key, lease.fence);
      if (place !== "full") return place;
      this.#runner.pump(); // those who wait may run by now: a caller's limit was raised
      return this.#refuse("queue full");
    }
    const now = clock.now();
    const isRunning = place === "running";
    const run: RunState = {
      runId,
      attempt: 1,
      fence: lease.fence,
      queuedAt: now,
      startedAt: isRunning ? now : null,
      deadline: isRunning ? runDeadline(limits, key.caller, now) : null,
    };
    return { kind: "entered", lease, run, hops };
  }

  async #storeInput(submission: Submission, task: { id: TaskId; caller: CallerName }, entered: Entered) {
    try {
      // What was accepted goes on: an answer without files may come when no new task is taken any more.
      const { taskId, parts } = submission.message;
      const bringsMuch = taskId === undefined || parts.some(({ raw, url }) => raw || url);
      const isRoom = !bringsMuch || await this.#options.store.hasRoom();
      const input = isRoom ? await this.#inputs.store(submission.message, task) : "storage full";
      if (input !== "storage full") return input;
    } catch (error) {
      await this.#leave(entered);
      throw error;
    }
    await this.#leave(entered);
    return this.#refuse("storage full");
  }

  /** Gives back what `#enter` took and `#storeInput` wrote. */
  async #leave({ lease, run }: Entered, input?: StoredInput): Promise<void> {
    this.#runSlots.leave(run.runId);
    await this.#slots.giveUp(lease.key, lease.fence);
    if (input !== undefined) await this.#inputs.remove(input.paths);
    this.#runner.pump();
  }

  /** Part of the mailbox item that stored the run, or the first after it: a cancel between the two wins, here or elsewhere. */
  async #acceptAndBegin(task: { id: TaskId; caller: CallerName }, entered: Entered): Promise<Accepted | Refused> {
    this.#turnLimits.count(entered.lease.key, entered.hops);
    const accepted = await this.#accept(task);
    const record = await this.#options.store.read(task.id, task.caller);
    if (record?.run?.fence !== entered.lease.fence) await this.#leave(entered);
    else if (entered.run.startedAt !== null) this.#runner.begin(record);
    else if (record.run.startedAt === null) this.#runner.wait(record);
    // Else it was granted a slot between its commit and here, and is at work.
    return accepted;
  }

  async #accept(task: { id: TaskId; caller: CallerName }): Promise<Accepted | Refused> {
    return await acceptTask(this.#options.store, task) ?? this.#refuse("not found");
  }

  #refuse(why: RefusalReason): Refused {
    const { counters } = this.#options;
    if (why === "context busy") counters.add("runs.refused.busy");
    if (why === "queue full") counters.add("runs.refused.queueFull");
    if (why === "storage full") counters.add("runs.refused.storageFull");
    if (why === "shutting down") counters.add("runs.refused.draining");
    return refused(why);
  }
}

/** What a run has before anything of it is stored: its context, and a run slot or a place in the queue. */
interface Entered {
  readonly kind: "entered";
  readonly lease: Lease;
  readonly run: RunState;
  readonly hops: number;
}

/** Says whether a webhook takes one more place than the task's webhooks have. */
function isNewWebhook({ pushes }: TaskRecord, push: Submission["push"]): boolean {
  return push !== undefined && !pushes.some(({ target, state }) => target.id === push.id && state === "active");
}

/** Why a message for this task needs no context: what its mailbox would say too, as things stand. */
function whyNotContinued({ task }: TaskRecord, { message }: Submission): RefusalReason | undefined {
  if (isTerminal(task.status.state)) return "terminal";
  if (message.contextId !== undefined && message.contextId !== task.contextId) return "wrong context";
  return task.status.state === "TASK_STATE_INPUT_REQUIRED" ? undefined : "context busy";
}
