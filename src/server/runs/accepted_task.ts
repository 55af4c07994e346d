import type { CallerName, TaskId } from "@/protocol/ids.ts";
import { isSettled, type TaskJson } from "@/protocol/task.ts";
import { taskEvents } from "@/server/tasks/task_events.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import type { TaskStore } from "@/server/tasks/task_store.ts";
import { notNeeded } from "@/time/not_needed.ts";
import { followTask } from "./followed_task.ts";
import type { Accepted } from "./submission.ts";

/** A task that is stored, as who sent the message gets it; undefined when there is no such task of this caller. */
export async function acceptTask(
  store: Pick<TaskStore, "follow">,
  { id, caller }: { readonly id: TaskId; readonly caller: CallerName },
): Promise<Accepted | undefined> {
  const dropped = new AbortController();
  const followed = await followTask(store, { id, caller }, dropped.signal);
  if (followed === undefined) return undefined;
  const { record, items } = followed;
  return {
    kind: "accepted",
    task: record.task,
    events: taskEvents(items, "settled"),
    settled: () => settledTask(store, record),
    [Symbol.dispose]: () => dropped.abort(notNeeded),
  };
}

async function settledTask(store: Pick<TaskStore, "follow">, record: TaskRecord): Promise<TaskJson> {
  const leave = new AbortController();
  let { task } = record;
  try {
    if (isSettled(task.status.state)) return task;
    const items = await store.follow(task.id, record.caller, leave.signal);
    for await (const item of items ?? []) {
      if (item.kind !== "record") continue;
      task = item.record.task;
      if (isSettled(task.status.state)) break;
    }
    return task;
  } finally {
    leave.abort(notNeeded);
  }
}
