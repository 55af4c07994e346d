import { isTaskId } from "@/protocol/ids.ts";
import { type State, states } from "@/protocol/task.ts";
import { isoTime, parseTime, type TimeMs } from "@/time/clock.ts";
import { RecordTooLarge } from "./task_store.ts";
import type { DedupeKey, LoggedStatus, PushState, RunState, TaskRecord } from "./task_record.ts";

/** The longest record, as JSON without blobs, in characters (data-model.md 5). */
export const recordCharsMax = 4 * 1024 * 1024;
/** The longest that content may make it: the rest is kept for how the task begins, is pushed and ends. */
export const contentCharsMax = recordCharsMax - 64 * 1024;

/** Writes a record as it is stored: one line of JSON, times as people read them (data-model.md 0). */
export function recordText(record: TaskRecord): string {
  const { createdAt, run, pushes, dedupe, continued } = record;
  return JSON.stringify({
    ...record,
    createdAt: isoTime(createdAt),
    run: run && runWith(run, isoTime),
    pushes: pushes.map((push) => pushWith(push, isoTime)),
    ...(dedupe && { dedupe: keyWith(dedupe, isoTime) }),
    ...(continued && { continued: continued.map((key) => keyWith(key, isoTime)) }),
  });
}

/** Writes a record that may be stored. @throws {RecordTooLarge} If content came into it and it is over `contentCharsMax`. */
export function storableText(record: TaskRecord, { bringsContent }: { readonly bringsContent: boolean }): string {
  const text = recordText(record);
  if (bringsContent && text.length > contentCharsMax) {
    throw new RecordTooLarge(
      `Cannot store task ${record.task.id}: ${text.length} characters, the limit is ${contentCharsMax}`,
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
  const { createdAt, run, pushes, dedupe, continued } = value;
  const record: TaskRecord = {
    ...value,
    createdAt: timeOf(createdAt),
    run: run && runWith(run, timeOf),
    pushes: pushes.map((push) => pushWith(push, timeOf)),
    ...(dedupe && { dedupe: keyWith(dedupe, timeOf) }),
    ...(continued && { continued: continued.map((key) => keyWith(key, timeOf)) }),
  };
  return hasTimes(record) ? record : undefined;
}

function isRecord(value: unknown): value is TaskRecord {
  const record = value as TaskRecord | null;
  return typeof record === "object" && record !== null && record.v === 1 && Number.isSafeInteger(record.rev) &&
    typeof record.caller === "string" && isTaskId(record.task?.id) && typeof record.task.contextId === "string" &&
    states.includes(record.task.status?.state) && !Number.isNaN(parseTime(record.task.status.timestamp)) &&
    Array.isArray(record.statusLog) && record.statusLog.length > 0 && record.statusLog.every(isLoggedStatus) &&
    Array.isArray(record.pushes) && record.pushes.every((push) => typeof push?.target?.id === "string") &&
    (record.run === null || typeof record.run?.runId === "string") &&
    (record.continued === undefined || Array.isArray(record.continued));
}

function isLoggedStatus(logged: LoggedStatus | null): boolean {
  return Number.isSafeInteger(logged?.seq) && states.includes(logged?.status?.state as State) &&
    !Number.isNaN(parseTime(logged!.status.timestamp));
}

function hasTimes({ createdAt, run, pushes, dedupe, continued = [] }: TaskRecord): boolean {
  const keys = [dedupe, ...continued].map((key) => key?.until);
  const times = [createdAt, run?.queuedAt, run?.startedAt, run?.deadline, ...keys];
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

function keyWith<T>({ until, ...rest }: DedupeKey, time: (at: TimeMs) => T) {
  return { ...rest, until: time(until) };
}

/** Of a number too: it is what a program would write. */
function timeOf(value: unknown): TimeMs {
  return typeof value === "number" ? value as TimeMs : parseTime(String(value));
}
