import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { createFaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { answered, sampleId, sampleTask, started } from "@tests/fakes/sample_tasks.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import type { BlobRef } from "@/protocol/task.ts";
import { systemRandom } from "@/random.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { BlobFiles } from "./blob_files.ts";
import { namedTasks, RecordFiles } from "./record_files.ts";
import { parseRecord } from "./record_json.ts";
import type { TaskRecord } from "./task_record.ts";

async function setUp() {
  const temp = await makeTempFolder();
  const disk = createFaultyDisk(createDisk(systemClock));
  const files = new RecordFiles({ disk, random: systemRandom, folder: temp.path });
  const blobs = new BlobFiles({ disk, random: systemRandom, files });
  return { disk, files, blobs, folder: temp.path, [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose]() };
}

const record = sampleTask();
const next = started(record);
const { id } = record.task;
const write = (files: RecordFiles, one: TaskRecord) => files.write(one, JSON.stringify(one));
const turn = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("RecordFiles writes the newest of those that come at once, whatever their order [DM6 checkpoint]", async () => {
  await using test = await setUp();
  const newest = answered(next);
  await Promise.all([next, newest, record].map((one) => write(test.files, one)));
  deepStrictEqual((await test.files.read(id))?.record, newest);
});

Deno.test("RecordFiles read() waits for a commit, and never sees one that is then undone [§5.5 durable-before-seen]", async () => {
  for (const code of [undefined, "EIO"]) {
    await using test = await setUp();
    await write(test.files, record);
    const gate = Promise.withResolvers<void>();
    test.disk.rule({ on: "syncFolder", until: gate.promise, code, times: 1 });
    const order: string[] = [];
    const commit = test.files.commit(next, JSON.stringify(next), {
      before: record,
      onDurable: () => void order.push("durable"),
    });
    const settled = code === undefined ? commit : rejects(commit, { code });
    while (!test.disk.log.at(-1)!.startsWith("syncFolder")) await turn();
    const read = test.files.read(id).then((stored) => {
      order.push("read");
      return stored?.record;
    });
    await turn();
    deepStrictEqual(order, []);
    gate.resolve();
    deepStrictEqual(await read, code === undefined ? next : record);
    await settled;
    deepStrictEqual(order, code === undefined ? ["durable", "read"] : ["read"]);
  }
});

Deno.test("RecordFiles commit() leaves no file of a new task that could not be made durable [DM6 failed-write]", async () => {
  await using test = await setUp();
  test.disk.rule({ on: "syncFolder", code: "EIO", times: 1 });
  const onDurable = () => {
    throw new Error("never");
  };
  await rejects(test.files.commit(record, JSON.stringify(record), { before: undefined, onDurable }), { code: "EIO" });
  deepStrictEqual([...Deno.readDirSync(test.folder)], []);
  strictEqual(test.files.isUnsure(id), false);
});

const inTheWay: readonly { name: string; put: (path: string) => void; kept: "isDirectory" | "isSymlink" }[] = [
  { name: "a folder", put: (path) => Deno.mkdirSync(`${path}/x`, { recursive: true }), kept: "isDirectory" },
  { name: "a link", put: (path) => Deno.symlinkSync("nowhere", path), kept: "isSymlink" },
];
for (const { name, put, kept } of inTheWay) {
  Deno.test(`RecordFiles write() and commit() put ${name} in the place of a task's file aside [DM5 unreadable-kept]`, async () => {
    await using test = await setUp();
    const path = test.files.path(id);
    put(path);
    await write(test.files, record);
    Deno.removeSync(path);
    put(path);
    await test.files.commit(next, JSON.stringify(next), { before: record, onDurable: () => {} });
    deepStrictEqual((await test.files.read(id))?.record, next);
    const aside = [...Deno.readDirSync(test.folder)].filter((entry) => entry.name.endsWith(".bad"));
    deepStrictEqual(aside.map((entry) => entry[kept]), [true, true]);
  });
}

Deno.test("BlobFiles put() waits for a sweep of its task, which would take what it makes [DM5 blobs]", async () => {
  await using test = await setUp();
  const folder = test.files.blobFolder(id);
  const hello = "185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969";
  Deno.mkdirSync(folder);
  Deno.writeTextFileSync(`${folder}/${hello}`, "Hello"); // an orphan of a crash
  const gate = Promise.withResolvers<void>();
  test.disk.rule({ on: "remove", path: hello, until: gate.promise, times: 1 });
  const sweep = test.blobs.sweep(id, record);
  while (!test.disk.log.at(-1)!.startsWith("remove")) await turn();
  const put = test.blobs.put(id, new Blob(["Hello"]).stream(), 99);
  for (let round = 0; round < 20; round++) await turn();
  gate.resolve();
  deepStrictEqual([await put as BlobRef, await sweep], [{ blob: hello, bytes: 5 }, undefined]);
  deepStrictEqual([...Deno.readDirSync(folder)].map(({ name }) => name), [hello]);
});

Deno.test("namedTasks() finds records and blob folders by their names, and nothing else", () => {
  const file = (name: string) => ({ name, kind: "file" as const });
  const folder = (name: string) => ({ name, kind: "folder" as const });
  const one = sampleId(1);
  const entries = [
    file(`${one}.json`),
    folder(`${one}.blobs`),
    file(`${one}.json.bad`),
    file(`${one}.json.0123abcd.tmp`),
    folder(`${sampleId(2)}.json`),
    file(`${sampleId(3)}.blobs`),
    file("journal-1.jsonl"),
    file(`${one.toUpperCase()}.json`.replaceAll("0", "A")),
  ];
  deepStrictEqual(namedTasks(entries), { records: [one], blobs: [one] });
});

const broken: readonly (readonly [name: string, change: Record<string, unknown>])[] = [
  ["another version", { v: 2 }],
  ["no version", { v: undefined }],
  ["a revision that is no number", { rev: "1" }],
  ["no caller", { caller: undefined }],
  ["no task", { task: undefined }],
  ["a task id that is a path", { task: { ...record.task, id: "../x" } }],
  ["an unknown state", { task: { ...record.task, status: { ...record.task.status, state: "TASK_STATE_LOST" } } }],
  ["no time", { task: { ...record.task, status: { ...record.task.status, timestamp: "soon" } } }],
  ["an empty status log", { statusLog: [] }],
  ["no webhooks", { pushes: undefined }],
  ["a run without an id", { run: {} }],
  ["no run", { run: undefined }],
];
for (const [name, change] of broken) {
  Deno.test(`parseRecord() takes no record with ${name} [DM5 unreadable-kept]`, () => {
    strictEqual(parseRecord(JSON.stringify({ ...record, ...change })), undefined);
  });
}

Deno.test("parseRecord() takes what was written, and keeps fields it does not know", () => {
  deepStrictEqual(parseRecord(JSON.stringify({ ...record, later: 1 })), { ...record, later: 1 } as unknown);
  strictEqual(parseRecord("{"), undefined);
});
