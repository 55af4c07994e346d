import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { openFileStore } from "@tests/fakes/file_store.ts";
import { after, answered, sampleId, sampleTask } from "@tests/fakes/sample_tasks.ts";
import type { BlobRef } from "@/protocol/task.ts";

const blob = (text: string) => new Blob([text]).stream();

Deno.test("FileTaskStore sweeps blobs that no record names, of journaled tasks too, and no others [DM5 orphan-blobs, SM8 7]", async () => {
  await using test = await openFileStore();
  const left = new Map<number, BlobRef>();
  for (const n of [1, 2, 3]) {
    const record = sampleTask({ n, working: true, contextId: `c${n}` });
    await test.store.create(record);
    const raw = await test.store.putBlob(record.task.id, blob(`kept ${n}`), 99) as BlobRef;
    left.set(n, raw);
    const artifact = { artifactId: "f1", parts: [{ raw }] };
    const next = after(record, { kind: "file sent", runId: record.run!.runId, artifact });
    await test.store.commit(record.rev, next);
    await test.store.putBlob(record.task.id, blob("orphan"), 99);
    if (n === 1) await test.store.commit(next.rev, answered(next));
  }
  const journal = test.text("journal-1.jsonl");
  await test.store[Symbol.asyncDispose]();
  const names = (n: number) => [...Deno.readDirSync(`${test.folder}/${sampleId(n)}.blobs`)].map(({ name }) => name);
  strictEqual(names(1).length, 2);
  test.write("journal-1.jsonl", journal); // all of them are known from the journal
  Deno.writeTextFileSync(`${test.folder}/${sampleId(1)}.blobs/0123abcd.tmp`, "half");
  Deno.mkdirSync(`${test.folder}/${sampleId(9)}.blobs`);
  await test.reopen();
  await test.store.indexed;
  for (const n of [1, 2, 3]) deepStrictEqual(names(n), [left.get(n)!.blob]);
  ok(!test.files().includes(`${sampleId(9)}.blobs`));
  for (const n of [1, 2, 3]) await test.store.putBlob(sampleId(n), blob("orphan"), 99);
  await test.reopen(); // all of them are in task files
  await test.store.indexed;
  for (const n of [1, 2, 3]) deepStrictEqual(names(n), [left.get(n)!.blob]);
});

Deno.test("FileTaskStore lets no sweep take a blob that is put while it works [DM5 blobs]", async () => {
  await using test = await openFileStore();
  const record = sampleTask({ failed: "x" });
  const { id } = record.task;
  await test.store.create(record);
  await test.store.putBlob(id, blob("Hello"), 99); // an orphan
  await test.store[Symbol.asyncDispose]();
  const gate = Promise.withResolvers<void>();
  test.disk.rule({ on: "list", path: ".blobs", until: gate.promise, times: 1 });
  await test.reopen();
  const putting = test.store.putBlob(id, blob("Hello"), 99);
  await test.clock.settle();
  gate.resolve();
  const ref = await putting as BlobRef;
  await test.store.indexed;
  strictEqual(await new Response(await test.store.openBlob(id, ref)).text(), "Hello");
});
