import type { Brand, CallerName, TaskId } from "@/protocol/ids.ts";
import type { StatusJson, TaskJson } from "@/protocol/task.ts";
import type { TimeMs } from "@/time/clock.ts";

/** One piece of work of the engine on a task. */
export type RunId = Brand<string, "RunId">;
/** Grows by 1 with every commit of one task: the token of compare-and-set. */
export type Rev = Brand<number, "Rev">;
/** Grows by 1 with every status of one task, from 1: what pushes are ordered by. */
export type Seq = Brand<number, "Seq">;
/** Grows with every lease of one context, over restarts too: who holds a smaller one can no longer commit. */
export type Fence = Brand<number, "Fence">;

/**
 * Everything we know about one task, its webhooks and what they still have to be told: one record, one commit
 * (data-model.md 5). A value: nobody edits a record that was handed out.
 */
export interface TaskRecord {
  readonly v: 1;
  readonly rev: Rev;
  readonly caller: CallerName;
  readonly createdAt: TimeMs;
  readonly hops: number;
  readonly task: TaskJson;
  /** From the oldest status that an active webhook still waits for, to the newest. Never empty; at most 200. */
  readonly statusLog: readonly LoggedStatus[];
  /** Null when nothing is to be run: the task is terminal or waits for its caller. */
  readonly run: RunState | null;
  readonly pushes: readonly PushState[];
  readonly dedupe?: DedupeKey;
  /** Of the messages that went on with the task and asked for it; those that have not run out. */
  readonly continued?: readonly DedupeKey[];
  readonly parent?: { readonly workspace: string; readonly taskId: TaskId };
  readonly children?: readonly { readonly agent: string; readonly taskId: string }[];
  readonly usage?: Usage;
}

/** A status and its number. */
export interface LoggedStatus {
  readonly seq: Seq;
  readonly status: StatusJson;
}

/** The run that a record is waiting for or being worked by. */
export interface RunState {
  readonly runId: RunId;
  /** 1, or 2 when it was queued again after a crash before it began. */
  readonly attempt: number;
  /** Who may commit for this run. */
  readonly fence: Fence;
  readonly queuedAt: TimeMs;
  /** Null: nothing was executed yet, so it may be queued again after a crash. */
  readonly startedAt: TimeMs | null;
  readonly deadline: TimeMs | null;
}

/** Tokens of a model, summed over a task's runs. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/**
 * What a caller that asks for it is deduplicated by, for 24 h (product.md §5.5). `contextId` is the one the caller sent,
 * "" when it sent none; `bodyHash` tells another message under a used id.
 */
export interface DedupeKey {
  readonly messageId: string;
  readonly contextId: string;
  readonly bodyHash: string;
  readonly until: TimeMs;
}

/** A webhook as its caller set it. `token` and `authentication` are secrets. */
export interface PushTarget {
  readonly id: string;
  readonly url: string;
  readonly token?: string;
  readonly authentication?: { readonly scheme: string; readonly credentials: string };
  /** It was set over A2A 0.3, and is told tasks as that version writes them. */
  readonly version?: "0.3";
}

/** What one webhook still has to be told is `statusLog` after `acked`; there is no other queue (state-machines.md 6). */
export interface PushState {
  readonly target: PushTarget;
  /** The newest status that the webhook took; 0 for none. */
  readonly acked: Seq | 0;
  readonly state: "active" | "done" | "gone" | "gave up";
  /** In a row. */
  readonly failures: number;
  readonly firstFailureAt: TimeMs | null;
  /** Null: nothing to send. */
  readonly nextAt: TimeMs | null;
  /** Of them the last ones that the guard refused, in a row. */
  readonly refusals?: number;
  /** A code or a status, never a text of the remote. */
  readonly lastError?: string;
}

/** Says whether a webhook of `record` waits for a status and has a time for it (state-machines.md 6). */
export function isOwed(push: PushState, record: TaskRecord): boolean {
  return push.state === "active" && push.nextAt !== null && push.acked < newestStatus(record).seq;
}

/** The newest status and its number. */
export function newestStatus(record: TaskRecord): LoggedStatus {
  return record.statusLog[record.statusLog.length - 1]!;
}
