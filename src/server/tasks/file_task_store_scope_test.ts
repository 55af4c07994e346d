import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { ann, answered, sampleTask } from "@tests/fakes/sample_tasks.ts";
import { createTestRandom } from "@tests/fakes/test_random.ts";
import { Counters } from "@/counters.ts";
import type { BlobRef } from "@/protocol/task.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { openFileTaskStore } from "./file_task_store.ts";

// Made before the test, whose rights end at this folder.
const temp = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "volcanic-a2a-" }));
const denied = { net: false, run: false, env: false, ffi: false, import: false } as const;

Deno.test({
  name: "FileTaskStore needs no rights but to its folder and to look at the free disk [§4 scoped]",
  permissions: {
    read: [temp],
    write: [temp],
    sys: ["statfs" as Deno.SysPermissionDescriptor["kind"] & string],
    ...denied,
  },
  async fn() {
    try {
      const options = {
        folder: `${temp}/a2a/tasks`,
        disk: createDisk(systemClock),
        clock: systemClock,
        random: createTestRandom(),
        counters: new Counters(),
        durability: "disk" as const,
        storedTasksMax: () => 10,
        freeBytesMin: 1,
      };
      const record = sampleTask({ working: true });
      const done = answered(record, "x".repeat(300_000));
      const first = await openFileTaskStore({ ...options, epoch: 1 });
      strictEqual((await first.create(record)).kind, "created");
      await first.checkpoint();
      const ref = await first.putBlob(record.task.id, new Blob(["Hello"]).stream(), 9) as BlobRef;
      strictEqual(await new Response(await first.openBlob(record.task.id, ref)).text(), "Hello");
      strictEqual(await first.commit(record.rev, done), "committed");
      await first[Symbol.asyncDispose]();
      const second = await openFileTaskStore({ ...options, epoch: 2 });
      deepStrictEqual(await second.read(record.task.id, ann), done);
      strictEqual(await second.remove(record.task.id, done.rev), "removed");
      await second[Symbol.asyncDispose]();
    } finally {
      await Deno.remove(temp, { recursive: true });
    }
  },
});
