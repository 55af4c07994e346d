import type { CallerName } from "@/protocol/ids.ts";
import type { MessageJson, StreamJson, TaskJson } from "@/protocol/task.ts";
import type { DedupeKey, PushTarget, TaskRecord } from "@/server/tasks/task_record.ts";

/** A message that is to become a task, or to go on with one. Its caller is known and its form was checked. */
export interface Submission {
  readonly caller: CallerName;
  readonly hops: number;
  readonly message: MessageJson;
  readonly push?: PushTarget;
  readonly dedupe?: DedupeKey;
  readonly parent?: TaskRecord["parent"];
}

/**
 * A message that was accepted: its task is durable, and its run goes on whatever becomes of this value.
 *
 * Dispose it, or read `events` to their end: else they are kept until the task is over.
 */
export interface Accepted extends Disposable {
  readonly kind: "accepted";
  readonly task: TaskJson;
  /**
   * From the instant of `task`, which comes first: no event can fall between. Ends when the task is terminal or waits for
   * its caller. Leaving it never ends the run.
   */
  readonly events: AsyncIterableIterator<StreamJson>;
  /** Resolves when the task is terminal or waits for its caller, or as it stands when the host stops. Never rejects. */
  settled(): Promise<TaskJson>;
}
