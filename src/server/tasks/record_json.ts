import { isTaskId } from "@/protocol/ids.ts";
import { states } from "@/protocol/task.ts";
import { isoTime, parseTime, type TimeMs } from "@/time/clock.ts";
import { RecordTooLarge } from "./task_store.ts";
import type { PushState, RunState, TaskRecord } from "./task_record.ts";

/** The longest record that is stored, as JSON without blobs, in characters (data-model.md 5). */
export const recordCharsMax = 4 * 1024 * 1024;

/** Writes a record as it is stored: one line of JSON, times as people read them (data-model.md 0). */
export function recordText(record: TaskRecord): string {
  const { createdAt, run, pushes, dedupe } = record;
  return JSON.stringify({
    ...record,
    createdAt: isoTime(createdAt),
    run: run && runWith(run, isoTime),
    pushes: pushes.map((push) => pushWith(push, isoTime)),
    ...(dedupe && { dedupe: { ...dedupe, until: isoTime(dedupe.until) } }),
  });
}

/** Writes a record that may be stored. @throws {RecordTooLarge} If it is over `recordCharsMax`. */
export function storableText(record: TaskRecord): string {
  const text = recordText(record);
  if (text.length > recordCharsMax) {
    throw new RecordTooLarge(
      `Cannot store task ${record.task.id}: ${text.length} characters, the limit is ${recordCharsMax}`,
    );
  }
  return text;
}

/** Parses a stored record; undefined for what is none of this format. Checks what the index and the owner check rest on. */
export function parseRecord(text: string): TaskRecord | undefined {
  try {
    return asRecord(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The same, of a value that was parsed already. */
export function asRecord(value: unknown): TaskRecord | undefined {
  if (!isRecord(value)) return undefined;
  const { createdAt, run, pushes, dedupe } = value;
  const record: TaskRecord = {
    ...value,
    createdAt: timeOf(createdAt),
    run: run && runWith(run, timeOf),
    pushes: pushes.map((push) => pushWith(push, timeOf)),
    ...(dedupe && { dedupe: { ...dedupe, until: timeOf(dedupe.until) } }),
  };
  return hasTimes(record) ? record : undefined;
}

function isRecord(value: unknown): value is TaskRecord {
  const record = value as TaskRecord | null;
  return typeof record === "object" && record !== null && record.v === 1 && Number.isSafeInteger(record.rev) &&
    typeof record.caller === "string" && isTaskId(record.task?.id) && typeof record.task.contextId === "string" &&
    states.includes(record.task.status?.state) && !Number.isNaN(parseTime(record.task.status.timestamp)) &&
    Array.isArray(record.statusLog) && record.statusLog.length > 0 && Array.isArray(record.pushes) &&
    (record.run === null || typeof record.run?.runId === "string");
}

function hasTimes({ createdAt, run, pushes, dedupe }: TaskRecord): boolean {
  const times = [createdAt, run?.queuedAt, run?.startedAt, run?.deadline, dedupe?.until];
  return [...times, ...pushes.map(({ nextAt }) => nextAt)].every((time) => !Number.isNaN(time));
}

function runWith<T>({ queuedAt, startedAt, deadline, ...rest }: RunState, time: (at: TimeMs) => T) {
  return {
    ...rest,
    queuedAt: time(queuedAt),
    startedAt: startedAt && time(startedAt),
    deadline: deadline && time(deadline),
  };
}

function pushWith<T>({ firstFailureAt, nextAt, ...rest }: PushState, time: (at: TimeMs) => T) {
  return { ...rest, firstFailureAt: firstFailureAt && time(firstFailureAt), nextAt: nextAt && time(nextAt) };
}

/** Of a number too: it is what a program would write. */
function timeOf(value: unknown): TimeMs {
  return typeof value === "number" ? value as TimeMs : parseTime(String(value));
}
