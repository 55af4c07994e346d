import type { TimeMs } from "@/time/clock.ts";
import type { DedupeKey, TaskRecord } from "./task_record.ts";

/**
 * Says whether a message came to this task before, by its dedupe key: `same`, or `other` when another one did under that
 * key. Undefined when none did, or the key ran out (product.md §5.5).
 */
export function sentBefore(record: TaskRecord, key: DedupeKey, now: TimeMs): "same" | "other" | undefined {
  const known = [record.dedupe, ...record.continued ?? []].find((one) =>
    one?.messageId === key.messageId && one.contextId === key.contextId && one.until > now
  );
  if (known === undefined) return undefined;
  return known.bodyHash === key.bodyHash ? "same" : "other";
}

/** The record of a task that a message went on with; keys that ran out go. */
export function withContinued(record: TaskRecord, key: DedupeKey | undefined, now: TimeMs): TaskRecord {
  const { continued = [], ...rest } = record;
  const keys = [...continued, ...(key === undefined ? [] : [key])].filter(({ until }) => until > now);
  return keys.length === 0 ? rest : { ...rest, continued: keys };
}
