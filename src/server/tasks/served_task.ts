import type { ArtifactJson, PartJson, StreamJson, TaskJson } from "@/protocol/task.ts";
import { taskView, type TaskViewOptions } from "@/protocol/task_view.ts";
import type { TaskStore } from "./task_store.ts";

/** Bytes of files that one answer carries, as many as one request may bring: an answer is whole in memory, three times over. */
export const answerBytesMax = 32 * 1024 * 1024;

/** What stands in an answer for a file that found no room in it: `{"volcanic.omitted": {"bytes": n}}`. */
export const omittedFileKey = "volcanic.omitted";

/** How much of an answer is still free. */
export interface AnswerRoom {
  bytesLeft: number;
  /** The largest file that it takes at all. Absent: as much as is left. */
  readonly fileBytesMax?: number;
}

/**
 * Gives what of a task is served: as much as was asked for, with the bytes that lie beside it in their places. Files that find
 * no room in the answer are named and left out; `room` is shared by the tasks of one answer.
 */
export async function servedTask(
  task: TaskJson,
  store: Pick<TaskStore, "openBlob">,
  { room = { bytesLeft: answerBytesMax }, ...options }: TaskViewOptions & { readonly room?: AnswerRoom } = {},
): Promise<TaskJson> {
  const view = taskView(task, options);
  if (view.artifacts === undefined) return view;
  return { ...view, artifacts: await oneByOne(view.artifacts, (one) => servedArtifact(one, { task, store, room })) };
}

/** The same for an event of a stream. */
export async function servedEvent(
  event: StreamJson,
  store: Pick<TaskStore, "openBlob">,
  options: TaskViewOptions = {},
): Promise<StreamJson> {
  if ("task" in event) return { task: await servedTask(event.task, store, options) };
  if (!("artifactUpdate" in event)) return event;
  const { artifactUpdate } = event;
  const task = { id: artifactUpdate.taskId };
  const room = { bytesLeft: Infinity }; // one file an event, and files have their own limit
  return {
    artifactUpdate: {
      ...artifactUpdate,
      artifact: await servedArtifact(artifactUpdate.artifact, { task, store, room }),
    },
  };
}

/** One after another: of many large files only one is in memory twice, as bytes and as base64. */
export async function oneByOne<T>(items: readonly T[], work: (item: T) => Promise<T>): Promise<readonly T[]> {
  const done: T[] = [];
  for (const item of items) done.push(await work(item));
  return done;
}

interface Source {
  readonly task: Pick<TaskJson, "id">;
  readonly store: Pick<TaskStore, "openBlob">;
  readonly room: AnswerRoom;
}

async function servedArtifact(artifact: ArtifactJson, source: Source): Promise<ArtifactJson> {
  if (!artifact.parts.some(({ raw }) => typeof raw === "object")) return artifact;
  return { ...artifact, parts: await oneByOne(artifact.parts, (part) => servedPart(part, source)) };
}

async function servedPart(part: PartJson, { task, store, room }: Source): Promise<PartJson> {
  if (typeof part.raw !== "object") return part;
  const { bytes } = part.raw;
  if (bytes > Math.min(room.bytesLeft, room.fileBytesMax ?? Infinity)) {
    const { raw: _, ...rest } = part;
    return { ...rest, data: { [omittedFileKey]: { bytes } } };
  }
  room.bytesLeft -= bytes;
  const stream = await store.openBlob(task.id, part.raw);
  return { ...part, raw: (await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).bytes()).toBase64() };
}
