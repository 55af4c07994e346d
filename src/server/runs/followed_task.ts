import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import type { FollowItem, TaskStore } from "@/server/tasks/task_store.ts";

/** A task as it stands, and everything from that instant on: `record` is the first of `items`. */
export interface FollowedTask {
  readonly record: TaskRecord;
  readonly items: AsyncIterableIterator<FollowItem>;
}

/**
 * Follows a task of a caller from an instant that is known: snapshot and registration are one step of the store, whoever
 * commits, here or in another host. Undefined for what is not found, and when `signal` aborted first.
 */
export async function followTask(
  store: Pick<TaskStore, "follow">,
  { id, caller }: { readonly id: TaskId; readonly caller: CallerName },
  signal: AbortSignal,
): Promise<FollowedTask | undefined> {
  const items = await store.follow(id, caller, signal);
  const first = await items?.next();
  if (items === undefined || first === undefined || first.done || first.value.kind !== "record") return undefined;
  return { record: first.value.record, items: startingWith(first.value, items) };
}

/** The iterator with its first item put back. Nothing comes of it any more once it was left. */
function startingWith(first: FollowItem, rest: AsyncIterableIterator<FollowItem>): AsyncIterableIterator<FollowItem> {
  let isFirst = true;
  return {
    next() {
      if (!isFirst) return rest.next();
      isFirst = false;
      return Promise.resolve({ done: false, value: first });
    },
    async return() {
      isFirst = false;
      await rest.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
