import { getLogger } from "@logtape/logtape";
import type { Counters } from "@/counters.ts";
import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { Random } from "@/random.ts";
import type { Clock } from "@/time/clock.ts";
import { bringsContent, type Moment, nextTask, type TaskEvent } from "./lifecycle.ts";
import type { TaskRecord } from "./task_record.ts";
import {
  type CommitOptions,
  type Created,
  type CreateOptions,
  RecordTooLarge,
  StorageFull,
  type TaskStore,
} from "./task_store.ts";
import { Mailboxes } from "./mailboxes.ts";
import type { RefusalReason } from "./refusal.ts";

const logger = getLogger(["a2a", "server", "runs"]);

const retryMsMin = 100;
const retryMsMax = 30_000;

/** What came of an event. `record` is the task as it stands now. */
export type Applied =
  | { readonly kind: "changed"; readonly record: TaskRecord }
  | { readonly kind: "unchanged"; readonly record: TaskRecord }
  | { readonly kind: "refused"; readonly why: RefusalReason }
  /** The event is late or not this run's: nothing happened. */
  | { readonly kind: "dropped" };

/** An event that is made in the mailbox, from the record as it stands there; undefined when it is out of date by then. */
export type EventMaker = (record: TaskRecord) => TaskEvent | undefined;

/** How an event is applied. */
export interface ApplyOptions {
  /** How `next` is committed, asked in the mailbox: what holds then holds until it is durable. */
  readonly how?: (next: TaskRecord, before: TaskRecord) => CommitOptions;
  /** Runs as the end of the mailbox item, before the next item. */
  readonly afterwards?: (record: TaskRecord) => Promise<void>;
  /**
   * What a full disk does: `refuse` for what was not accepted yet, `retry` for what was: until it works, for as long as
   * the host lives (state-machines.md 0.8).
   */
  readonly whenFull: "refuse" | "retry";
  /** Ends the wait before the next try, once: something happened to the run, so that its event may be out of date. */
  readonly wake?: AbortSignal;
}

/**
 * The only writer of tasks in a host: an event is an item in the task's mailbox, which is read, decided, committed and
 * only then shown (state-machines.md 0).
 */
export class TaskWriter {
  readonly #options: TaskWriterOptions;
  readonly #mailboxes = new Mailboxes();
  readonly #stop = new AbortController();
  readonly #moment: Moment;

  constructor(options: TaskWriterOptions) {
    this.#options = options;
    const { clock, random } = options;
    this.#moment = {
      get now() {
        return clock.now();
      },
      newId: () => random.uuid(),
    };
  }

  /** Time and ids for what is decided now. */
  get moment(): Moment {
    return this.#moment;
  }

  /** Stores a new task; what the store throws goes on. */
  async create(record: TaskRecord, options?: CreateOptions): Promise<Created> {
    const { store, counters, onCommitted } = this.#options;
    const created = await store.create(record, options);
    if (created.kind !== "created") return created;
    counters.add("tasks.created");
    if (record.task.status.state === "TASK_STATE_FAILED") counters.add("tasks.settled.failed");
    onCommitted?.(record);
    return created;
  }

  /**
   * Applies an event to a task of a caller, when its turn in the mailbox comes.
   *
   * What a full disk holds up waits outside the mailbox: a cancel meanwhile is answered at once, and when there is room
   * again the first to try wins.
   */
  async apply(
    task: { readonly id: TaskId; readonly caller: CallerName },
    event: TaskEvent | EventMaker,
    options: ApplyOptions,
  ): Promise<Applied> {
    const { clock, counters } = this.#options;
    const stop = this.#stop.signal;
    for (let failures = 0;;) {
      try {
        return await this.#mailboxes.post(task.id, () => this.#item(task, event, options));
      } catch (error) {
        if (error instanceof RecordTooLarge) return { kind: "refused", why: "too large" };
        if (!(error instanceof StorageFull)) throw error;
        if (options.whenFull === "refuse" || stop.aborted) return { kind: "refused", why: "storage full" };
        if (failures === 0) logger.error("Cannot store a task, trying until it works: {error}", { error: error.cause });
        counters.add("commit.retries");
        const { wake } = options;
        const signal = wake === undefined || wake.aborted ? stop : AbortSignal.any([stop, wake]);
        await clock.sleep(Math.min(retryMsMax, retryMsMin * 2 ** failures++), signal).catch(() => {});
      }
    }
  }

  /** Does `item` in the mailbox of a task: nothing here changes the task meanwhile. */
  async inMailbox<T>(id: TaskId, item: () => Promise<T>): Promise<T> {
    return await this.#mailboxes.post(id, item);
  }

  /** Ends the retries of a host that stops: what a full disk still holds up was tried once more, and is refused. */
  stop(): void {
    this.#stop.abort();
  }

  /** Resolves when no task is being changed. */
  async idle(): Promise<void> {
    await this.#mailboxes.empty();
  }

  async #item(
    task: { readonly id: TaskId; readonly caller: CallerName },
    event: TaskEvent | EventMaker,
    options: ApplyOptions,
  ): Promise<Applied> {
    let applied: Applied | "stale";
    do applied = await this.#applyOnce(task, event, options); while (applied === "stale");
    if (applied.kind === "changed") await options.afterwards?.(applied.record);
    return applied;
  }

  async #applyOnce(
    task: { readonly id: TaskId; readonly caller: CallerName },
    given: TaskEvent | EventMaker,
    options: ApplyOptions,
  ): Promise<Applied | "stale"> {
    const { store } = this.#options;
    const record = await store.read(task.id, task.caller);
    if (record === undefined) return { kind: "refused", why: "not found" };
    const event = typeof given === "function" ? given(record) : given;
    if (event === undefined) return { kind: "dropped" };
    const decision = nextTask(record, event, this.#moment);
    switch (decision.kind) {
      case "refused":
        return { kind: "refused", why: decision.why === "busy" ? "context busy" : decision.why };
      case "unchanged":
        return { kind: "unchanged", record };
      case "dropped":
        return this.#drop(task.id, event, decision.why);
      case "changed": {
        const next = decision.record;
        const how = { ...options.how?.(next, record), bringsContent: bringsContent(event) };
        const outcome = await store.commit(record.rev, next, how);
        if (outcome === "stale") return "stale";
        if (outcome === "fenced") return this.#drop(task.id, event, "fenced");
        this.#committed(next, record);
        return { kind: "changed", record: next };
      }
      default:
        return decision satisfies never;
    }
  }

  #drop(taskId: TaskId, event: TaskEvent, why: string): Applied {
    this.#options.counters.add("events.dropped");
    logger.debug('Dropped "{event}" for task {taskId}: {why}', { event: event.kind, taskId, why });
    return { kind: "dropped" };
  }

  #committed(record: TaskRecord, before: TaskRecord): void {
    const { counters, onCommitted } = this.#options;
    const { state } = record.task.status;
    if (state !== before.task.status.state) { // a later commit that leaves it is no second end
      if (state === "TASK_STATE_INPUT_REQUIRED") counters.add("tasks.asked");
      if (state === "TASK_STATE_COMPLETED") counters.add("tasks.settled.completed");
      if (state === "TASK_STATE_FAILED") counters.add("tasks.settled.failed");
      if (state === "TASK_STATE_CANCELED") counters.add("tasks.settled.canceled");
    }
    onCommitted?.(record, before);
  }
}

/** What the writer works with. */
export interface TaskWriterOptions {
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly counters: Counters;
  /** Told after each commit, behind all who follow the task; of a new task without `before`. Must not throw. */
  readonly onCommitted?: (record: TaskRecord, before?: TaskRecord) => void;
}
