import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { type Crash, createCrashingDisk, type LeftBehind, restore } from "@tests/fakes/crashing_disk.ts";
import { after, ann, answered, sampleId, sampleNow, sampleTask } from "@tests/fakes/sample_tasks.ts";
import { createSeededRandom, type SeededRandom } from "@tests/fakes/seeded_random.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock, type TestClock } from "@tests/fakes/test_clock.ts";
import { Counters } from "@/counters.ts";
import type { TaskId } from "@/protocol/ids.ts";
import type { BlobRef } from "@/protocol/task.ts";
import { eachAtOnce } from "@/time/each_at_once.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk, type Disk } from "@/workspace/disk.ts";
import type { FileTaskStoreOptions } from "./file_store_options.ts";
import { type FileTaskStore, openFileTaskStore } from "./file_task_store.ts";
import type { TaskRecord } from "./task_record.ts";

const disk = createDisk(systemClock);

/** What a store has promised of each task, and all that was ever handed to it. */
class Promises {
  readonly submitted = new Map<TaskId, TaskRecord[]>();
  /** The newest revision that became visible; "gone" for a task whose removal resolved, "going" before it did. */
  #acknowledged = new Map<TaskId, number | "gone" | "going">();

  submit(record: TaskRecord): () => void {
    const { id } = record.task;
    this.submitted.set(id, [...this.submitted.get(id) ?? [], record]);
    return () => this.acknowledge(id, record.rev);
  }

  acknowledge(id: TaskId, what: number | "gone" | "going"): void {
    this.#acknowledged = new Map(this.#acknowledged).set(id, what);
  }

  get acknowledged(): ReadonlyMap<TaskId, number | "gone" | "going"> {
    return this.#acknowledged;
  }
}

interface Moment {
  readonly left: LeftBehind;
  readonly acknowledged: Promises["acknowledged"];
}

function optionsFor(folder: string, more: { disk: Disk; clock: TestClock; epoch?: number }): FileTaskStoreOptions {
  return {
    folder,
    epoch: 1,
    random: createSeededRandom(7),
    counters: new Counters(),
    durability: "disk",
    storedTasksMax: () => 10_000,
    freeBytesMin: 0,
    journalBytesMax: 3000, // rotates often
    ...more,
  };
}

/** Small ones go to the journal, the large one to its own file. */
const text = (random: SeededRandom) => "x".repeat(random.pick([5, 200, 270_000]));
const now = (n: number) => sampleNow + n;

async function createOne({ store, promises, random }: Scene, n: number): Promise<void> {
  const record = sampleTask({ n, working: true, text: text(random), contextId: `c${n}` });
  await store.create(record, { onDurable: promises.submit(record) });
}

/** A file that the run sent: its blob must be there whenever the record names it. */
async function sendFile({ store, promises, random }: Scene, n: number): Promise<void> {
  const record = await store.read(sampleId(n), ann);
  if (!record?.run) return;
  const bytes = new Blob([`blob ${n} ${random.below(1000)}`]).stream();
  const raw = await store.putBlob(record.task.id, bytes, 1000) as BlobRef;
  const artifact = { artifactId: `f${record.rev}`, parts: [{ raw }] };
  const next = after(record, { kind: "file sent", runId: record.run.runId, artifact }, now(n));
  await store.commit(record.rev, next, { onDurable: promises.submit(next) });
}

async function finish({ store, promises, random }: Scene, n: number): Promise<void> {
  const record = await store.read(sampleId(n), ann);
  if (!record?.run) return;
  const next = answered(record, text(random), now(n));
  await store.commit(record.rev, next, { onDurable: promises.submit(next) });
}

async function remove({ store, promises }: Scene, n: number): Promise<void> {
  const record = await store.read(sampleId(n), ann);
  if (record === undefined || record.run !== null) return;
  promises.acknowledge(record.task.id, "going");
  if (await store.remove(record.task.id, record.rev) === "removed") promises.acknowledge(record.task.id, "gone");
}

interface Scene {
  readonly store: FileTaskStore;
  readonly promises: Promises;
  readonly random: SeededRandom;
}

/** Plays random commits, large and small, several at a time, with checkpoints, and gives every moment of a crash. */
async function play(folder: string, options: { seed: number; how: Crash; rounds: number }) {
  const random = createSeededRandom(options.seed);
  const clock = createTestClock();
  const promises = new Promises();
  const moments: Moment[] = [];
  const look = () => void moments.push({ left: crashing.left(options.how), acknowledged: promises.acknowledged });
  const crashing = createCrashingDisk(disk, { root: folder, beforeChange: look });
  const store = await openFileTaskStore(optionsFor(folder, { disk: crashing, clock }));
  const scene = { store, promises, random };
  let made = 0;
  for (let round = 0; round < options.rounds; round++) {
    const acts = Array.from({ length: 1 + random.below(4) }, () => {
      const act = random.pick([createOne, sendFile, sendFile, finish, finish, remove]);
      return act(scene, act === createOne ? ++made : 1 + random.below(made + 1));
    });
    if (random.below(3) === 0) acts.push(store.checkpoint());
    await Promise.all(acts);
  }
  await store[Symbol.asyncDispose]();
  look();
  return { moments, promises };
}

async function check(folder: string, moment: Moment, promises: Promises): Promise<void> {
  await restore(moment.left, folder);
  const clock = createTestClock();
  let first: unknown;
  for (const epoch of [2, 3]) {
    const store = await openFileTaskStore(optionsFor(folder, { disk, clock, epoch }));
    await store.indexed;
    const found = await everything(store, moment, promises);
    first ??= found;
    deepStrictEqual(found, first); // a second start finds the same
    await store[Symbol.asyncDispose]();
  }
  for await (const { name } of Deno.readDir(folder)) ok(!name.endsWith(".tmp") && !name.endsWith(".bad"), name);
}

async function everything(store: FileTaskStore, { acknowledged }: Moment, { submitted }: Promises): Promise<unknown> {
  const found: unknown[] = [];
  for (const [id, records] of submitted) {
    const promised = acknowledged.get(id) ?? 0;
    const record = await store.read(id, ann);
    found.push([id, record?.rev]);
    if (promised === "gone") strictEqual(record, undefined, `removed task ${id} is back`);
    if (typeof promised === "number" && promised > 0) ok(record, `acknowledged task ${id} is lost`);
    if (record === undefined) continue;
    if (typeof promised === "number") ok(record.rev >= promised, `task ${id} fell back to ${record.rev}`);
    deepStrictEqual(record, records.find(({ rev }) => rev === record.rev), `task ${id} was never so`);
    for (const { parts } of record.task.artifacts ?? []) {
      const raw = parts[0]?.raw;
      if (typeof raw === "object") strictEqual((await bytesOf(store, id, raw)).length, raw.bytes);
    }
  }
  const page = await store.list({ caller: ann, pageSize: 100, pageToken: "" });
  strictEqual(page.kind === "page" && page.total, found.filter((one) => (one as unknown[])[1] !== undefined).length);
  return found;
}

async function bytesOf(store: FileTaskStore, id: TaskId, raw: BlobRef): Promise<Uint8Array> {
  return await new Response(await store.openBlob(id, raw)).bytes();
}

/** Every moment of the start that follows a crash: a second crash may come in it. */
async function startAgain(folder: string, { left, acknowledged }: Moment, how: Crash): Promise<Moment[]> {
  const moments: Moment[] = [];
  await restore(left, folder);
  const look = () => void moments.push({ left: crashing.left(how), acknowledged });
  const crashing = createCrashingDisk(disk, { root: folder, beforeChange: look, initial: left });
  const store = await openFileTaskStore(optionsFor(folder, { disk: crashing, clock: createTestClock(), epoch: 2 }));
  await store.indexed;
  await store[Symbol.asyncDispose]();
  look();
  return moments;
}

const crashes = ["kill", "power", "power, removed"] as const;

for (const how of crashes) {
  for (const seed of [1, 2]) {
    Deno.test(`FileTaskStore loses nothing acknowledged by a crash at any point: ${how}, seed ${seed} [SM8 1, SM8 2, SM8 3, SM8 5, DM6 replay, DM6 checkpoint, DM5 blobs]`, async () => {
      await using temp = await makeTempFolder();
      const { moments, promises } = await play(join(temp.path, "tasks"), { seed, how, rounds: 14 });
      ok(moments.length > 100, `${moments.length} moments`);
      await eachAtOnce(moments.entries(), 4, async ([n, moment]) => {
        await check(join(temp.path, `${n}`), moment, promises);
      });
    });
  }
}

for (const how of crashes) {
  Deno.test(`FileTaskStore loses nothing acknowledged by a second crash in the start after the first: ${how} [SM7 recover, DM6 replay]`, async () => {
    await using temp = await makeTempFolder();
    const { moments, promises } = await play(join(temp.path, "tasks"), { seed: 4, how, rounds: 10 });
    const firsts = moments.filter((_, n) => n % 12 === 0);
    await eachAtOnce(firsts.entries(), 4, async ([n, first]) => {
      const seconds = await startAgain(join(temp.path, `${n}`), first, how);
      for (const [m, second] of seconds.entries()) await check(join(temp.path, `${n}-${m}`), second, promises);
    });
  });
}
