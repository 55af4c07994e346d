import { deepStrictEqual } from "node:assert/strict";
import { acknowledged, ann, bob, brief, dedupeKey, moment, sampleId, sampleTask } from "@tests/fakes/sample_tasks.ts";
import { type FileStore, openFileStore } from "@tests/fakes/file_store.ts";
import { createSeededRandom, type SeededRandom } from "@tests/fakes/seeded_random.ts";
import type { CallerName, TaskId } from "@/protocol/ids.ts";
import { type State, states } from "@/protocol/task.ts";
import type { TimeMs } from "@/time/clock.ts";
import { nextTask, type TaskEvent } from "./lifecycle.ts";
import { MemoryTaskStore } from "@tests/fakes/memory_task_store.ts";
import type { Fence, RunId, TaskRecord } from "./task_record.ts";
import type { FollowItem, Lease, TaskStore } from "./task_store.ts";

const ttlMs = 60_000;
const storedTasksMax = 60;

/** One of the two stores, and what a test holds of it. Fences differ between them, so each has its own. */
interface Side {
  store: TaskStore;
  readonly leases: Map<string, Lease>;
  readonly followers: Map<TaskId, AsyncIterableIterator<FollowItem>>;
}

/** A step: chosen once, done on both sides. What it gives is compared. */
type Step = (side: Side) => Promise<unknown>;

interface World {
  readonly random: SeededRandom;
  readonly now: () => number;
  /** Tasks that were created so far, removed ones included. */
  made: number;
}

const contexts = ["c1", "c2", "c3", "C3"];
const callers = [ann, bob, "carl" as CallerName];
const leaseName = (caller: CallerName, contextId: string) => `${caller}/${contextId}`;
const bytes = (text: string) => new Blob([text]).stream();

const steps: readonly (readonly [weight: number, make: (world: World) => Step])[] = [
  [14, create],
  [34, event],
  [8, acknowledge],
  [8, read],
  [10, list],
  [6, remove],
  [5, lease],
  [4, renewOrRelease],
  [6, look],
  [4, duePushes],
  [4, blob],
  [4, follow],
  [3, progress],
];

function create({ random, now, ...world }: World): Step {
  const n = world.made;
  const [caller, contextId] = [random.pick(callers), random.pick(contexts)];
  const messageId = `m${random.below(12)}`;
  const until = now() + random.below(3) * ttlMs as TimeMs;
  const dedupe = random.below(3) === 0
    ? dedupeKey({ messageId, contextId: random.pick(["", contextId]), bodyHash: random.pick(["h", "h", "g"]), until })
    : undefined;
  const options = {
    n,
    caller,
    contextId,
    now: now(),
    working: random.below(2) === 0,
    pushes: ["w1", "w2"].slice(random.below(3)),
    text: "x".repeat(random.below(40) === 0 ? 270_000 : 5),
    ...(dedupe && { dedupe }),
    ...(random.below(8) === 0 && { failed: "hop limit" }),
  };
  return async ({ store, leases }) => {
    const fence = leases.get(leaseName(caller, contextId))?.fence ?? 0;
    const seen: string[] = [];
    return [
      await store.create(sampleTask({ ...options, fence }), { onDurable: () => void seen.push("durable") }),
      seen,
    ];
  };
}

function event({ random, now, made }: World): Step {
  const id = sampleId(random.below(made));
  const caller = random.pick(callers);
  const at = now();
  const texts = { text: random.pick(["", "Hello"]), question: "Which?", files: random.below(2) };
  const isOwn = random.below(2) === 0;
  const releases = random.below(2) === 0;
  const kind = random.below(11);
  const skew = random.below(15) === 0 ? 1 : 0;
  return async ({ store, leases }) => {
    const record = await store.read(id, caller);
    if (record === undefined) return "nothing to change";
    const lease = leases.get(leaseName(caller, record.task.contextId));
    const decision = nextTask(record, chosen(record, kind, texts), moment(at));
    if (decision.kind !== "changed") return decision;
    const as = isOwn ? lease?.fence ?? -1 as Fence : undefined;
    const release = releases ? lease : undefined;
    const outcome = await store.commit(record.rev - skew as TaskRecord["rev"], decision.record, { as, release })
      .catch((error) => error.name);
    if (outcome === "committed" && release) leases.delete(leaseName(caller, record.task.contextId));
    return outcome;
  };
}

function chosen(record: TaskRecord, kind: number, texts: { text: string; question: string; files: number }): TaskEvent {
  const runId = record.run?.runId ?? "none" as RunId;
  const run = { ...sampleTask({ now: record.createdAt }).run!, runId: `r${record.rev}` as RunId };
  const message = { messageId: `m${record.rev}`, role: "ROLE_USER" as const, parts: [{ text: "More" }] };
  const events: readonly TaskEvent[] = [
    { kind: "started", runId, deadline: null },
    { kind: "asked", runId, ...texts, usage: { inputTokens: 1, outputTokens: 2 } },
    { kind: "answered", runId, truncated: false, ...texts },
    { kind: "failed", runId, message: "no" },
    { kind: "cancel asked", text: texts.text },
    { kind: "message", message, run },
    { kind: "message", message, run: { ...run, startedAt: record.createdAt } },
    { kind: "file sent", runId, artifact: { artifactId: `f${record.rev}`, parts: [{ text: "f" }] } },
    { kind: "caller removed" },
    { kind: "host lost" },
    { kind: "no answer came" },
  ];
  return events[kind]!;
}

function acknowledge({ random, made }: World): Step {
  const [id, caller, config] = [sampleId(random.below(made)), random.pick(callers), random.pick(["w1", "w2"])];
  return async ({ store }) => {
    const record = await store.read(id, caller);
    return record && await store.commit(record.rev, acknowledged(record, config));
  };
}

function read({ random, made }: World): Step {
  const [id, caller] = [sampleId(random.below(made + 2)), random.pick(callers)];
  return async ({ store }) => await store.read(id, caller);
}

function list({ random, now }: World): Step {
  const query = {
    caller: random.pick(callers),
    ...(random.below(2) === 0 && { contextId: random.pick(contexts) }),
    ...(random.below(2) === 0 && { state: random.pick(states) as State }),
    ...(random.below(3) === 0 && { since: now() - random.below(200_000) as TimeMs }),
    pageSize: random.pick([1, 3, 100]),
  };
  return async ({ store }) => {
    const pages: unknown[] = [];
    for (let pageToken = ""; pages.length === 0 || pageToken !== "";) {
      const page = await store.list({ ...query, pageToken });
      pages.push(page);
      if (page.kind !== "page") break;
      pageToken = page.next;
    }
    return pages;
  };
}

function remove({ random, made }: World): Step {
  const [id, caller] = [sampleId(random.below(made)), random.pick(callers)];
  return async ({ store }) => {
    const record = await store.read(id, caller);
    return record && await store.remove(id, record.rev);
  };
}

function lease({ random, made }: World): Step {
  const key = { caller: random.pick(callers), contextId: random.pick(contexts) };
  const id = sampleId(random.below(made));
  return async ({ store, leases }) => {
    const taken = await store.lease(key, id, ttlMs);
    if ("kind" in taken) return taken;
    leases.set(leaseName(key.caller, key.contextId), taken);
    return "taken";
  };
}

function renewOrRelease({ random }: World): Step {
  const name = leaseName(random.pick(callers), random.pick(contexts));
  const releases = random.below(2) === 0;
  return async ({ store, leases }) => {
    const held = leases.get(name);
    if (held === undefined) return "not held";
    if (releases) {
      leases.delete(name);
      return await store.release(held);
    }
    const renewed = await store.renew(held, ttlMs);
    if (renewed === "lost") leases.delete(name);
    else leases.set(name, renewed);
    return typeof renewed;
  };
}

function look({ random, now }: World): Step {
  const before = now() - random.below(100_000) as TimeMs;
  const [caller, limit] = [random.pick(callers), random.pick([2, 99])];
  return async ({ store }) => [
    await store.abandoned(limit),
    await store.queued(limit),
    await store.aged("waiting", before, 99),
    await store.aged("terminal", before, 99),
    await store.unfinished(caller, limit),
    await store.duplicateOf(caller, dedupeKey({ messageId: `m${limit}` })),
  ];
}

function duePushes({ random, now }: World): Step {
  const [at, limit] = [now() as TimeMs, random.pick([1, 99])];
  return async ({ store }) => await store.duePushes({ now: at, limit, leaseMs: 1000 });
}

function blob({ random, made }: World): Step {
  const [id, caller] = [sampleId(random.below(made)), random.pick(callers)];
  const text = "y".repeat(random.below(40));
  return async ({ store }) => {
    if (await store.read(id, caller) === undefined) return "no task";
    const ref = await store.putBlob(id, bytes(text), 30);
    return ref === "too large" ? ref : [ref, await new Response(await store.openBlob(id, ref)).text()];
  };
}

function follow({ random, made }: World): Step {
  const [id, caller] = [sampleId(random.below(made)), random.pick(callers)];
  return async ({ store, followers }) => {
    if (followers.has(id)) return "followed";
    const items = await store.follow(id, caller, new AbortController().signal);
    if (items === undefined) return "nothing to follow";
    followers.set(id, items);
    return brief((await items.next()).value);
  };
}

function progress({ random, made }: World): Step {
  const [id, caller, text] = [sampleId(random.below(made)), random.pick(callers), `t${random.below(100)}`];
  return async ({ store }) => {
    const record = await store.read(id, caller);
    const note = { taskId: id, artifactId: "response", from: 0, text };
    if (record?.run) store.progress(note, record.run.fence);
    return record?.run !== null;
  };
}

/** What a step gave, without what may differ: fences. */
function comparable(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (name, inside) => name === "fence" ? 0 : inside) ?? "null");
}

/** Ends all followers that both sides hold and gives what each has seen since its first item. */
async function drained(side: Side): Promise<unknown> {
  const seen: Record<string, string[]> = {};
  await side.store[Symbol.asyncDispose]();
  for (const [id, items] of side.followers) {
    const got = seen[id] = [] as string[];
    for await (const item of items) got.push(brief(item));
  }
  side.followers.clear();
  return seen;
}

async function choose(world: World): Promise<Step> {
  let place = world.random.below(steps.reduce((sum, [weight]) => sum + weight, 0));
  const [, make] = steps.find(([weight]) => (place -= weight) < 0)!;
  const step = make(world);
  if (make === create) world.made++;
  return await Promise.resolve(step);
}

/** Both sides forget what a process forgets: leases, claims, followers. */
async function reopen(file: FileStore, sides: readonly Side[]): Promise<void> {
  for (const side of sides) {
    for (const held of side.leases.values()) await side.store.release(held);
    side.leases.clear();
    for (const items of side.followers.values()) await items.return?.();
    side.followers.clear();
  }
  await file.clock.advance(ttlMs + 1000);
  const store = await file.reopen();
  sides[1]!.store = store;
  await store.indexed;
}

for (const seed of [1, 2]) {
  Deno.test(`FileTaskStore gives what MemoryTaskStore gives over 2,000 random steps and new starts, by seed ${seed} [DM6 index, DM6 replay]`, async () => {
    await using file = await openFileStore({ storedTasksMax: () => storedTasksMax });
    const memory = new MemoryTaskStore({ clock: file.clock, storedTasksMax });
    const side = (store: TaskStore): Side => ({ store, leases: new Map(), followers: new Map() });
    const sides = [side(memory), side(file.store)];
    const world: World = { random: createSeededRandom(seed), now: () => file.clock.now(), made: 1 };
    for (let count = 0; count < 2000; count++) {
      const chance = world.random.below(100);
      if (chance < 1) await reopen(file, sides);
      else if (chance < 6) await file.clock.advance(world.random.pick([1, 100, 500, 20_000]));
      const step = await choose(world);
      const [expected, got] = await Promise.all(sides.map(async (each) => comparable(await step(each))));
      deepStrictEqual(got, expected, `step ${count}`);
    }
    deepStrictEqual(await drained(sides[1]!), await drained(sides[0]!));
  });
}
