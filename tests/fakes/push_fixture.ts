import { createCommitGate } from "@tests/fakes/commit_gate.ts";
import { MemoryTaskStore } from "@tests/fakes/memory_task_store.ts";
import { ann, sampleTask } from "@tests/fakes/sample_tasks.ts";
import { createScriptedOutbound } from "@tests/fakes/scripted_outbound.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { createTestRandom } from "@tests/fakes/test_random.ts";
import { Counters } from "@/counters.ts";
import type { CallerName, TaskId } from "@/protocol/ids.ts";
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
  readonly state?: Partial<PushState>;
}

/** A push queue over a store in memory, a clock that stands still and a scripted door. */
export function makePushes(given: Partial<PushQueueOptions> = {}) {
  const clock = createTestClock();
  const gate = createCommitGate();
  const store = new MemoryTaskStore({ clock, beforeCommit: gate.beforeCommit });
  const outbound = createScriptedOutbound(clock);
  const counters = new Counters();
  const random = createTestRandom();
  const reports: PushReport[] = [];
  const standings = new Map<CallerName, Standing>();
  const queues: PushQueue[] = [];
  const writer = new TaskWriter({
    ...{ store, clock, random, counters },
    onCommitted: (record) => queues.forEach((queue) => queue.wake(record)),
  });
  const taskOf = (record: TaskRecord) => ({ id: record.task.id, caller: record.caller });
  const fixture = {
    ...{ clock, gate, store, outbound, counters, reports, standings, writer },
    /** Starts a queue; the first one is `open`'s. */
    start(more: Partial<PushQueueOptions> = {}): PushQueue {
      const queue = new PushQueue({
        ...{ store, writer, outbound, clock, random, counters, perMinuteMax: 60 },
        keysOf: () => Promise.resolve([]),
        standingOf: (caller) => standings.get(caller) ?? "active",
        onSent: (report) => void reports.push(report),
        ...given,
        ...more,
      });
      queues.push(queue);
      return queue;
    },
    /** Stores a task that works, with webhooks that are owed it. */
    async make({ n = 1, caller = ann, webhooks = ["w"], host, state }: MadePushTask = {}): Promise<TaskRecord> {
      const record = sampleTask({ n, caller, working: true, now: clock.now(), pushes: webhooks });
      const pushes = webhooks.map((id) => {
        const target = { id, url: hookUrl(id, host), token: `token of ${id}` };
        return { ...newPush(target, { acked: 0, now: clock.now() }), ...state };
      });
      await writer.create({ ...record, pushes });
      await clock.settle();
      return await fixture.record(record.task.id, caller);
    },
    async record(id: TaskId, caller: CallerName = ann): Promise<TaskRecord> {
      const record = await store.read(id, caller);
      if (record === undefined) throw new Error(`There is no task ${id}`);
      return record;
    },
    /** Applies an event, as a run or a caller would. */
    async apply(record: TaskRecord, event: TaskEvent): Promise<TaskRecord> {
      const applied = await writer.apply(taskOf(record), event, { whenFull: "retry" });
      await clock.settle();
      if (applied.kind !== "changed") throw new Error(`Cannot apply ${event.kind}: ${JSON.stringify(applied)}`);
      return applied.record;
    },
    async answer(record: TaskRecord, text = "Done"): Promise<TaskRecord> {
      const { runId } = record.run!;
      return await fixture.apply(record, { kind: "answered", runId, text, truncated: false, files: 0 });
    },
    /** What was sent: the webhook and the number of the status. */
    get sent(): string[] {
      return outbound.requests.map(({ url, body }) => {
        const { task } = JSON.parse(new TextDecoder().decode(body as Uint8Array));
        return `${new URL(url).pathname.slice(1)} ${task.metadata["volcanic.seq"]}`;
      });
    },
    async webhook(record: TaskRecord, id = "w"): Promise<PushState> {
      const { pushes } = await fixture.record(record.task.id, record.caller);
      return pushes.find(({ target }) => target.id === id)!;
    },
    async [Symbol.asyncDispose]() {
      writer.stop();
      const closing = queues.map((queue) => queue[Symbol.asyncDispose]());
      await clock.advance(3_000);
      await Promise.all(closing);
      await store[Symbol.asyncDispose]();
    },
  };
  return fixture;
}

/** The same with a queue that is started. */
export async function openPushes(given: Partial<PushQueueOptions> = {}) {
  const fixture = makePushes(given);
  const queue = fixture.start();
  await fixture.clock.settle();
  return Object.assign(fixture, { queue });
}
