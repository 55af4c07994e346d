import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { ann, answered, sampleTask } from "@tests/fakes/sample_tasks.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { taskStoreSuite } from "@tests/suites/task_store_suite.ts";
import { MemoryTaskStore } from "@tests/fakes/memory_task_store.ts";
import { StorageFull } from "@/server/tasks/task_store.ts";

taskStoreSuite("MemoryTaskStore", (options) => {
  const clock = createTestClock();
  const store = new MemoryTaskStore({ clock, ...options });
  return Promise.resolve({
    store,
    clock,
    followers: () => store.followers,
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  });
});

Deno.test("MemoryTaskStore stores nothing when the test refuses, and tells create that the disk is full [§5.5 disk-full-refused]", async () => {
  let isFull = true;
  const beforeCommit = () => {
    if (isFull) throw new Error("no room");
  };
  await using store = new MemoryTaskStore({ clock: createTestClock(), beforeCommit });
  const record = sampleTask({ working: true });
  deepStrictEqual(await store.create(record), { kind: "full", of: "disk" });
  strictEqual(await store.read(record.task.id, ann), undefined);
  isFull = false;
  await store.create(record);
  isFull = true;
  await rejects(store.commit(record.rev, answered(record)), StorageFull);
  deepStrictEqual(await store.read(record.task.id, ann), record);
});
