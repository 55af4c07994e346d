import { isTerminal } from "@/protocol/task.ts";
import type { TimeMs } from "@/time/clock.ts";
import { isOwed, newestStatus } from "./task_record.ts";
import type { LoggedStatus, PushState, PushTarget, Rev, Seq, TaskRecord } from "./task_record.ts";

/** What may happen to the webhooks of a task, terminal or not: the rows of state-machines.md 6. */
export type PushEvent =
  /** A caller set a webhook; one with the same id is replaced. */
  | { readonly kind: "webhook set"; readonly target: PushTarget }
  | { readonly kind: "webhook deleted"; readonly configId: string }
  /** The receiver answered 2xx. */
  | { readonly kind: "push taken"; readonly push: SentPush }
  /** It answered something else, or nothing. */
  | PushFailure
  /** It answered 410: it wants no more. */
  | { readonly kind: "receiver gone"; readonly push: SentPush }
  /** The caller was removed: nothing of the task is pushed any more. */
  | { readonly kind: "webhooks stopped" };

/** What was sent where: what is about another target, or an older status, is out of date. */
export interface SentPush {
  readonly target: PushTarget;
  readonly seq: Seq;
}

/** A try that did not succeed. */
export interface PushFailure {
  readonly kind: "push failed";
  readonly push: SentPush;
  /** A code of ours or a status: never a text of the remote. */
  readonly error: string;
  /** The guard refused where the URL leads. */
  readonly isRefusal: boolean;
  /** The receiver asked for at least so much patience. */
  readonly retryAfterMs?: number;
  /** 0 to 1: where in the spread of the delay the next try falls. */
  readonly fraction: number;
}

/** What an event does to the webhooks of a task. `out of date`: it is about a webhook that is not there any more. */
export type PushDecision =
  | { readonly kind: "changed"; readonly record: TaskRecord }
  | { readonly kind: "unchanged" }
  | { readonly kind: "refused"; readonly why: "too many webhooks" }
  | { readonly kind: "dropped"; readonly why: "out of date" };

/** Webhooks of one task (product.md §5.7). */
export const webhooksMax = 16;
/** How long a receiver that cannot be reached is tried. */
export const pushDayMs = 24 * 60 * 60 * 1000;
/** Refusals of the guard in a row, after which a webhook is given up. */
export const refusalsMax = 5;
const delayMsMin = 1_000;
const delayMsMax = 15 * 60_000;
const retryAfterMsMax = 60 * 60_000;
/** The longest that a webhook waits for its next try. */
export const pushDelayMsMax = retryAfterMsMax;
const statusLogMax = 200;
/** What a status that is not the newest may hold of words: the log of a dead webhook must not fill its task. */
const oldMessageCharsMax = 1024;

/** Decides what `event` does to the webhooks of a task. Pure; a record that comes out has `rev` + 1. */
export function nextPush(record: TaskRecord, event: PushEvent, now: TimeMs): PushDecision {
  switch (event.kind) {
    case "webhook set":
      return setWebhook(record, event.target, now);
    case "webhook deleted": {
      const pushes = record.pushes.filter(({ target }) => target.id !== event.configId);
      if (pushes.length === record.pushes.length) return { kind: "unchanged" };
      return changed(record, pushes);
    }
    case "webhooks stopped": {
      if (!record.pushes.some(isActive)) return { kind: "unchanged" };
      return changed(record, record.pushes.map((push) => isActive(push) ? ended(push, "gone") : push));
    }
    case "push taken":
    case "push failed":
    case "receiver gone": {
      const { target, seq } = event.push;
      const push = record.pushes.find((one) => isSameTarget(one.target, target));
      if (push === undefined || !isActive(push) || push.acked >= seq) return { kind: "dropped", why: "out of date" };
      const next = afterSend(push, event, { record, now });
      return changed(record, record.pushes.map((one) => one === push ? next : one));
    }
    default:
      return event satisfies never;
  }
}

/** A webhook that was just set: it is told the status that follows `acked` first. */
export function newPush(target: PushTarget, { acked, now }: { acked: Seq | 0; now: TimeMs }): PushState {
  return { target, acked, state: "active", failures: 0, firstFailureAt: null, nextAt: now };
}

/** The status that a webhook is to be told next: the oldest it did not take. Undefined when it took all. */
export function nextStatus(record: TaskRecord, push: PushState): LoggedStatus | undefined {
  return isActive(push) ? record.statusLog.find(({ seq }) => seq > push.acked) : undefined;
}

/** Says whether two targets are one: a webhook that was set again is another, even under its old id. */
export function isSameTarget(a: PushTarget, b: PushTarget): boolean {
  return a.id === b.id && a.url === b.url && a.token === b.token && a.version === b.version &&
    a.authentication?.scheme === b.authentication?.scheme &&
    a.authentication?.credentials === b.authentication?.credentials;
}

/** Tells the webhooks of a record of its newest status: those that do not wait to be tried again are due now. */
export function withDuePushes(record: TaskRecord, now: TimeMs): TaskRecord {
  const pushes = record.pushes.map((push) => isActive(push) && push.failures === 0 ? { ...push, nextAt: now } : push);
  return withPushes(record, pushes);
}

/** A record whose webhooks are over: they keep their addresses, so that they can still be read, and lose their secrets. */
export function withoutWebhooks(record: TaskRecord): TaskRecord {
  return withPushes(record, record.pushes.map((push) => isActive(push) ? ended(push, "gone") : push));
}

/** Sets one more webhook of a record, or one anew; undefined when it would be one too many. */
export function withWebhook(record: TaskRecord, target: PushTarget, now: TimeMs): TaskRecord | undefined {
  const push = newPush(target, { acked: newestStatus(record).seq - 1 as Seq | 0, now });
  const isThere = record.pushes.some((one) => one.target.id === target.id);
  if (isThere) return withPushes(record, record.pushes.map((one) => one.target.id === target.id ? push : one));
  return record.pushes.length >= webhooksMax ? undefined : withPushes(record, [...record.pushes, push]);
}

/**
 * How long until a webhook is tried again after `failures` tries in a row: 1 s, doubled each time up to 15 min, spread by 20 %
 * either way, and at least what the receiver asked for, of which an hour counts.
 */
export function pushDelayMs(
  failures: number,
  { fraction, retryAfterMs = 0 }: Pick<PushFailure, "fraction" | "retryAfterMs">,
): number {
  const delayMs = Math.min(delayMsMax, delayMsMin * 2 ** (failures - 1));
  return Math.max(Math.round(delayMs * (0.8 + 0.4 * fraction)), Math.min(retryAfterMs, retryAfterMsMax));
}

function setWebhook(record: TaskRecord, target: PushTarget, now: TimeMs): PushDecision {
  const next = withWebhook(record, target, now);
  return next === undefined ? { kind: "refused", why: "too many webhooks" } : changed(record, next.pushes);
}

type AfterSend = Extract<PushEvent, { readonly push: SentPush }>;

function afterSend(push: PushState, event: AfterSend, { record, now }: { record: TaskRecord; now: TimeMs }): PushState {
  switch (event.kind) {
    case "push taken": {
      const { lastError: _, refusals: __, ...rest } = push;
      const told: PushState = { ...rest, acked: event.push.seq, failures: 0, firstFailureAt: null, nextAt: now };
      if (isOwed(told, record)) return told;
      return isTerminal(record.task.status.state) ? ended(told, "done") : { ...told, nextAt: null };
    }
    case "receiver gone":
      return ended({ ...push, lastError: "410" }, "gone");
    case "push failed": {
      const failures = push.failures + 1;
      const firstFailureAt = push.firstFailureAt ?? now;
      const refusals = event.isRefusal ? (push.refusals ?? 0) + 1 : 0;
      const failed = { ...push, failures, firstFailureAt, refusals, lastError: event.error };
      const isHopeless = now - firstFailureAt >= pushDayMs || refusals >= refusalsMax;
      if (isHopeless) return ended(failed, "gave up");
      return { ...failed, nextAt: now + pushDelayMs(failures, event) as TimeMs };
    }
    default:
      return event satisfies never;
  }
}

function isActive({ state }: PushState): boolean {
  return state === "active";
}

function ended({ target: { id, url }, ...push }: PushState, state: "done" | "gone" | "gave up"): PushState {
  return { ...push, target: { id, url }, state, nextAt: null };
}

function changed(record: TaskRecord, pushes: readonly PushState[]): PushDecision {
  return { kind: "changed", record: { ...withPushes(record, pushes), rev: record.rev + 1 as Rev } };
}

/** The log keeps what a webhook still has to be told, and the newest in full. */
function withPushes(record: TaskRecord, pushes: readonly PushState[]): TaskRecord {
  const newest = newestStatus(record);
  const needed = Math.min(newest.seq - 1, ...pushes.filter(isActive).map(({ acked }) => acked));
  const kept = record.statusLog.filter(({ seq }) => seq > needed).slice(-statusLogMax);
  return { ...record, pushes, statusLog: [...kept.slice(0, -1).map(shortened), newest] };
}

/** Whoever still waits for an old status is told that it is superseded; what it said at length is in the history. */
function shortened({ seq, status }: LoggedStatus): LoggedStatus {
  const { message, ...rest } = status;
  const chars = message?.parts.reduce((sum, { text }) => sum + (text?.length ?? 0), 0) ?? 0;
  return { seq, status: chars > oldMessageCharsMax ? rest : status };
}
