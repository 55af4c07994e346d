import { createCommitGate } from "@tests/fakes/commit_gate.ts";
import { MemoryTaskStore } from "@tests/fakes/memory_task_store.ts";
import { ann, sampleTask } from "@tests/fakes/sample_tasks.ts";
import { createScriptedOutbound, type ScriptedOutbound } from "@tests/fakes/scripted_outbound.ts";
import { createTestClock, type TestClock } from "@tests/fakes/test_clock.ts";
import { createTestRandom } from "@tests/fakes/test_random.ts";
import { Counters } from "@/counters.ts";
import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { Random } from "@/random.ts";
import { PushQueue, type PushQueueOptions, type PushReport, type Standing } from "@/server/push/push_queue.ts";
import type { TaskEvent } from "@/server/tasks/lifecycle.ts";
import { newPush } from "@/server/tasks/push_lifecycle.ts";
import type { PushState, TaskRecord } from "@/server/tasks/task_record.ts";
import { TaskWriter } from "@/server/tasks/task_writer.ts";

/** Where the webhook `id` of a made task leads. */
export const hookUrl = (id: string, host = "hooks.example") => `https://${host}/${id}`;

/** How a made task differs from the plain one: number 1, of ann, working, with the webhook `w`. */
export interface MadePushTask {
  readonly n?: number;
  readonly caller?: CallerName;
  readonly webhooks?: readonly string[];
  /** Of all its webhooks. */
  readonly host?: string;
  /** Where they lead instead, by their ids. */
  readonly urls?: Readonly<Record<string, string>>;
}

/** Absent: of the fixture's own. */
export interface PushFixtureOptions {
  readonly clock?: TestClock;
  readonly door?: PushQueueOptions["outbound"];
}

/** Push queues over a store in memory, a clock that stands still and a scripted door, or another one with its clock. */
export class PushFixture implements AsyncDisposable {
  readonly clock: TestClock;
  readonly gate = createCommitGate();
  readonly store: MemoryTaskStore;
  readonly outbound: ScriptedOutbound;
  readonly #door: PushQueueOptions["outbound"];
  readonly counters = new Counters();
  readonly random: { -readonly [K in keyof Random]: Random[K] } = createTestRandom();
  readonly reports: PushReport[] = [];
  /** Absent: active. */
  readonly standings = new Map<CallerName, Standing>();
  readonly writer: TaskWriter;
  readonly #queues: PushQueue[] = [];
  #committed = Promise.withResolvers<void>();

  constructor({ clock = createTestClock(), door }: PushFixtureOptions = {}) {
    this.clock = clock;
    this.store = new MemoryTaskStore({ clock, beforeCommit: this.gate.beforeCommit });
    this.outbound = createScriptedOutbound(clock);
    this.#door = door ?? this.outbound;
    const { store, random, counters } = this;
    const onCommitted = (record: TaskRecord) => {
      this.#queues.forEach((queue) => queue.wake(record));
      this.#committed.resolve();
      this.#committed = Promise.withResolvers();
    };
    this.writer = new TaskWriter({ store, clock, random, counters, onCommitted });
  }

  /** Starts a queue, as a host does. */
  async start(): Promise<PushQueue> {
    const { store, writer, clock, random, counters } = this;
    const queue = new PushQueue({
      ...{ store, writer, clock, random, counters, outbound: this.#door, perMinuteMax: 60 },
      keysOf: () => Promise.resolve([]),
      standingOf: (caller) => this.standings.get(caller) ?? "active",
      onSent: (report) => void this.reports.push(report),
    });
    this.#queues.push(queue);
    await clock.settle();
    return queue;
  }

  /** Stores a task that works, with webhooks that are owed it. */
  async make(made: MadePushTask = {}): Promise<TaskRecord> {
    const { n = 1, caller = ann, host, urls = {} } = made;
    const webhooks = made.webhooks ?? (made.urls === undefined ? ["w"] : Object.keys(urls));
    const now = this.clock.now();
    const record = sampleTask({ n, caller, working: true, now, pushes: webhooks });
    const pushes = webhooks.map((id) =>
      newPush({ id, url: urls[id] ?? hookUrl(id, host), token: `token of ${id}` }, { acked: 0, now })
    );
    await this.writer.create({ ...record, pushes });
    await this.clock.settle();
    return await this.record(record.task.id, caller);
  }

  async record(id: TaskId, caller: CallerName = ann): Promise<TaskRecord> {
    const record = await this.store.read(id, caller);
    if (record === undefined) throw new Error(`There is no task ${id}`);
    return record;
  }

  /** Applies an event, as a run or a caller would. */
  async apply({ task: { id }, caller }: TaskRecord, event: TaskEvent): Promise<TaskRecord> {
    const applied = await this.writer.apply({ id, caller }, event, { whenFull: "retry" });
    await this.clock.settle();
    if (applied.kind !== "changed") throw new Error(`Cannot apply ${event.kind}: ${JSON.stringify(applied)}`);
    return applied.record;
  }

  /** Waits until something is so; it is looked at after each commit. */
  async until(isSo: () => Promise<boolean>): Promise<void> {
    for (let next = this.#committed.promise; !await isSo(); next = this.#committed.promise) await next;
  }

  async answer(record: TaskRecord): Promise<TaskRecord> {
    const { runId } = record.run!;
    return await this.apply(record, { kind: "answered", runId, text: "Done", truncated: false, files: 0 });
  }

  /** What was sent, in order: the webhook and the number of the status. */
  get sent(): string[] {
    return this.outbound.requests.map(({ url, body }) => {
      const { task } = JSON.parse(new TextDecoder().decode(body as Uint8Array));
      return `${new URL(url).pathname.slice(1)} ${task.metadata["volcanic.seq"]}`;
    });
  }

  async webhook(record: TaskRecord, id = "w"): Promise<PushState> {
    const { pushes } = await this.record(record.task.id, record.caller);
    return pushes.find(({ target }) => target.id === id)!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.writer.stop();
    const closing = this.#queues.map((queue) => queue[Symbol.asyncDispose]());
    await this.clock.advance(3_000);
    await Promise.all(closing);
    await this.store[Symbol.asyncDispose]();
  }
}

/** The same with a queue that is started. */
export async function openPushes(): Promise<PushFixture & { readonly queue: PushQueue }> {
  const fixture = new PushFixture();
  return Object.assign(fixture, { queue: await fixture.start() });
}
