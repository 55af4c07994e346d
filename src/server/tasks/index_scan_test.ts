import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { openFileStore } from "@tests/fakes/file_store.ts";
import { ann, sampleId, sampleTask } from "@tests/fakes/sample_tasks.ts";
import type { BlobFiles } from "./blob_files.ts";
import { scanTaskFiles } from "./index_scan.ts";
import type { RecordFiles } from "./record_files.ts";
import { TaskIndex } from "./task_index.ts";

Deno.test("scanTaskFiles() goes on past a record that the index does not take, and does not throw [§4 bad-task-file]", async () => {
  const index = new TaskIndex();
  const put = index.put.bind(index);
  index.put = (record) => {
    if (record.task.id === sampleId(1)) throw new TypeError("no such thing");
    put(record);
  };
  const records = new Map([1, 2, 3].map((n) => [sampleId(n), sampleTask({ n })]));
  const isWhole = await scanTaskFiles({
    entries: [...records.keys()].map((id) => ({ name: `${id}.json`, kind: "file" })),
    isKnown: () => false,
    index,
    files: { read: (id) => Promise.resolve({ record: records.get(id)!, bytes: 1 }) } as RecordFiles,
    blobs: {} as BlobFiles,
    signal: new AbortController().signal,
  });
  deepStrictEqual([isWhole, index.count(ann)], [true, 2]);
});

Deno.test("FileTaskStore indexes all others when one task file holds a status log of the wrong form [§4 bad-task-file]", async () => {
  await using test = await openFileStore();
  await test.store[Symbol.asyncDispose]();
  test.write(`${sampleId(1)}.json`, JSON.stringify({ ...sampleTask(), statusLog: [null], pushes: [null] }));
  test.write(`${sampleId(2)}.json`, JSON.stringify(sampleTask({ n: 2 })));
  await test.reopen();
  await test.store.indexed;
  deepStrictEqual(test.store.known.isComplete, true);
  strictEqual((await test.store.queued(10)).length, 1);
});
