import type { Host } from "@/workspace_host.ts";
import type { TaskJson } from "@/protocol/task.ts";
import { blobsOf } from "@tests/kill/stored_blobs.ts";
import { ChildCaller } from "@tests/kill/child_caller.ts";
import { writeLine } from "@tests/kill/child_line.ts";
import { callers } from "@tests/kill/child_tasks.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import { sha256Hex } from "@/workspace/sha256.ts";

/**
 * Waits until nothing is stuck: what waits for an answer or hangs is canceled, what runs or is queued is waited for. Then
 * every blob of `records` that is still there is read through the host.
 */
export async function tidyUp(host: Host, records: readonly TaskRecord[]): Promise<void> {
  await host.runs.sweep();
  const ending = callers.map(async (name) => {
    const unfinished = await host.store.unfinished(name, Infinity);
    await Promise.all(unfinished.map(({ task }) => endTask(host, new ChildCaller(host, name), task)));
  });
  await Promise.all(ending);
  writeLine({ kind: "idle", blobs: await readBlobs(host, records) });
}

async function endTask(host: Host, caller: ChildCaller, { id, status, history }: TaskJson): Promise<void> {
  const followed = await host.runs.follow(id, caller.name, new AbortController().signal);
  const hangs = history!.at(-1)!.parts.some(({ text }) => text?.endsWith("hang"));
  if (status.state === "TASK_STATE_INPUT_REQUIRED" || hangs) await caller.cancel(id);
  if (followed.kind !== "events") return;
  for await (const event of followed.events) {
    if (!("statusUpdate" in event)) continue;
    const { state, timestamp: at } = event.statusUpdate.status;
    writeLine({ kind: "status", id, state, at });
    if (state === "TASK_STATE_INPUT_REQUIRED") await caller.cancel(id);
  }
}

async function readBlobs(host: Host, records: readonly TaskRecord[]): Promise<number> {
  let count = 0;
  for (const { caller, task: { id } } of records) {
    const record = await host.store.read(id, caller);
    for (const ref of record === undefined ? [] : blobsOf(record)) {
      const bytes = await new Response(await host.store.openBlob(id, ref)).bytes();
      if (sha256Hex(bytes) !== ref.blob) throw new Error(`Blob ${ref.blob} of ${id} has other content`);
      count++;
    }
  }
  return count;
}
