import type { BlobRef } from "@/protocol/task.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";

/** The blobs that a record names. */
export function blobsOf({ task }: TaskRecord): readonly BlobRef[] {
  const parts = [...(task.artifacts ?? []), ...(task.history ?? [])].flatMap(({ parts }) => parts);
  return parts.flatMap(({ raw }) => typeof raw === "object" ? [raw] : []);
}
