import { A2AError } from "@/protocol/errors.ts";
import { isTaskId } from "@/protocol/ids.ts";
import type { CancelTaskRequest, GetTaskRequest, ListTasksRequest, TaskRequest } from "@/protocol/request_types.ts";
import { listTasksResponse } from "@/protocol/task_view.ts";
import { IndexNotReady, type ListQuery } from "@/server/tasks/task_store.ts";
import type { TimeMs } from "@/time/clock.ts";
import type { Call, Outcome } from "./call.ts";
import { badPageToken, refusalError } from "./refusal_error.ts";
import { served } from "./send_message.ts";
import { answerBytesMax, oneByOne, servedTask } from "@/server/tasks/served_task.ts";

/** GetTask (A2A 1.0 §3.1.3). */
export async function getTask({ id, historyLength }: GetTaskRequest, call: Call): Promise<Outcome | A2AError> {
  const record = isTaskId(id) ? await call.store.read(id, call.caller) : undefined;
  if (record === undefined) return new A2AError("TASK_NOT_FOUND");
  return { kind: "value", value: await servedTask(record.task, call.store, { historyLength }) };
}

/** ListTasks (A2A 1.0 §3.1.4): the caller's own, newest status first. */
export async function listTasks(request: ListTasksRequest, call: Call): Promise<Outcome | A2AError> {
  const { contextId, status, statusAfterMs, pageSize, pageToken } = request;
  const none = { tasks: [], nextPageToken: "", pageSize, totalSize: 0 };
  if (status === "TASK_STATE_AUTH_REQUIRED") return { kind: "value", value: none };
  const query: ListQuery = {
    caller: call.caller,
    contextId,
    state: status,
    since: statusAfterMs as TimeMs | undefined,
    pageSize,
    pageToken,
  };
  try {
    const page = await call.store.list(query);
    if (page.kind !== "page") return badPageToken();
    const room = { bytesLeft: answerBytesMax };
    const stored = page.tasks.map(({ task }) => task);
    const tasks = await oneByOne(stored, (task) => servedTask(task, call.store, { ...request, room }));
    return {
      kind: "value",
      value: listTasksResponse({ tasks, nextPageToken: page.next, pageSize, totalSize: page.total }, request),
    };
  } catch (error) {
    if (error instanceof IndexNotReady) return new A2AError("INDEX_NOT_READY", { retryAfterSeconds: 10 });
    throw error;
  }
}

/** CancelTask (A2A 1.0 §3.1.5): committed first, then the engine is stopped. */
export async function cancelTask({ id }: CancelTaskRequest, call: Call): Promise<Outcome | A2AError> {
  if (!isTaskId(id)) return new A2AError("TASK_NOT_FOUND");
  const canceled = await call.runs.cancel(id, call.caller);
  if (canceled.kind === "refused") return refusalError(canceled);
  return { kind: "value", value: await servedTask(canceled.task, call.store) };
}

/** SubscribeToTask (A2A 1.0 §3.1.6): the task now, then what follows, until it is terminal. */
export async function subscribeToTask({ id }: TaskRequest, call: Call): Promise<Outcome | A2AError> {
  if (!isTaskId(id)) return new A2AError("TASK_NOT_FOUND");
  const followed = await call.runs.follow(id, call.caller, call.signal);
  if (followed.kind === "refused") return refusalError(followed);
  return { kind: "stream", events: served(followed.events, call) };
}
