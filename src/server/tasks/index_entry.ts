import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { State } from "@/protocol/task.ts";
import { parseTime } from "@/time/clock.ts";
import { isForgettable } from "./lifecycle.ts";
import { type DedupeKey, isOwed, type TaskRecord } from "./task_record.ts";

/** What the index knows of one task: enough to find, order, filter and count it without its record. */
export interface IndexEntry {
  readonly id: TaskId;
  readonly caller: CallerName;
  readonly contextId: string;
  readonly state: State;
  /** Of the newest status. */
  readonly at: number;
  /** A run is queued or at work. */
  readonly runs: boolean;
  readonly queuedAt: number;
  readonly forgettable: boolean;
  /** Webhooks that want to be told something, each with its time. */
  readonly owed: readonly OwedPush[];
  /** Webhooks that are not over. */
  readonly webhooks: number;
  readonly dedupeName: string | undefined;
}

/** A webhook that is to be told something. */
export interface OwedPush {
  readonly configId: string;
  readonly url: string;
  readonly at: number;
}

/** Makes the index entry of a record. */
export function entryOf(record: TaskRecord): IndexEntry {
  const { task, run, pushes } = record;
  return {
    id: task.id,
    caller: record.caller,
    contextId: task.contextId,
    state: task.status.state,
    at: parseTime(task.status.timestamp),
    runs: run !== null,
    queuedAt: run?.queuedAt ?? 0,
    forgettable: isForgettable(record),
    owed: pushes.filter((push) => isOwed(push, record))
      .map(({ target: { id, url }, nextAt }) => ({ configId: id, url, at: nextAt! })),
    webhooks: pushes.filter(({ state }) => state === "active").length,
    dedupeName: record.dedupe && dedupeName(record.caller, record.dedupe),
  };
}

/** One text for a dedupe key of a caller, as a key of maps. */
export function dedupeName(caller: CallerName, { messageId, contextId }: DedupeKey): string {
  return JSON.stringify([caller, contextId, messageId]);
}
