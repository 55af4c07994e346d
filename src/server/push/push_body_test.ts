import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { after, answered, sampleTask, started } from "@tests/fakes/sample_tasks.ts";
import type { ArtifactJson } from "@/protocol/task.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import { pushBody, pushFileBytesMax, pushFilesBytesMax, pushTextCharsMax } from "./push_body.ts";

const store = { openBlob: () => Promise.resolve(new Blob(["hello"]).stream()) };

async function bodyOf(record: TaskRecord, seq: number, version?: "0.3") {
  const logged = record.statusLog.find((one) => one.seq === seq)!;
  return JSON.parse(new TextDecoder().decode(await pushBody(record, logged, { store, version })));
}

function withFiles(record: TaskRecord, sizes: readonly number[]): TaskRecord {
  const { runId } = record.run!;
  return sizes.reduce((next, bytes, n) => {
    const raw = { blob: "0".repeat(64), bytes };
    const artifact: ArtifactJson = { artifactId: `f${n}`, parts: [{ raw, filename: `${n}.bin`, mediaType: "a/b" }] };
    return after(next, { kind: "file sent", runId, artifact });
  }, record);
}

const working = started(sampleTask({ pushes: ["w1"], text: "Do it" }));

Deno.test("pushBody() is the task with its newest status and that status's number, without history [SM6 body]", async () => {
  const record = answered(working, "Done");
  const { task, ...rest } = await bodyOf(record, 3);
  deepStrictEqual(rest, {});
  deepStrictEqual(task, {
    id: record.task.id,
    contextId: record.task.contextId,
    status: record.task.status,
    artifacts: record.task.artifacts,
    metadata: { "volcanic.seq": 3 },
  });
});

Deno.test("pushBody() tells an older status without artifacts, and says that it is superseded [SM6 superseded]", async () => {
  const record = answered(working, "Done");
  const { task } = await bodyOf(record, 2);
  deepStrictEqual([task.status, task.artifacts, task.metadata], [
    record.statusLog[1]!.status,
    undefined,
    { "volcanic.seq": 2, "volcanic.superseded": true },
  ]);
});

Deno.test("pushBody() keeps the task's own metadata", async () => {
  const { runId } = working.run!;
  const cut = after(working, { kind: "answered", runId, text: "a", truncated: true, files: 0 });
  deepStrictEqual((await bodyOf(cut, 3)).task.metadata, { "volcanic.truncated": true, "volcanic.seq": 3 });
});

Deno.test("pushBody() carries small files, and names those over 256 KiB, or over 1 MiB in all [SM6 body]", async () => {
  const quarter = pushFilesBytesMax / 4;
  const record = answered(withFiles(working, [5, pushFileBytesMax + 1, quarter, quarter, quarter, quarter]));
  const { task } = await bodyOf(record, 3);
  const parts = task.artifacts.filter((one: ArtifactJson) => one.artifactId.startsWith("f"))
    .map((one: ArtifactJson) => one.parts[0]);
  deepStrictEqual(parts[0].raw, btoa("hello"));
  deepStrictEqual(parts[1], {
    filename: "1.bin",
    mediaType: "a/b",
    data: { "volcanic.omitted": { bytes: pushFileBytesMax + 1 } },
  });
  deepStrictEqual(parts.map(({ raw }: { raw?: string }) => raw !== undefined), [true, false, true, true, true, false]);
});

Deno.test("pushBody() carries 1 Mi characters of text, and names what is longer [SM6 body]", async () => {
  const long = "é".repeat(pushTextCharsMax + 5); // spread over two parts
  const { task } = await bodyOf(answered(working, long), 3);
  const [first, second] = task.artifacts[0].parts;
  deepStrictEqual([first.text.length, second.text, second.data], [
    ...[pushTextCharsMax, undefined],
    { "volcanic.omitted": { bytes: 10 } },
  ]);
});

Deno.test("pushBody() writes a task of A2A 0.3 for a webhook of it [§5.7 legacy]", async () => {
  const task = await bodyOf(answered(working, "Done"), 3, "0.3");
  deepStrictEqual([task.kind, task.status.state, task.metadata], ["task", "completed", { "volcanic.seq": 3 }]);
  strictEqual(task.artifacts[0].parts[0].kind, "text");
  ok(!("task" in task));
});
