import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { createFaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { type FileStore, openFileStore } from "@tests/fakes/file_store.ts";
import { after, ann, answered, sampleId, sampleTask, started } from "@tests/fakes/sample_tasks.ts";
import { systemRandom } from "@/random.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { RecordFiles } from "./record_files.ts";
import { readJournals } from "./recovery.ts";
import { visitTasks } from "./task_reader.ts";
import { recordText } from "./record_json.ts";
import type { TaskRecord } from "./task_record.ts";
import { StorageFull } from "./task_store.ts";

const query = { caller: ann, pageSize: 100, pageToken: "" };
const fileName = (n: number) => `${sampleId(n)}.json`;
const blob = (text: string) => new Blob([text]).stream();

async function total({ store }: FileStore): Promise<number> {
  const page = await store.list(query);
  return page.kind === "page" ? page.total : NaN;
}

/** Closes the store, so that its folder can be changed by hand; the next `reopen` opens it again. */
async function close(test: FileStore): Promise<void> {
  await test.store[Symbol.asyncDispose]();
}

/** The lines of a journal with a header, each ended. */
function journal(...lines: readonly (TaskRecord | string)[]): string {
  const texts = lines.map((line) => typeof line === "string" ? line : JSON.stringify({ record: line }));
  return ['{"v":1,"journal":1,"epoch":1}', ...texts].map((text) => `${text}\n`).join("");
}

Deno.test("FileTaskStore writes journal and task files as the document has them [DM5 shape]", async () => {
  await using test = await openFileStore();
  const record = sampleTask({ pushes: ["w1"], dedupe: {} });
  await test.store.create(record);
  const gone = sampleTask({ n: 2, failed: "x" });
  await test.store.create(gone);
  await test.store.remove(gone.task.id, gone.rev);
  const lines = test.text("journal-1.jsonl").split("\n");
  deepStrictEqual(lines.slice(0, -1).map((line) => JSON.parse(line)), [
    { v: 1, journal: 1, epoch: 1 },
    { record: JSON.parse(recordText(record)) },
    { record: JSON.parse(recordText(gone)) },
    { removed: gone.task.id, rev: 2 },
  ]);
  strictEqual(lines.at(-1), "");
  await test.store.checkpoint();
  deepStrictEqual(test.files(), [fileName(1)]);
  strictEqual(test.text(fileName(1)), recordText(record));
  strictEqual(Deno.statSync(`${test.folder}/${fileName(1)}`).mode! & 0o777, 0o600);
});

Deno.test("FileTaskStore serves running tasks from memory, and others from files that it keeps [§4 tasks-from-memory]", async () => {
  await using test = await openFileStore();
  const record = sampleTask({ working: true });
  await test.store.create(record);
  await test.store.create(sampleTask({ n: 2, failed: "x" }));
  await test.store.checkpoint();
  const reads = () => test.disk.log.filter((line) => line.startsWith("openRead")).length;
  for (let round = 0; round < 5; round++) for (const n of [1, 2]) ok(await test.store.read(sampleId(n), ann));
  strictEqual(reads(), 0);
  await test.reopen();
  await test.store.indexed;
  const before = reads();
  const all = await Promise.all([1, 2, 1, 2, 2].map((n) => test.store.read(sampleId(n), ann)));
  strictEqual(all.every((one) => one !== undefined), true);
  strictEqual(reads() - before, 2); // readers of one file share it
});

Deno.test("FileTaskStore drops a torn last line of the last journal, and writes on [DM6 torn-last-line, SM8 1]", async () => {
  await using test = await openFileStore();
  await close(test);
  const record = sampleTask();
  const torn = JSON.stringify({ record: started(record) });
  test.write("journal-1.jsonl", journal(record) + torn.slice(0, -9));
  await test.reopen();
  deepStrictEqual(await test.store.read(record.task.id, ann), record);
  strictEqual(await test.store.commit(record.rev, started(record)), "committed");
  await test.reopen();
  strictEqual((await test.store.read(record.task.id, ann))!.rev, 2);
  deepStrictEqual(test.files(), [fileName(1)]);
});

const headers = ["", '{"v":1,"jour', '{"v":1,"journal":1,"epoch":1}', '{"v":1,"journal":1,"epoch":1}\n'];
for (const text of headers) {
  Deno.test(`FileTaskStore passes over a journal that was only begun: ${JSON.stringify(text)} [DM6 torn-last-line]`, async () => {
    await using test = await openFileStore();
    await close(test);
    test.write("journal-1.jsonl", text);
    await test.reopen();
    strictEqual(await total(test), 0);
    deepStrictEqual(test.files(), []);
  });
}

const badLines: readonly string[] = [
  "no json",
  '{"record":{"v":1}}',
  "{}",
  "null",
  "[1]",
  '"text"',
  '{"removed":"not an id","rev":3}',
  `{"removed":"${sampleId(1)}"}`,
  JSON.stringify({ record: sampleTask({ n: 3 }) }).slice(5),
];
for (const bad of badLines) {
  Deno.test(`FileTaskStore keeps a journal with the bad line ${bad.slice(0, 30)}, and takes the others [DM6 bad-line]`, async () => {
    await using test = await openFileStore();
    await close(test);
    const records = [sampleTask({ n: 1 }), sampleTask({ n: 2 })];
    const text = journal(records[0]!, bad, records[1]!);
    test.write("journal-7.jsonl", text);
    await test.reopen();
    for (const record of records) deepStrictEqual(await test.store.read(record.task.id, ann), record);
    strictEqual(test.text("journal-7.jsonl.bad"), text);
    await test.store.create(sampleTask({ n: 3 }));
    await test.reopen();
    strictEqual(await total(test), 3);
    await test.store.create(sampleTask({ n: 4 }));
    ok(test.files().includes("journal-8.jsonl"), test.files().join()); // never the number of a kept one
    strictEqual(test.text("journal-7.jsonl.bad"), text);
  });
}

Deno.test("FileTaskStore takes of file and journals what has the highest revision, in any order of journals [DM6 replay]", async () => {
  await using test = await openFileStore();
  await close(test);
  const [one, two, three] = [1, 2, 3].map((n) => sampleTask({ n })) as [TaskRecord, TaskRecord, TaskRecord];
  test.write(fileName(1), JSON.stringify(answered(started(one))));
  test.write(fileName(2), JSON.stringify(two));
  test.write("journal-10.jsonl", journal(started(two), three, `{"removed":"${three.task.id}","rev":2}`));
  test.write("journal-9.jsonl", journal(started(one), two));
  await test.reopen();
  strictEqual((await test.store.read(one.task.id, ann))!.rev, 3);
  deepStrictEqual(await test.store.read(two.task.id, ann), started(two));
  strictEqual(await test.store.read(three.task.id, ann), undefined);
  deepStrictEqual(test.files(), [fileName(1), fileName(2)]);
});

Deno.test("FileTaskStore takes the later of two lines of one revision: the first was refused [DM6 replay]", async () => {
  await using test = await openFileStore();
  await close(test);
  const record = sampleTask({ working: true });
  const [refused, kept] = [answered(record), after(record, { kind: "cancel asked" })];
  test.write("journal-1.jsonl", journal(record, refused));
  test.write("journal-2.jsonl", journal(kept));
  await test.reopen();
  deepStrictEqual(await test.store.read(record.task.id, ann), kept);
});

Deno.test("FileTaskStore removes the files of a removed task with the checkpoint, and again after a crash between [SM1 T17, DM6 replay]", async () => {
  await using test = await openFileStore();
  const record = sampleTask({ failed: "x" });
  const { id } = record.task;
  await test.store.create(record);
  await test.store.putBlob(id, blob("Hello"), 9);
  await test.store.checkpoint();
  await test.store.remove(id, record.rev);
  deepStrictEqual(test.files(), [`${id}.blobs`, fileName(1), "journal-2.jsonl"]);
  const text = test.text("journal-2.jsonl");
  await test.store.checkpoint();
  deepStrictEqual(test.files(), []);
  await close(test);
  test.write("journal-2.jsonl", text);
  test.write(fileName(1), JSON.stringify(record));
  await test.reopen();
  strictEqual(await test.store.read(id, ann), undefined);
  deepStrictEqual([test.files(), await total(test)], [[], 0]);
});

const unreadable: readonly { name: string; text: string; id: string }[] = [
  { name: "of a newer version", text: JSON.stringify({ ...sampleTask(), v: 2 }), id: "DM5 newer-version" },
  { name: "that does not parse", text: '{"v":1,', id: "DM5 unreadable-kept" },
  { name: "that is empty", text: "", id: "DM5 unreadable-kept" },
  { name: "of another task", text: JSON.stringify(sampleTask({ n: 9 })), id: "DM5 unreadable-kept" },
  { name: "without a status log", text: JSON.stringify({ ...sampleTask(), statusLog: [] }), id: "§4 bad-task-file" },
  { name: "that holds null", text: "null", id: "§4 bad-task-file" },
];
for (const { name, text, id } of unreadable) {
  Deno.test(`FileTaskStore leaves a task file ${name} alone, as if it were absent [${id}]`, async () => {
    await using test = await openFileStore();
    await close(test);
    test.write(fileName(1), text);
    test.write(fileName(2), JSON.stringify(sampleTask({ n: 2 })));
    Deno.mkdirSync(`${test.folder}/${sampleId(1)}.blobs`);
    Deno.writeTextFileSync(`${test.folder}/${sampleId(1)}.blobs/kept`, "x");
    await test.reopen();
    strictEqual(await total(test), 1);
    strictEqual(await test.store.read(sampleId(1), ann), undefined);
    const never = new AbortController().signal;
    strictEqual(await test.store.follow(sampleId(1), ann, never), undefined);
    strictEqual(await test.store.commit(1 as TaskRecord["rev"], started(sampleTask())), "stale");
    strictEqual(await test.store.remove(sampleId(1), 1 as TaskRecord["rev"]), "stale");
    await test.store.create(sampleTask({ n: 3 }));
    await test.store.checkpoint();
    strictEqual(test.text(fileName(1)), text);
    strictEqual(test.text(`${sampleId(1)}.blobs/kept`), "x");
    deepStrictEqual(test.files().length, 4);
  });
}

Deno.test("FileTaskStore keeps an unreadable task file aside when the journal knows the task [DM5 unreadable-kept]", async () => {
  await using test = await openFileStore();
  await close(test);
  test.write(fileName(1), "broken");
  test.write("journal-1.jsonl", journal(sampleTask()));
  await test.reopen();
  deepStrictEqual(await test.store.read(sampleId(1), ann), sampleTask());
  strictEqual(test.text(`${fileName(1)}.bad`), "broken");
});

Deno.test("FileTaskStore indexes all others when one file cannot be read, or is a folder [DM5 unreadable-kept]", async () => {
  await using test = await openFileStore();
  for (const n of [1, 2, 3, 4, 5]) await test.store.create(sampleTask({ n, failed: "x" }));
  await close(test);
  Deno.removeSync(`${test.folder}/${fileName(5)}`);
  Deno.mkdirSync(`${test.folder}/${fileName(5)}`);
  test.disk.rule({ on: "openRead", path: sampleId(2), code: "EIO", times: 1 });
  await test.reopen();
  await test.store.indexed;
  strictEqual(await total(test), 3);
  deepStrictEqual(test.store.known, { tasks: 3, isComplete: true, followers: 0 });
});

Deno.test("FileTaskStore notices a task file that was taken away by hand when it is next read [DM6 index]", async () => {
  await using test = await openFileStore();
  for (const n of [1, 2]) await test.store.create(sampleTask({ n, failed: "x" }));
  await test.reopen();
  await test.store.indexed;
  Deno.removeSync(`${test.folder}/${fileName(1)}`);
  strictEqual(await test.store.read(sampleId(1), ann), undefined);
  deepStrictEqual([await total(test), await test.store.remove(sampleId(1), 1 as TaskRecord["rev"])], [1, "stale"]);
});

Deno.test("FileTaskStore answers reads and commits before its index is complete, and waits with lists for it [SM7 recover]", async () => {
  await using test = await openFileStore();
  for (const n of [1, 2]) await test.store.create(sampleTask({ n, failed: "x", ...(n === 2 && { pushes: ["w1"] }) }));
  await close(test);
  const gate = Promise.withResolvers<void>();
  test.disk.rule({ on: "openRead", path: sampleId(1), until: gate.promise, times: 1 });
  await test.reopen();
  ok(await test.store.read(sampleId(2), ann));
  strictEqual((await test.store.create(sampleTask({ n: 3 }))).kind, "created");
  let isListed = false;
  const listed = total(test).then((count) => {
    isListed = true;
    return count;
  });
  await test.clock.settle();
  strictEqual(isListed, false);
  gate.resolve();
  strictEqual(await listed, 3);
});

Deno.test("FileTaskStore gives up a list after 30 s without an index [SM7 recover]", async () => {
  await using test = await openFileStore();
  await test.store.create(sampleTask());
  await close(test);
  const gate = Promise.withResolvers<void>();
  test.disk.rule({ on: "openRead", path: sampleId(1), until: gate.promise, times: 1 });
  await test.reopen();
  const refused = rejects(test.store.list(query), { name: "IndexNotReady" });
  await test.clock.advance(30_000);
  await refused;
  gate.resolve();
  strictEqual(await total(test), 1);
  strictEqual(test.clock.pending, 0);
});

Deno.test("FileTaskStore removes its .tmp files at a start, and no others [DM0 tmp-removed]", async () => {
  await using test = await openFileStore();
  await close(test);
  test.write(`${fileName(1)}.0123abcd.tmp`, "half");
  test.write("notes.tmp", "not ours");
  await test.reopen();
  deepStrictEqual(test.files(), ["notes.tmp"]);
});

Deno.test("FileTaskStore makes the name of its folder durable when it makes it", async () => {
  await using test = await openFileStore();
  match(test.operations().slice(0, 2).join(), /^makeFolder \.,syncFolder /);
  await test.reopen();
  strictEqual(test.operations().filter((line) => line.startsWith("syncFolder /")).length, 0);
});

Deno.test("visitTasks() and readJournals() beside a host see all, and write nothing [DM6 read-beside]", async () => {
  await using test = await openFileStore();
  const records = [1, 2, 3].map((n) => sampleTask({ n, working: true, contextId: `c${n}` }));
  for (const record of records) await test.store.create(record);
  await test.store.checkpoint();
  const next = answered(records[0]!);
  await test.store.commit(records[0]!.rev, next);
  const gone = answered(records[1]!);
  await test.store.commit(records[1]!.rev, gone);
  await test.store.remove(gone.task.id, gone.rev);
  const fresh = sampleTask({ n: 4 });
  await test.store.create(fresh);
  Deno.writeTextFileSync(`${test.folder}/journal-2.jsonl`, '{"record":{"v"', { append: true }); // in the middle of a write
  const reader = createFaultyDisk(createDisk(systemClock));
  const files = new RecordFiles({ disk: reader, random: systemRandom, folder: test.folder });
  const seen = new Map<string, number>();
  const visited = await visitTasks(
    { disk: reader, folder: test.folder, files },
    ({ task, rev }) => seen.set(task.id, rev),
  );
  deepStrictEqual([...seen].sort(), [[sampleId(1), 2], [sampleId(3), 1], [sampleId(4), 1]]);
  strictEqual(visited.unreadable, 0);
  const { tasks } = await readJournals(reader, test.folder, await reader.list(test.folder));
  deepStrictEqual(tasks.get(sampleId(2)), { id: sampleId(2), rev: 3, record: undefined });
  deepStrictEqual(reader.log.filter((line) => !/^(openRead|list) /.test(line)), []);
});

Deno.test("readJournals() passes over a journal that is checkpointed while it reads [DM6 read-beside]", async () => {
  await using test = await openFileStore();
  await test.store.create(sampleTask());
  const reader = createFaultyDisk(createDisk(systemClock));
  const gate = Promise.withResolvers<void>();
  reader.rule({ on: "openRead", path: "journal-", until: gate.promise });
  const reading = readJournals(reader, test.folder, await reader.list(test.folder));
  await test.clock.settle();
  await test.store.checkpoint();
  gate.resolve();
  const { tasks, files } = await reading;
  deepStrictEqual([tasks.size, files], [0, []]);
});

Deno.test("FileTaskStore tells an EIO of a journal at a start, rather than to lose it [DM6 replay]", async () => {
  await using test = await openFileStore();
  await close(test);
  test.write("journal-1.jsonl", journal(sampleTask()));
  test.disk.rule({ on: "openRead", path: "journal-", code: "EIO", times: 1 });
  await rejects(test.reopen(), { code: "EIO" });
  await test.reopen();
  ok(await test.store.read(sampleId(1), ann));
});

Deno.test("StorageFull carries what the disk said, for the log", async () => {
  await using test = await openFileStore();
  test.disk.rule({ on: "write", code: "ENOSPC", times: 1 });
  const record = sampleTask({ failed: "x" });
  await test.store.create(record);
  await test.store.create(record);
  test.disk.rule({ on: "write", code: "ENOSPC", times: 1 });
  await rejects(test.store.remove(record.task.id, record.rev), (error: Error) => {
    return error instanceof StorageFull && (error.cause as { code?: string }).code === "ENOSPC";
  });
});
