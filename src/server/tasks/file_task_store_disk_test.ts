import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import type { DiskOperation } from "@tests/fakes/faulty_disk.ts";
import { copyFolder, type FileStore, openFileStore } from "@tests/fakes/file_store.ts";
import { after, ann, answered, brief, sampleId, sampleNow, sampleTask } from "@tests/fakes/sample_tasks.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import type { TimeMs } from "@/time/clock.ts";
import type { TaskRecord } from "./task_record.ts";
import { type FollowItem, StorageFull } from "./task_store.ts";

const large = "x".repeat(300_000);
const never = new AbortController().signal;
const query = { caller: ann, pageSize: 100, pageToken: "" };

/** What a start after a crash of this moment reads of a task. */
async function afterCrash(test: FileStore, id: TaskRecord["task"]["id"]): Promise<TaskRecord | undefined> {
  await using temp = await makeTempFolder();
  await copyFolder(test.folder, temp.path);
  await using store = await test.openCopy(temp.path);
  return await store.read(id, ann);
}

function collect(items: AsyncIterableIterator<FollowItem>): { readonly seen: string[]; readonly done: Promise<void> } {
  const seen: string[] = [];
  const done = (async () => {
    for await (const item of items) seen.push(brief(item));
  })();
  return { seen, done };
}

Deno.test("FileTaskStore lets commits that wait for a flush out together [DM6 group-commit, §5.5 durable-before-seen]", async () => {
  await using test = await openFileStore();
  const records = Array.from({ length: 11 }, (_, n) => sampleTask({ n, contextId: `c${n}`, working: true }));
  for (const record of records) await test.store.create(record);
  test.operations();
  const gate = Promise.withResolvers<void>();
  test.disk.rule({ on: "flush", times: 1, until: gate.promise });
  const durable: number[] = [];
  const commits = records.map((record, n) =>
    test.store.commit(record.rev, answered(record), { onDurable: () => void durable.push(n) })
  );
  await test.clock.settle();
  deepStrictEqual(durable, []);
  for (const record of records) deepStrictEqual(await test.store.read(record.task.id, ann), record);
  gate.resolve();
  deepStrictEqual(await Promise.all(commits), Array(11).fill("committed"));
  deepStrictEqual(durable, [...records.keys()]);
  deepStrictEqual(test.operations(), ["write", "flush", "write", "flush"].map((on) => `${on} journal-1.jsonl`));
});

Deno.test("FileTaskStore shows a commit to readers, lists and followers only once it is flushed [§5.5 durable-before-seen]", async () => {
  await using test = await openFileStore();
  const record = sampleTask({ working: true });
  await test.store.create(record);
  const follower = collect((await test.store.follow(record.task.id, ann, never))!);
  const gate = Promise.withResolvers<void>();
  test.disk.rule({ on: "flush", times: 1, until: gate.promise });
  const commit = test.store.commit(record.rev, answered(record));
  await test.clock.settle();
  strictEqual((await test.store.read(record.task.id, ann))!.rev, 1);
  const page = await test.store.list({ ...query, state: "TASK_STATE_COMPLETED" });
  strictEqual(page.kind === "page" && page.total, 0);
  deepStrictEqual(follower.seen, ["WORKING"]);
  gate.resolve();
  await commit;
  await follower.done;
  deepStrictEqual(follower.seen, ["WORKING", "COMPLETED"]);
});

interface Fault {
  readonly of: "a small commit" | "a large commit";
  readonly on: DiskOperation;
  readonly path: string;
}

const faults: readonly Fault[] = [
  ...(["createNew", "write", "flush", "syncFolder"] as const).map((on): Fault => ({
    of: "a small commit",
    on,
    path: on === "syncFolder" ? "" : "journal-",
  })),
  ...(["createNew", "write", "flush", "rename", "syncFolder"] as const).map((on): Fault => ({
    of: "a large commit",
    on,
    path: on === "syncFolder" ? "" : ".json",
  })),
];

for (const { of, on, path } of faults) {
  for (const code of ["ENOSPC", "EIO"] as const) {
    const text = of === "a large commit" ? large : "Done";
    Deno.test(`FileTaskStore keeps the old record when ${on} of ${of} fails with ${code} [DM6 failed-write, §5.5 disk-full-retried]`, async () => {
      await using test = await openFileStore();
      const record = sampleTask({ working: true });
      const { id } = record.task;
      await test.store.create(record);
      await test.store.checkpoint(); // the next commit begins a new journal
      const follower = collect((await test.store.follow(id, ann, never))!);
      test.disk.rule({ on, path, code, times: 1 });
      const next = answered(record, text);
      let durable = 0;
      await rejects(test.store.commit(record.rev, next, { onDurable: () => void durable++ }), (error) => {
        return error instanceof StorageFull && (error.cause as { code?: string }).code === code;
      });
      await test.clock.settle();
      deepStrictEqual(await test.store.read(id, ann), record);
      deepStrictEqual([follower.seen, durable], [["WORKING"], 0]);
      deepStrictEqual(await afterCrash(test, id), record);
      // Another decision takes the same revision.
      const other = after(record, { kind: "cancel asked", text: "So far" });
      strictEqual(await test.store.commit(record.rev, other, { onDurable: () => void durable++ }), "committed");
      await follower.done;
      deepStrictEqual([follower.seen, durable], [["WORKING", "CANCELED"], 1]);
      deepStrictEqual(await afterCrash(test, id), other);
      await test.reopen();
      deepStrictEqual(await test.store.read(id, ann), other);
      deepStrictEqual(test.files(), [`${id}.json`]);
    });

    Deno.test(`FileTaskStore refuses a new task when ${on} of ${of} fails with ${code} [§5.5 disk-full-refused]`, async () => {
      await using test = await openFileStore();
      const record = sampleTask({ text, dedupe: {} });
      const { id } = record.task;
      test.disk.rule({ on, path, code, times: 1 });
      deepStrictEqual(await test.store.create(record), { kind: "full", of: "disk" });
      strictEqual(await test.store.read(id, ann), undefined);
      strictEqual(await test.store.duplicateOf(ann, record.dedupe!), undefined);
      strictEqual(await afterCrash(test, id), undefined);
      strictEqual((await test.store.create(record)).kind, "created");
      deepStrictEqual(await afterCrash(test, id), record);
    });
  }
}

Deno.test("FileTaskStore keeps the next commit when a refused line cannot be cut off the journal [DM6 failed-write]", async () => {
  await using test = await openFileStore();
  const record = sampleTask({ working: true });
  const { id } = record.task;
  await test.store.create(record);
  const rules = [
    test.disk.rule({ on: "truncate", code: "EIO" }),
    test.disk.rule({ on: "flush", path: "journal-", code: "EIO", times: 1 }),
  ];
  await rejects(test.store.commit(record.rev, answered(record)), StorageFull);
  for (const rule of rules) rule.end();
  deepStrictEqual(await test.store.read(id, ann), record);
  const other = after(record, { kind: "cancel asked" });
  strictEqual(await test.store.commit(record.rev, other), "committed");
  deepStrictEqual(await afterCrash(test, id), other);
  await test.reopen();
  deepStrictEqual(await test.store.read(id, ann), other);
});

for (const text of ["Done", large]) {
  Deno.test(`FileTaskStore keeps the next commit, of ${text.length} characters, when a refused file cannot be put back [DM6 failed-write]`, async () => {
    await using test = await openFileStore();
    const record = sampleTask({ working: true });
    const { id } = record.task;
    await test.store.create(record);
    await test.store.checkpoint();
    const gate = Promise.withResolvers<void>();
    test.disk.rule({ on: "syncFolder", code: "EIO", until: gate.promise, times: 1 });
    const refused = rejects(test.store.commit(record.rev, answered(record, large)), StorageFull);
    while (!test.disk.log.at(-1)!.startsWith("syncFolder")) await test.clock.settle();
    const broken = test.disk.rule({ on: "rename", code: "EIO" });
    gate.resolve();
    await refused;
    broken.end();
    deepStrictEqual(await test.store.read(id, ann), record);
    const runId = record.run!.runId;
    const other = after(record, { kind: "failed", runId, message: text });
    strictEqual(await test.store.commit(record.rev, other), "committed");
    deepStrictEqual(await test.store.read(id, ann), other);
    deepStrictEqual(await afterCrash(test, id), other);
  });
}

for (const on of ["createNew", "write", "flush"] as const) {
  Deno.test(`FileTaskStore keeps a task whose removal fails in ${on} [SM1 T17]`, async () => {
    await using test = await openFileStore();
    const record = sampleTask({ failed: "x" });
    await test.store.create(record);
    await test.store.checkpoint();
    test.disk.rule({ on, path: "journal-", code: "EIO", times: 1 });
    await rejects(test.store.remove(record.task.id, record.rev), StorageFull);
    deepStrictEqual(await test.store.read(record.task.id, ann), record);
    deepStrictEqual(await afterCrash(test, record.task.id), record);
    strictEqual(await test.store.remove(record.task.id, record.rev), "removed");
    strictEqual(await afterCrash(test, record.task.id), undefined);
  });
}

const checkpointFaults: readonly (readonly [DiskOperation, string])[] = [
  ["createNew", ".json."],
  ["write", ".json."],
  ["flush", ".json."],
  ["rename", ".json"],
  ["syncFolder", ""],
  ["remove", "journal-"],
];
for (const [on, path] of checkpointFaults) {
  Deno.test(`FileTaskStore loses nothing when ${on} fails in a checkpoint, and does it again later [DM6 checkpoint]`, async () => {
    await using test = await openFileStore();
    const records = [1, 2, 3].map((n) => sampleTask({ n, contextId: `c${n}`, working: true }));
    for (const record of records) await test.store.create(record);
    const fault = test.disk.rule({ on, path, code: "ENOSPC" });
    await test.clock.advance(10_000);
    for (const record of records) {
      deepStrictEqual(await test.store.read(record.task.id, ann), record);
      deepStrictEqual(await afterCrash(test, record.task.id), record);
    }
    fault.end();
    await test.clock.advance(60_000);
    deepStrictEqual(test.files(), [1, 2, 3].map((n) => `${sampleId(n)}.json`));
  });
}

Deno.test("FileTaskStore accepts no new task under the floor of free disk, and goes on with those there are [§7 free-disk]", async () => {
  await using test = await openFileStore({ freeBytesMin: 1000 });
  const record = sampleTask({ working: true });
  await test.store.create(record);
  await test.reopen({ freeBytesMin: Number.MAX_SAFE_INTEGER });
  deepStrictEqual(await test.store.create(sampleTask({ n: 2 })), { kind: "full", of: "disk" });
  strictEqual(await test.store.hasRoom(), false);
  strictEqual(await test.store.commit(record.rev, answered(record)), "committed");
});

Deno.test("FileTaskStore leaves what cannot be read out of a sweep, and gives the others [SM1 T17]", async () => {
  await using test = await openFileStore();
  for (const n of [1, 2]) await test.store.create(sampleTask({ n, failed: "x" }));
  await test.reopen();
  await test.store.indexed;
  test.disk.rule({ on: "openRead", path: sampleId(1), code: "EIO" });
  const aged = await test.store.aged("terminal", sampleNow + 1 as TimeMs, 10);
  deepStrictEqual(aged.map(({ task }) => task.id), [sampleId(2)]);
});

Deno.test("FileTaskStore looks at the free disk at most once a second [§7 free-disk]", async () => {
  await using test = await openFileStore({ freeBytesMin: 1 });
  const looks = () => test.disk.log.filter((line) => line.startsWith("freeBytes")).length;
  for (const n of [1, 2, 3]) await test.store.create(sampleTask({ n }));
  strictEqual(looks(), 1);
  await test.clock.advance(1000);
  await test.store.create(sampleTask({ n: 4 }));
  strictEqual(looks(), 2);
});

Deno.test("FileTaskStore tells a blob that finds no room as StorageFull, and leaves nothing of it [DM5 blobs]", async () => {
  await using test = await openFileStore();
  const { id } = sampleTask().task;
  for (const on of ["createNew", "write", "flush", "rename"] as const) {
    test.disk.rule({ on, path: ".blobs", code: "ENOSPC", times: 1 });
    await rejects(test.store.putBlob(id, new Blob(["Hello"]).stream(), 99), StorageFull);
    deepStrictEqual([...Deno.readDirSync(`${test.folder}/${id}.blobs`)], []);
  }
});
