import { type BlockableStore, createBlockableStore } from "@tests/fakes/blockable_store.ts";
import { type CommitGate, createCommitGate, stateWord } from "@tests/fakes/commit_gate.ts";
import { createFaultyDisk, type FaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { createScriptedOutbound, type ScriptedOutbound } from "@tests/fakes/scripted_outbound.ts";
import { createScriptedSessions, type ScriptedSessions } from "@tests/fakes/scripted_sessions.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock, type TestClock } from "@tests/fakes/test_clock.ts";
import { createTestRandom } from "@tests/fakes/test_random.ts";
import { Counters } from "@/counters.ts";
import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { PartJson, StreamJson, TaskJson } from "@/protocol/task.ts";
import type { Refused } from "@/server/tasks/refusal.ts";
import type { RunLimits } from "@/server/runs/run_limits.ts";
import { RunService, type RunServiceOptions } from "@/server/runs/run_service.ts";
import type { Accepted, Submission } from "@/server/runs/submission.ts";
import { MemoryTaskStore } from "@tests/fakes/memory_task_store.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import type { TaskStore } from "@/server/tasks/task_store.ts";
import { WebhookPlaces } from "@/server/tasks/webhook_places.ts";
import { Webhooks } from "@/server/push/webhooks.ts";
import { TaskWriter, type TaskWriterOptions } from "@/server/tasks/task_writer.ts";
import { systemClock } from "@/time/clock.ts";
import { callerMap } from "@/workspace/caller_map.ts";
import { createDisk } from "@/workspace/disk.ts";
import { type WorkspacePaths, workspacePaths } from "@/workspace/workspace_paths.ts";

/** Who sends unless a test says otherwise. */
export const alice = "alice" as CallerName;
/** Someone else. */
export const bob = "bob" as CallerName;

/** A message as a test writes it. */
export interface Sent {
  readonly caller?: CallerName;
  readonly contextId?: string;
  readonly taskId?: TaskId;
  readonly messageId?: string;
  readonly parts?: readonly PartJson[];
  readonly hops?: number;
  /** Asks for dedupe, with this hash of the body. */
  readonly dedupe?: string;
  readonly push?: Submission["push"];
}

/** One host: a run service with sessions of its own, and what it sees of the store. */
export interface RunHost {
  readonly runs: RunService;
  readonly sessions: ScriptedSessions;
  readonly view: BlockableStore;
  readonly webhooks: Webhooks;
}

/** A run service over scripted sessions and a store in memory whose commits a test can hold. */
export interface RunFixture extends RunHost, RunDoors, AsyncDisposable {
  readonly clock: TestClock;
  readonly counters: Counters;
  /** The store itself: what is durable. */
  readonly store: TaskStore;
  readonly gate: CommitGate;
  readonly paths: WorkspacePaths;
  readonly disk: FaultyDisk;
  /** What strangers' URLs answer. */
  readonly outbound: ScriptedOutbound;
  readonly limits: RunLimits;
  /** Another host over the same store and clock, disposed of with this, unless its view is blocked. */
  newHost(options?: ServiceOptions): RunHost & RunDoors;
}

/** The short forms of what a test does with a host. */
export interface RunDoors {
  submit(text: string, sent?: Sent): Promise<Accepted | Refused>;
  /** Submits what must be accepted. */
  send(text: string, sent?: Sent): Promise<Accepted>;
  record(id: TaskId, caller?: CallerName): Promise<TaskRecord>;
  /** `working`, `input-required`. */
  state(id: TaskId, caller?: CallerName): Promise<string>;
  cancel(id: TaskId, caller?: CallerName): ReturnType<RunService["cancel"]>;
  /** The events of `follow`, until the task is terminal. */
  follow(id: TaskId, caller?: CallerName, signal?: AbortSignal): Promise<AsyncIterableIterator<StreamJson>>;
}

/** What of a service a test gives itself, and who hears of its commits. */
export type ServiceOptions = Partial<RunServiceOptions> & Pick<TaskWriterOptions, "onCommitted">;

/** How a fixture differs from the plain one. */
export interface RunFixtureOptions {
  readonly limits?: Partial<RunLimits>;
  readonly service?: ServiceOptions;
  readonly storedTasksMax?: number;
  /** False: the disk has less room than the floor. */
  readonly isRoomLeft?: () => boolean;
  /** Stands around the store, as the service sees it. */
  readonly wrap?: (store: TaskStore) => TaskStore;
}

/** The limits of product.md §7. */
export const defaultLimits: RunLimits = {
  hopsMax: 8,
  runsMax: 3,
  queuedMax: 32,
  runMs: 24 * 60 * 60 * 1000,
  inputMs: 30 * 24 * 60 * 60 * 1000,
  keepMs: 30 * 24 * 60 * 60 * 1000,
  fileBytesMax: 1024 * 1024,
  turnsPerContextMax: 60,
  delegatedTurnsMax: 20,
};

/** Makes a service; its first sweep, over nothing, is done. */
export async function makeRuns(options: RunFixtureOptions = {}): Promise<RunFixture> {
  const temp = await makeTempFolder();
  const clock = createTestClock();
  const disk = createFaultyDisk(createDisk(systemClock), clock);
  const gate = createCommitGate();
  const counters = new Counters();
  const paths = workspacePaths(temp.path);
  const memory = new MemoryTaskStore({
    clock,
    beforeCommit: gate.beforeCommit,
    storedTasksMax: options.storedTasksMax,
    isRoomLeft: options.isRoomLeft,
  });
  const store = options.wrap?.(memory) ?? memory;
  const limits = { ...defaultLimits, ...options.limits };
  const random = createTestRandom();
  const outbound = createScriptedOutbound(clock);
  const hosts: RunHost[] = [];
  const newHost: RunFixture["newHost"] = (more = {}) => {
    const sessions = createScriptedSessions();
    const view = createBlockableStore(store);
    const webhookPlaces = new WebhookPlaces({ store: view.store, max: 200 });
    const parts = { store: view.store, sessions, clock, random, counters, limits, disk, paths, outbound };
    const mapOf = (caller: CallerName) => callerMap({ paths, caller, access: "read", hide: [], otherStates: [] });
    const given = { ...parts, mapOf, webhookPlaces, notify: undefined, ...options.service, ...more };
    const writer = new TaskWriter(given);
    const runs = new RunService({ writer, ...given });
    const webhooks = new Webhooks({ ...{ store: view.store, writer, outbound, random }, places: webhookPlaces });
    hosts.push({ runs, sessions, view, webhooks });
    return { runs, sessions, view, webhooks, ...doorsOf(runs, store) };
  };
  const first = newHost();
  await clock.settle();
  return {
    ...{ ...first, clock, counters, store, gate, paths, disk, outbound, limits, newHost },
    async [Symbol.asyncDispose]() {
      const closing = hosts.filter(({ view }) => !view.isBlocked).map(({ runs }) => runs[Symbol.asyncDispose]());
      await clock.advance(6_000); // a turn that ignores its abort is killed after 5 s
      await Promise.all(closing);
      await store[Symbol.asyncDispose]();
      await temp[Symbol.asyncDispose]();
    },
  };
}

function doorsOf(runs: RunService, store: TaskStore): RunDoors {
  const record = async (id: TaskId, caller = alice) => {
    const found = await store.read(id, caller);
    if (found === undefined) throw new Error(`There is no task ${id} of ${caller}`);
    return found;
  };
  const submit: RunDoors["submit"] = (text, sent) => runs.submit(submission(text, sent));
  return {
    record,
    submit,
    async send(text: string, sent: Sent = {}) {
      const answer = await submit(text, sent);
      if (answer.kind === "refused") throw new Error(`Refused: ${answer.why}`);
      return answer;
    },
    state: async (id: TaskId, caller = alice) => stateWord(await record(id, caller)),
    cancel: (id: TaskId, caller = alice) => runs.cancel(id, caller),
    async follow(id: TaskId, caller = alice, signal = new AbortController().signal) {
      const followed = await runs.follow(id, caller, signal);
      if (followed.kind === "refused") throw new Error(`Refused: ${followed.why}`);
      return followed.events;
    },
  };
}

let messages = 0;

/** What `text` is submitted as; each message has an id of its own unless it is given one. */
export function submission(text: string, sent: Sent = {}): Submission {
  const { caller = alice, contextId, taskId, hops = 0, push, dedupe } = sent;
  const messageId = sent.messageId ?? `m${++messages}`;
  const message = {
    messageId,
    role: "ROLE_USER" as const,
    parts: sent.parts ?? [{ text }],
    ...(contextId !== undefined && { contextId }),
    ...(taskId !== undefined && { taskId }),
  };
  const until = Date.parse("2026-10-09T12:00:00.000Z") as NonNullable<Submission["dedupe"]>["until"];
  return {
    caller,
    hops,
    message,
    ...(push && { push }),
    ...(dedupe !== undefined && { dedupe: { messageId, contextId: contextId ?? "", bodyHash: dedupe, until } }),
  };
}

/** All events until the end. */
export async function allOf<T>(events: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** Short: `task working`, `completed`, `response =text`, `response +text` (appended), `… .` (last chunk), `file name`. */
export function briefEvent(event: StreamJson): string {
  if ("task" in event) return `task ${stateWord(event)}`;
  if ("statusUpdate" in event) return stateWord({ task: event.statusUpdate as unknown as TaskJson });
  const { artifact, append, lastChunk } = event.artifactUpdate;
  if (artifact.artifactId !== "response") return `file ${artifact.name}`;
  const text = artifact.parts.map((part) => part.text).join("");
  return `response ${append ? "+" : "="}${text}${lastChunk ? "." : ""}`;
}

/** The events until the end, short. */
export async function briefly(events: AsyncIterable<StreamJson>): Promise<string[]> {
  return (await allOf(events)).map(briefEvent);
}

/** The text of a task's status message. */
export function statusText(task: TaskJson): string | undefined {
  return task.status.message?.parts.map((part) => part.text).join("");
}
