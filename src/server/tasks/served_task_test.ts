import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { TaskId } from "@/protocol/ids.ts";
import type { TaskJson } from "@/protocol/task.ts";
import { servedTask } from "./served_task.ts";

const mebi = 1024 * 1024;

/** A task with files of these sizes, whose bytes are never read unless they are to be served. */
function taskWith(...sizes: readonly number[]): TaskJson {
  return {
    id: "00000000-0000-4000-8000-000000000001" as TaskId,
    contextId: "c",
    status: { state: "TASK_STATE_COMPLETED", timestamp: "2026-10-08T12:00:00.000Z" },
    artifacts: sizes.map((bytes, n) => ({
      artifactId: `a${n}`,
      parts: [{ raw: { blob: "0".repeat(64), bytes }, filename: `${n}.bin`, mediaType: "application/octet-stream" }],
    })),
  };
}

const store = { openBlob: () => Promise.resolve(new Blob(["hello"]).stream()) };

Deno.test("servedTask() carries 32 MiB of files, and names what found no room [§5.6 blobs-in-place]", async () => {
  const { artifacts } = await servedTask(taskWith(20 * mebi, 20 * mebi, 12 * mebi), store);
  const [first, second, third] = artifacts!.map(({ parts }) => parts[0]!);
  strictEqual(first!.raw, btoa("hello"));
  deepStrictEqual([second!.raw, second!.data, second!.filename], [undefined, {
    "volcanic.omitted": { bytes: 20 * mebi },
  }, "1.bin"]);
  strictEqual(third!.raw, btoa("hello"));
});

Deno.test("servedTask() shares the room of an answer between its tasks [§5.6 blobs-in-place]", async () => {
  const room = { bytesLeft: 10 };
  await servedTask(taskWith(6), store, { room });
  const { artifacts } = await servedTask(taskWith(6, 4), store, { room });
  deepStrictEqual(artifacts!.map(({ parts }) => parts[0]!.raw !== undefined), [false, true]);
});
