import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { copyFolder, type FileStore, openFileStore } from "@tests/fakes/file_store.ts";
import { after, ann, answered, asked, sampleId, sampleRun, sampleTask } from "@tests/fakes/sample_tasks.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk, type Disk } from "@/workspace/disk.ts";
import { StorageFull } from "./task_store.ts";

const large = "x".repeat(300_000);
const query = { caller: ann, pageSize: 100, pageToken: "" };

/** A disk that calls `then` after `on` is done, `turns` turns of promises later. */
function following(on: "flush" | "syncFolder", turns: number) {
  const disk = createDisk(systemClock);
  const hook: { then?: () => void } = {};
  const done = async () => {
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    hook.then?.();
  };
  const faked: Disk = {
    ...disk,
    async createNew(path) {
      const file = await disk.createNew(path);
      if (on !== "flush" || !path.includes("journal-")) return file;
      return {
        get stamp() {
          return file.stamp;
        },
        [Symbol.dispose]: () => file[Symbol.dispose](),
        write: (bytes) => file.write(bytes),
        truncate: (length) => file.truncate(length),
        async flush() {
          await file.flush();
          void done();
        },
      };
    },
    async syncFolder(path) {
      await disk.syncFolder(path);
      if (on === "syncFolder") void done();
    },
  };
  return { disk: faked, hook };
}

async function readCopy(test: FileStore, n = 1) {
  await using temp = await makeTempFolder();
  await copyFolder(test.folder, temp.path);
  await using store = await test.openCopy(temp.path);
  return await store.read(sampleId(n), ann);
}

for (let turns = 0; turns < 12; turns++) {
  Deno.test(`FileTaskStore loses no commit to a checkpoint that begins ${turns} turns after its flush [DM6 checkpoint]`, async () => {
    const { disk, hook } = following("flush", turns);
    await using test = await openFileStore({ disk });
    const record = sampleTask({ working: true });
    await test.store.create(record);
    await test.store.checkpoint();
    const checkpointed = Promise.withResolvers<void>();
    hook.then = () => {
      hook.then = undefined;
      test.store.checkpoint().then(checkpointed.resolve, checkpointed.reject);
    };
    const next = answered(record);
    await test.store.commit(record.rev, next);
    await checkpointed.promise;
    deepStrictEqual(await readCopy(test), next);
    await test.reopen();
    deepStrictEqual(await test.store.read(sampleId(1), ann), next);
  });

  Deno.test(`FileTaskStore never puts an older record over a large one, checkpointed ${turns} turns after its sync [DM6 checkpoint]`, async () => {
    const { disk, hook } = following("syncFolder", turns);
    await using test = await openFileStore({ disk });
    const record = sampleTask({ working: true });
    await test.store.create(record); // in the journal, not in its file
    const checkpointed = Promise.withResolvers<void>();
    hook.then = () => {
      hook.then = undefined;
      test.store.checkpoint().then(checkpointed.resolve, checkpointed.reject);
    };
    const next = answered(record, large);
    await test.store.commit(record.rev, next);
    await checkpointed.promise;
    strictEqual(JSON.parse(test.text(`${sampleId(1)}.json`)).rev, next.rev);
    deepStrictEqual(await readCopy(test), next);
  });
}

Deno.test("FileTaskStore never puts an older record over a large one while a checkpoint writes it [DM6 checkpoint]", async () => {
  await using test = await openFileStore();
  const record = sampleTask({ working: true });
  await test.store.create(record);
  const gate = Promise.withResolvers<void>();
  test.disk.rule({ on: "rename", path: ".json", until: gate.promise, times: 1 });
  const checkpoint = test.store.checkpoint();
  while (!test.disk.log.at(-1)!.startsWith("rename")) await test.clock.settle();
  const next = answered(record, large);
  const commit = test.store.commit(record.rev, next);
  await test.clock.settle();
  gate.resolve();
  await Promise.all([checkpoint, commit]);
  deepStrictEqual(await readCopy(test), next);
  strictEqual(JSON.parse(test.text(`${sampleId(1)}.json`)).rev, next.rev);
});

Deno.test("FileTaskStore keeps the newest of small and large commits in turn, at every checkpoint [DM6 replay]", async () => {
  await using test = await openFileStore();
  let record = sampleTask({ working: true });
  await test.store.create(record);
  for (let round = 0; round < 6; round++) {
    const waiting = asked(record, round % 2 ? large : "Which?");
    await test.store.commit(record.rev, waiting);
    deepStrictEqual(await readCopy(test), waiting);
    const message = { messageId: `m${round}`, role: "ROLE_USER" as const, parts: [{ text: "This" }] };
    const run = { ...sampleRun({ n: round + 2 }), startedAt: record.createdAt };
    record = after({ ...waiting, task: { ...waiting.task, history: [] } }, { kind: "message", message, run });
    await test.store.commit(waiting.rev, record);
    deepStrictEqual(await readCopy(test), record);
    if (round % 3 === 0) await test.clock.advance(1000);
  }
});

Deno.test("FileTaskStore makes commits wait over the backlog, lets them go on, and loses none [DM6 back-pressure]", async () => {
  await using test = await openFileStore({ backlogBytesMax: 20_000, journalBytesMax: 5000 });
  const text = "x".repeat(2000);
  const created: number[] = [];
  const all = Array.from({ length: 100 }, async (_, n) => {
    await test.store.create(sampleTask({ n, text, contextId: `c${n}` }));
    created.push(n);
  });
  await test.clock.settle();
  ok(created.length < 100, `${created.length} went through`);
  await test.clock.advance(60_000);
  await Promise.all(all);
  strictEqual(created.length, 100);
  await test.reopen();
  const page = await test.store.list(query);
  strictEqual(page.kind === "page" && page.total, 100);
});

Deno.test("FileTaskStore begins a new journal when one is full, and reads them all in order [DM6 rotation, DM6 replay]", async () => {
  await using test = await openFileStore({ journalBytesMax: 3000 });
  let record = sampleTask({ working: true, text: "x".repeat(500) });
  await test.store.create(record);
  for (let n = 0; n < 20; n++) {
    const { runId } = record.run!;
    const next = after(record, { kind: "file sent", runId, artifact: { artifactId: `f${n}`, parts: [] } });
    await test.store.commit(record.rev, next);
    record = next;
  }
  ok(test.files().filter((name) => name.startsWith("journal-")).length > 4, test.files().join());
  deepStrictEqual(await readCopy(test), record);
  await test.clock.advance(1000);
  deepStrictEqual(test.files(), [`${sampleId(1)}.json`]);
  deepStrictEqual(await readCopy(test), record);
});

Deno.test("FileTaskStore finishes what is under way when it is closed, and refuses what comes later [SM7 stop]", async () => {
  await using test = await openFileStore();
  const records = [1, 2, 3].map((n) => sampleTask({ n, contextId: `c${n}`, working: true }));
  for (const record of records.slice(0, 2)) await test.store.create(record);
  const { store } = test;
  const gate = Promise.withResolvers<void>();
  test.disk.rule({ on: "flush", path: "journal-", until: gate.promise, times: 1 });
  const next = answered(records[0]!);
  const commit = store.commit(records[0]!.rev, next);
  const create = store.create(records[2]!);
  await test.clock.settle();
  const closed = store[Symbol.asyncDispose]();
  await test.clock.settle();
  gate.resolve();
  deepStrictEqual([await commit, (await create).kind], ["committed", "created"]);
  await closed;
  strictEqual(test.clock.pending, 0);
  for (const text of ["Done", large]) {
    await rejects(store.commit(records[1]!.rev, answered(records[1]!, text)), StorageFull);
    deepStrictEqual(await store.create(sampleTask({ n: 9, text })), { kind: "full", of: "disk" });
  }
  deepStrictEqual(test.files(), [1, 2, 3].map((n) => `${sampleId(n)}.json`));
  await test.reopen();
  deepStrictEqual(await test.store.read(sampleId(1), ann), next);
  deepStrictEqual(await test.store.read(sampleId(2), ann), records[1]);
});

Deno.test("FileTaskStore closes although the disk refuses the last checkpoint, and finds all at the next start [SM7 stop]", async () => {
  await using test = await openFileStore();
  const record = sampleTask({ working: true });
  await test.store.create(record);
  const broken = test.disk.rule({ on: "write", path: ".json.", code: "ENOSPC" });
  await test.store[Symbol.asyncDispose]();
  broken.end();
  deepStrictEqual(test.files(), ["journal-1.jsonl"]);
  await test.reopen();
  deepStrictEqual(await test.store.read(record.task.id, ann), record);
});

Deno.test("FileTaskStore lists tasks as they were when it was asked, though one changes while files are read", async () => {
  await using test = await openFileStore();
  for (const n of [1, 2]) await test.store.create(asked(sampleTask({ n, contextId: `c${n}`, working: true })));
  await test.reopen();
  await test.store.indexed;
  const gate = Promise.withResolvers<void>();
  test.disk.rule({ on: "openRead", path: sampleId(2), until: gate.promise, times: 1 });
  const listed = test.store.list({ ...query, state: "TASK_STATE_INPUT_REQUIRED" });
  const record = (await test.store.read(sampleId(1), ann))!;
  await test.store.commit(record.rev, after(record, { kind: "cancel asked" }));
  gate.resolve();
  const page = await listed;
  const got = page.kind === "page" && page.tasks.map(({ task }) => [task.id, task.status.state]);
  deepStrictEqual(got, [2, 1].map((n) => [sampleId(n), "TASK_STATE_INPUT_REQUIRED"]));
});
