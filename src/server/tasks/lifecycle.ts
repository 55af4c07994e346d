import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { ArtifactJson, MessageJson, PartJson, State, StatusJson, TaskJson } from "@/protocol/task.ts";
import { isTerminal } from "@/protocol/task.ts";
import { isoTime, parseTime, type TimeMs } from "@/time/clock.ts";
import { withContinued } from "./sent_before.ts";
import { newPush, nextPush, type PushEvent, withDuePushes, withoutWebhooks, withWebhook } from "./push_lifecycle.ts";
import type { DedupeKey, Fence, PushTarget, Rev, RunId, RunState, Seq, TaskRecord, Usage } from "./task_record.ts";

/** What may happen to a task that exists: the rows of state-machines.md 1, by their ids. */
export type TaskEvent =
  /** T2: a run slot was granted. */
  | { readonly kind: "started"; readonly runId: RunId; readonly deadline: TimeMs | null }
  /** T4: the run sent a file; its blob is durable. */
  | { readonly kind: "file sent"; readonly runId: RunId; readonly artifact: ArtifactJson }
  /** T5. */
  | {
    readonly kind: "asked";
    readonly runId: RunId;
    readonly question: string;
    readonly text: string;
    readonly usage?: Usage;
  }
  /** T6, or T7 when there is neither text nor a file. `files`: how many this run sent. */
  | {
    readonly kind: "answered";
    readonly runId: RunId;
    readonly text: string;
    readonly truncated: boolean;
    readonly files: number;
    readonly usage?: Usage;
  }
  /** T8: `message` is for the caller, scrubbed. */
  | { readonly kind: "failed"; readonly runId: RunId; readonly message: string; readonly usage?: Usage }
  /** T9: `limit` in words, as in "stopped after 24 h". */
  | { readonly kind: "deadline passed"; readonly runId: RunId; readonly limit: string }
  /** T10: `text` is what the run has shown so far. */
  | { readonly kind: "cancel asked"; readonly text?: string }
  /** T11: `run` is what to queue or, with a run slot, to start. `hops` of the message: the task keeps the longest way. */
  | {
    readonly kind: "message";
    readonly message: MessageJson;
    readonly run: RunState;
    readonly hops?: number;
    readonly dedupe?: DedupeKey;
    /** A webhook that came with it. */
    readonly push?: PushTarget;
  }
  /** T12. */
  | { readonly kind: "no answer came" }
  /** T13: the run had not begun; a second loss fails it. */
  | { readonly kind: "queued again"; readonly fence: Fence }
  /** T14: the run had begun in a process that is gone. */
  | { readonly kind: "host lost" }
  /** T15. */
  | { readonly kind: "caller removed" }
  /** Its webhooks, whatever its state. */
  | PushEvent;

/** What an event does to a task. `refused` is told to who asked, `dropped` only to the log. */
export type TaskDecision =
  | { readonly kind: "changed"; readonly record: TaskRecord }
  | { readonly kind: "unchanged" }
  | { readonly kind: "refused"; readonly why: TaskRefusal }
  | { readonly kind: "dropped"; readonly why: "terminal" | "another run" | "wrong state" | "out of date" };

/** Why a task does not take an event. `too long`: its history; `too large`: its files. */
export type TaskRefusal =
  | ("busy" | "terminal" | "not cancelable" | "wrong context" | "too long" | "too large")
  | "too many webhooks";

/** Where a pure decision gets the time and the ids of the messages it makes. */
export interface Moment {
  readonly now: TimeMs;
  readonly newId: () => string;
}

/** What a new task is made of. */
export interface NewTask {
  readonly id: TaskId;
  readonly caller: CallerName;
  readonly contextId: string;
  readonly hops: number;
  readonly message: MessageJson;
  /** Null with `failed`: there is nothing to run. */
  readonly run: RunState | null;
  /** T1h: the task is born failed, with this message. */
  readonly failed?: string;
  readonly push?: PushTarget;
  readonly dedupe?: DedupeKey;
  readonly parent?: TaskRecord["parent"];
}

/** The artifact that holds the text of the latest run. */
export const responseId = "response";
/** How much text one part holds; more is spread over several (data-model.md 5). */
export const partCharsMax = 1024 * 1024;
/** Bytes of all files that one task sends (data-model.md 5). */
export const artifactBytesMax = 256 * 1024 * 1024;
const failureCharsMax = 4 * 1024;
const historyMax = 1000;

/**
 * Makes revision 1 of a task: `submitted` (T1), straight to `working` when `run.startedAt` is set (T1w), or `failed` (T1h).
 */
export function newTask(from: NewTask, moment: Moment): TaskRecord {
  const message = { ...from.message, taskId: from.id, contextId: from.contextId };
  const first = status(from.failed === undefined ? "TASK_STATE_SUBMITTED" : "TASK_STATE_FAILED", moment.now);
  const empty: TaskRecord = {
    v: 1,
    rev: 1 as Rev,
    caller: from.caller,
    createdAt: moment.now,
    hops: from.hops,
    task: { id: from.id, contextId: from.contextId, status: first, history: [message] },
    statusLog: [],
    run: from.run,
    pushes: from.push === undefined ? [] : [newPush(from.push, { acked: 0, now: moment.now })],
    ...(from.dedupe && { dedupe: from.dedupe }),
    ...(from.parent && { parent: from.parent }),
  };
  if (from.failed !== undefined) {
    return { ...withStatus(empty, "TASK_STATE_FAILED", { moment, text: from.failed }), run: null };
  }
  const submitted = withStatus(empty, "TASK_STATE_SUBMITTED", { moment });
  return from.run?.startedAt == null ? submitted : withStatus(submitted, "TASK_STATE_WORKING", { moment });
}

/**
 * Decides what `event` does to a task: state-machines.md 1, row by row. Pure; what it returns is still to be committed.
 *
 * A record that comes out has `rev` + 1. Terminal is final: whatever comes then is refused or dropped (T16).
 */
export function nextTask(record: TaskRecord, event: TaskEvent, moment: Moment): TaskDecision {
  const { state } = record.task.status;
  if (isPushEvent(event)) return nextPush(record, event, moment.now);
  if (isTerminal(state)) return onTerminal(state, event);
  switch (event.kind) {
    case "message":
      return onMessage(record, event, moment);
    case "cancel asked": {
      const kept = event.text ? withResponse(record, event.text) : record;
      return changed(ended(kept, "TASK_STATE_CANCELED", { moment }));
    }
    case "caller removed":
      return changed(withoutWebhooks(ended(record, "TASK_STATE_CANCELED", { moment, text: "access ended" })));
    case "no answer came":
      if (state !== "TASK_STATE_INPUT_REQUIRED") return { kind: "dropped", why: "wrong state" };
      return changed(ended(record, "TASK_STATE_FAILED", { moment, text: "no answer came" }));
    case "queued again":
    case "host lost":
      return onLostHost(record, event, moment);
    default:
      return onRunEvent(record, event, moment);
  }
}

function isPushEvent(event: TaskEvent): event is PushEvent {
  return pushEvents.has(event.kind);
}

const pushEvents: ReadonlySet<string> = new Set(
  [
    "webhook set",
    "webhook deleted",
    "push taken",
    "push failed",
    "receiver gone",
    "webhooks stopped",
  ] satisfies PushEvent["kind"][],
);

function onTerminal(state: State, event: TaskEvent): TaskDecision {
  if (event.kind === "message") return { kind: "refused", why: "terminal" };
  if (event.kind !== "cancel asked") return { kind: "dropped", why: "terminal" };
  return state === "TASK_STATE_CANCELED" ? { kind: "unchanged" } : { kind: "refused", why: "not cancelable" };
}

function onMessage(record: TaskRecord, event: TaskEvent & { kind: "message" }, moment: Moment): TaskDecision {
  const { task } = record;
  const { message, run, hops = 0 } = event;
  if (message.contextId !== undefined && message.contextId !== task.contextId) {
    return { kind: "refused", why: "wrong context" };
  }
  if (task.status.state !== "TASK_STATE_INPUT_REQUIRED") return { kind: "refused", why: "busy" };
  // The question was only in the status, which the next one replaces: in the history it stays beside its answer.
  const said = task.status.message === undefined ? [] : [task.status.message];
  const history = [
    ...(task.history ?? []),
    ...said,
    { ...message, taskId: task.id, contextId: task.contextId },
  ];
  if (history.length > historyMax) return { kind: "refused", why: "too long" };
  const state = run.startedAt === null ? "TASK_STATE_SUBMITTED" : "TASK_STATE_WORKING";
  const next = { ...withContinued(record, event.dedupe, moment.now), hops: Math.max(record.hops, hops), run };
  const told = withStatus({ ...next, task: { ...task, history } }, state, { moment });
  const hooked = event.push === undefined ? told : withWebhook(told, event.push, moment.now);
  return hooked === undefined ? { kind: "refused", why: "too many webhooks" } : changed(hooked);
}

function onLostHost(record: TaskRecord, event: TaskEvent, moment: Moment): TaskDecision {
  const { run } = record;
  if (run === null) return { kind: "dropped", why: "wrong state" };
  if (event.kind === "queued again" && run.startedAt === null && run.attempt < 2) {
    return changed({ ...record, run: { ...run, fence: event.fence, attempt: run.attempt + 1 } });
  }
  return changed(ended(record, "TASK_STATE_FAILED", { moment, text: "server restarted" }));
}

type RunEvent = Extract<TaskEvent, { readonly runId: RunId }>;

function onRunEvent(record: TaskRecord, event: RunEvent, moment: Moment): TaskDecision {
  if (record.run?.runId !== event.runId) return { kind: "dropped", why: "another run" };
  const { state } = record.task.status;
  if (event.kind === "started") {
    if (state !== "TASK_STATE_SUBMITTED") return { kind: "dropped", why: "wrong state" };
    const run = { ...record.run, startedAt: moment.now, deadline: event.deadline };
    return changed(withStatus({ ...record, run }, "TASK_STATE_WORKING", { moment }));
  }
  // A run that is still queued can only fail (its context could not be opened) or be ended from outside.
  if (state !== "TASK_STATE_WORKING" && event.kind !== "failed") return { kind: "dropped", why: "wrong state" };
  switch (event.kind) {
    case "file sent": {
      const artifacts = [...(record.task.artifacts ?? []), event.artifact];
      if (artifactBytes(artifacts) > artifactBytesMax) return { kind: "refused", why: "too large" };
      return changed({ ...record, task: { ...record.task, artifacts } });
    }
    case "asked": {
      const used = withUsage(withResponse(record, event.text), event.usage);
      return changed(ended(used, "TASK_STATE_INPUT_REQUIRED", { moment, text: event.question }));
    }
    case "answered": {
      const used = withUsage(record, event.usage);
      if (event.text === "" && event.files === 0) {
        return changed(ended(used, "TASK_STATE_FAILED", { moment, text: "no usable reply was produced" }));
      }
      const done = withTruncated(withResponse(used, event.text), event.truncated);
      return changed(ended(done, "TASK_STATE_COMPLETED", { moment }));
    }
    case "failed": {
      const text = event.message.slice(0, failureCharsMax).toWellFormed(); // it must fit whatever the task holds
      return changed(ended(withUsage(record, event.usage), "TASK_STATE_FAILED", { moment, text }));
    }
    case "deadline passed":
      return changed(ended(record, "TASK_STATE_FAILED", { moment, text: `stopped after ${event.limit}` }));
    default:
      return event satisfies never;
  }
}

/** T17: says whether a sweep may forget this task: terminal, and no webhook still to be told. */
export function isForgettable(record: TaskRecord): boolean {
  return isTerminal(record.task.status.state) && record.pushes.every((push) => push.state !== "active");
}

/**
 * Says whether an event carries something of any length into the record. Others add a status and short texts of ours, and
 * must always fit (`CommitOptions.bringsContent`).
 */
export function bringsContent(event: TaskEvent): boolean {
  switch (event.kind) {
    case "file sent":
    case "asked":
    case "answered":
    case "message":
    case "webhook set":
      return true;
    case "cancel asked":
      return event.text !== undefined && event.text !== "";
    default:
      return false;
  }
}

/** Bytes of the files among artifacts. */
export function artifactBytes(artifacts: readonly ArtifactJson[] = []): number {
  let bytes = 0;
  for (const { raw } of artifacts.flatMap(({ parts }) => parts)) {
    if (typeof raw === "string") bytes += Math.floor(raw.length * 3 / 4); // base64, at most 2 bytes more than it holds
    else bytes += raw?.bytes ?? 0;
  }
  return bytes;
}

/** @throws {RangeError} If `next` cannot follow `record`: a bug of who decided it. */
export function requireSuccessor(record: TaskRecord, next: TaskRecord): void {
  if (next.rev !== record.rev + 1) throw new RangeError(`Cannot commit revision ${next.rev} over ${record.rev}`);
  const [before, after] = [record.task.status, next.task.status];
  // By value: a record that was read again from its file is another object.
  const isSame = before.state === after.state && before.timestamp === after.timestamp &&
    before.message?.messageId === after.message?.messageId;
  if (isTerminal(before.state) && !isSame) {
    throw new RangeError(`Cannot change the status of task ${record.task.id}: it is terminal`);
  }
}

/** The text of the task's `response` artifact; "" when it has none. */
export function responseText(task: TaskJson): string {
  const response = task.artifacts?.find((artifact) => artifact.artifactId === responseId);
  return response?.parts.map((part) => part.text ?? "").join("") ?? "";
}

/** Text as parts of at most 1 MiB of characters each, never cutting a character in two. */
export function textParts(text: string): readonly PartJson[] {
  if (text.length <= partCharsMax) return [{ text }];
  const parts: PartJson[] = [];
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + partCharsMax, text.length);
    if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to--;
    parts.push({ text: text.slice(from, to) });
    from = to;
  }
  return parts;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function changed(record: TaskRecord): TaskDecision {
  return { kind: "changed", record: { ...record, rev: record.rev + 1 as Rev } };
}

/** The run is over, in whatever way. */
function ended(record: TaskRecord, state: State, options: { moment: Moment; text?: string }): TaskRecord {
  return { ...withStatus(record, state, options), run: null };
}

function withStatus(record: TaskRecord, state: State, options: { moment: Moment; text?: string }): TaskRecord {
  const { moment, text } = options;
  const last = record.statusLog.at(-1);
  const after = last === undefined ? moment.now : Math.max(moment.now, parseTime(last.status.timestamp) + 1) as TimeMs;
  const message = text === undefined ? undefined : agentMessage(record.task, text, moment);
  const next = { ...status(state, after), ...(message && { message }) };
  const seq = (last?.seq ?? 0) + 1 as Seq;
  const statusLog = [...record.statusLog, { seq, status: next }];
  return withDuePushes({ ...record, task: { ...record.task, status: next }, statusLog }, moment.now);
}

function status(state: State, at: TimeMs): StatusJson {
  return { state, timestamp: isoTime(at) };
}

function agentMessage(task: TaskJson, text: string, moment: Moment): MessageJson {
  return {
    messageId: moment.newId(),
    role: "ROLE_AGENT",
    parts: textParts(text),
    contextId: task.contextId,
    taskId: task.id,
  };
}

/** Each run replaces the `response` of the one before (product.md §5.5); without text the old one stays. */
function withResponse(record: TaskRecord, text: string): TaskRecord {
  if (text === "") return record;
  const response = { artifactId: responseId, name: responseId, parts: textParts(text) };
  const others = (record.task.artifacts ?? []).filter(({ artifactId }) => artifactId !== responseId);
  return { ...record, task: { ...record.task, artifacts: [response, ...others] } };
}

function withTruncated(record: TaskRecord, truncated: boolean): TaskRecord {
  const { "volcanic.truncated": _, ...rest } = record.task.metadata ?? {};
  const metadata = truncated ? { ...rest, "volcanic.truncated": true } : rest;
  const { metadata: __, ...task } = record.task;
  return { ...record, task: Object.keys(metadata).length === 0 ? task : { ...task, metadata } };
}

function withUsage(record: TaskRecord, usage: Usage | undefined): TaskRecord {
  if (usage === undefined) return record;
  return {
    ...record,
    usage: {
      inputTokens: (record.usage?.inputTokens ?? 0) + usage.inputTokens,
      outputTokens: (record.usage?.outputTokens ?? 0) + usage.outputTokens,
    },
  };
}
