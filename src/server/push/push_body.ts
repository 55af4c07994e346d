import { legacyResult } from "@/protocol/legacy_results.ts";
import type { ArtifactJson, PartJson, TaskJson } from "@/protocol/task.ts";
import { omittedFileKey, servedTask } from "@/server/tasks/served_task.ts";
import { type LoggedStatus, newestStatus, type PushTarget, type TaskRecord } from "@/server/tasks/task_record.ts";
import type { TaskStore } from "@/server/tasks/task_store.ts";

/** The largest file that a push carries. A larger one is named, and can be had by `GetTask`. */
export const pushFileBytesMax = 256 * 1024;
/** Bytes of all files that a push carries. */
export const pushFilesBytesMax = 1024 * 1024;
/** Characters of all texts in the artifacts that a push carries. */
export const pushTextCharsMax = 1024 * 1024;

/**
 * Makes what one push says: the whole task with the status it is about, and that status's number, as a StreamResponse
 * (A2A 1.0 §4.3.3, state-machines.md 6); over A2A 0.3 the task itself.
 *
 * Of a status that is not the newest the artifacts are left out: the task they belonged to no longer exists. The history is
 * always left out, and so are texts and files that would make it long: they are named.
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
    ...(isNewest && artifacts && { artifacts: withoutLongTexts(artifacts) }),
    metadata: { ...record.task.metadata, ...marks },
  };
  const room = { bytesLeft: pushFilesBytesMax, fileBytesMax: pushFileBytesMax };
  const task = await servedTask(told, store, { historyLength: 0, room });
  return new TextEncoder().encode(
    JSON.stringify(version === "0.3" ? legacyResult("GetTask", task, "kinds") : { task }),
  );
}

/** What finds no room is named as a file would be: `GetTask` gives it. */
function withoutLongTexts(artifacts: readonly ArtifactJson[]): readonly ArtifactJson[] {
  let charsLeft = pushTextCharsMax;
  const partOf = (part: PartJson): PartJson => {
    if (part.text === undefined) return part;
    if (part.text.length <= charsLeft) {
      charsLeft -= part.text.length;
      return part;
    }
    const { text, ...rest } = part;
    return { ...rest, data: { [omittedFileKey]: { bytes: new TextEncoder().encode(text).length } } };
  };
  return artifacts.map((artifact) => ({ ...artifact, parts: artifact.parts.map(partOf) }));
}
