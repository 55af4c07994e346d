import { legacyResult } from "@/protocol/legacy_results.ts";
import type { TaskJson } from "@/protocol/task.ts";
import { servedTask } from "@/server/tasks/served_task.ts";
import { type LoggedStatus, newestStatus, type PushTarget, type TaskRecord } from "@/server/tasks/task_record.ts";
import type { TaskStore } from "@/server/tasks/task_store.ts";

/** The largest file that a push carries. A larger one is named, and can be had by `GetTask`. */
export const pushFileBytesMax = 256 * 1024;
/** Bytes of all files that a push carries. */
export const pushFilesBytesMax = 1024 * 1024;

/**
 * Makes what one push says: the whole task with the status it is about, and that status's number, as a StreamResponse
 * (A2A 1.0 §4.3.3, state-machines.md 6); over A2A 0.3 the task itself.
 *
 * Of a status that is not the newest the artifacts are left out: the task they belonged to no longer exists. The history is
 * always left out.
 */
export async function pushBody(
  record: TaskRecord,
  { seq, status }: LoggedStatus,
  { store, version }: { readonly store: Pick<TaskStore, "openBlob">; readonly version: PushTarget["version"] },
): Promise<Uint8Array<ArrayBuffer>> {
  const isNewest = newestStatus(record).seq === seq;
  const marks = { "volcanic.seq": seq, ...(!isNewest && { "volcanic.superseded": true }) };
  const { artifacts, ...rest } = record.task;
  const told: TaskJson = {
    ...rest,
    status,
    ...(isNewest && artifacts && { artifacts }),
    metadata: { ...record.task.metadata, ...marks },
  };
  const room = { bytesLeft: pushFilesBytesMax, fileBytesMax: pushFileBytesMax };
  const task = await servedTask(told, store, { historyLength: 0, room });
  return new TextEncoder().encode(
    JSON.stringify(version === "0.3" ? legacyResult("GetTask", task, "kinds") : { task }),
  );
}
