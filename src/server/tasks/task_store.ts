import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { BlobRef, State } from "@/protocol/task.ts";
import type { TimeMs } from "@/time/clock.ts";
import type { DedupeKey, Fence, Rev, TaskRecord } from "./task_record.ts";

/**
 * Where tasks live: files, or memory in tests; later Postgres. One suite runs over all (`task_store_suite.ts`).
 *
 * Durable means: survives `kill -9` at any instant, and a loss of power when the store is opened so. A promise of this
 * interface resolves only when what it says is durable. No method judges liveness by what this process happens to run:
 * only a lease says so. What cannot be stored rejects with `StorageFull`, content that is too
 * long with `RecordTooLarge`; then nothing changed.
 */
export interface TaskStore extends AsyncDisposable {
  /**
   * Stores revision 1. With a dedupe key that is in use: the task of that key, or `conflict` when the body differs; check
   * and insert are one step. `full`: the caller's tasks are at their limit and none can be pruned, or no room is left.
   */
  create(record: TaskRecord, options?: CreateOptions): Promise<Created>;
  /** Says whether so much room is left that messages may be taken: without it `create` is `full`. May be a second old. */
  hasRoom(): Promise<boolean>;
  /** The task that a send with this key would get instead of a new one; the check of `create`, without the insert. */
  duplicateOf(caller: CallerName, key: DedupeKey): Promise<Duplicate | undefined>;
  /** Undefined for unknown, unreadable and another caller's task alike. */
  read(id: TaskId, caller: CallerName): Promise<TaskRecord | undefined>;
  /**
   * Replaces the record of revision `expected` by `next`, whose `rev` is `expected` + 1.
   *
   * `stale`: someone else was faster; read and decide again. `fenced`: `options.as` no longer holds the context, its run
   * must stop. A `next` of a terminal record throws RangeError.
   */
  commit(expected: Rev, next: TaskRecord, options?: CommitOptions): Promise<"committed" | "stale" | "fenced">;
  /** One page, newest status first, ties by id; `total` is counted before paging. Costs the page, not the store. */
  list(query: ListQuery): Promise<TaskPage | { readonly kind: "bad page token" }>;
  /** Removes a terminal task that no webhook waits for, and its blobs. `stale` as in commit, and when it may not go. */
  remove(id: TaskId, expected: Rev): Promise<"removed" | "stale">;
  /** Keeps bytes beside a task, before the commit that names them. Removed with the task. */
  putBlob(taskId: TaskId, bytes: ReadableStream<Uint8Array>, bytesMax: number): Promise<BlobRef | "too large">;
  /** @throws {Error} When there is no such blob. */
  openBlob(taskId: TaskId, ref: BlobRef): Promise<ReadableStream<Uint8Array>>;
  /**
   * Every commit and every progress note on a task from now on, in order, from any replica; the first item is the record
   * as it is when the promise resolves, so nothing can be missed. Undefined for what `read` does not find. Ends after a
   * terminal record, a removal or an abort of `signal`; never throws. Never blocks writers: a slow reader gets merged
   * progress, not a queue of chunks.
   */
  follow(id: TaskId, caller: CallerName, signal: AbortSignal): Promise<AsyncIterableIterator<FollowItem> | undefined>;
  /** Tells followers about text that is not stored yet. Best effort, lost in a crash, ignored when `fence` is old. */
  progress(note: Progress, fence: Fence): void;
  /** The right to run in a context, for `ttlMs`, to be renewed every third of it. `busy` names the task that has it. */
  lease(key: ContextKey, taskId: TaskId, ttlMs: number): Promise<Lease | Busy>;
  renew(lease: Lease, ttlMs: number): Promise<Lease | "lost">;
  release(lease: Lease): Promise<void>;
  /** Records with a run that no live lease stands behind: to be queued again or failed. Oldest first. */
  abandoned(limit: number): Promise<readonly TaskRecord[]>;
  /** Queued runs (`submitted`), each caller's oldest first, then each caller's second, and so on. */
  queued(limit: number): Promise<readonly TaskRecord[]>;
  /** Records whose status is older than `before`: waiting for their caller, or terminal. Oldest first. */
  aged(state: "waiting" | "terminal", before: TimeMs, limit: number): Promise<readonly TaskRecord[]>;
  /** Records of a caller that are not terminal, oldest first: what an expulsion ends. */
  unfinished(caller: CallerName, limit: number): Promise<readonly TaskRecord[]>;
  /**
   * Webhooks with something to send at `now`, longest due first, each claimed for `leaseMs`: until the record is committed
   * with what came of it, or the claim is given back.
   */
  duePushes(query: DuePushQuery): Promise<readonly DuePush[]>;
  /** Gives back the claim of a webhook that nothing was committed of. */
  giveBackPush(taskId: TaskId, configId: string): void;
  /** When the first webhook wants to be told something and may be claimed, be it in the past; undefined when none does. */
  nextPushAt(now: TimeMs): Promise<TimeMs | undefined>;
  /** How many webhooks of a caller are not over, of the tasks that are known so far. */
  webhooks(caller: CallerName): number;
  /** A caller's tasks with webhooks that are not over: what an expulsion stops. */
  withWebhooks(caller: CallerName): Promise<readonly TaskId[]>;
  /** Who has tasks here. */
  callers(): Promise<readonly CallerName[]>;
}

/** What became of a new task. */
export type Created = { readonly kind: "created" } | Duplicate | {
  readonly kind: "full";
  readonly of: "tasks" | "disk";
};

/** A dedupe key that is in use: by the same message, or by another one. */
export type Duplicate = { readonly kind: "duplicate"; readonly taskId: TaskId } | { readonly kind: "conflict" };

/** What goes with a new task. */
export interface CreateOptions {
  /** Runs in the step that makes the task visible. Must not throw. */
  readonly onDurable?: () => void;
  /** Told of each old task that was removed to make room, whatever becomes of the new one; waited for. Must not reject. */
  readonly onPruned?: (record: TaskRecord) => Promise<void>;
}

/** What goes with a commit, in the same step. */
export interface CommitOptions {
  /**
   * Something came in with `next` that may be any length, so it may be too long, as a new task may. All other commits are
   * let through: whatever a task holds, it can be ended.
   */
  readonly bringsContent?: boolean;
  /** Commits as the run with this fence. Absent for what is not the run's own: a cancel, a sweep. */
  readonly as?: Fence;
  /** Given up in the same step: who sees the record finds its context free. */
  readonly release?: Lease;
  /** Runs in the step that makes the record visible, before any follower sees it. Must not throw. */
  readonly onDurable?: () => void;
}

/** One page of a list. */
export interface TaskPage {
  readonly kind: "page";
  readonly tasks: readonly TaskRecord[];
  /** "" on the last page. */
  readonly next: string;
  readonly total: number;
}

/** What a list is asked for (A2A 1.0 §3.1.4). Filters that are absent let everything through. */
export interface ListQuery {
  readonly caller: CallerName;
  readonly contextId?: string;
  readonly state?: State;
  /** Only statuses at or after this. */
  readonly since?: TimeMs;
  /** 1 to 100. */
  readonly pageSize: number;
  /** Opaque and checked: for another filter it is refused. "" for the first page. */
  readonly pageToken: string;
}

/** What a follower is given. */
export type FollowItem =
  | { readonly kind: "record"; readonly record: TaskRecord }
  | { readonly kind: "progress"; readonly progress: Progress };

/** A range of the text of an artifact that is being made. `from` 0 replaces what was shown. */
export interface Progress {
  readonly taskId: TaskId;
  readonly artifactId: string;
  readonly from: number;
  readonly text: string;
}

/** One caller's one conversation. */
export interface ContextKey {
  readonly caller: CallerName;
  readonly contextId: string;
}

/** The right to run in a context, held until `until` unless renewed. */
export interface Lease {
  readonly key: ContextKey;
  readonly taskId: TaskId;
  readonly fence: Fence;
  /** In milliseconds of the clock that only grows. */
  readonly until: number;
}

/** Another task has the context. */
export interface Busy {
  readonly kind: "busy";
  readonly taskId: TaskId;
}

/** Which webhooks are asked for. */
export interface DuePushQuery {
  readonly now: TimeMs;
  /** The most that are given. */
  readonly limit: number;
  readonly leaseMs: number;
  /** Only of this task. Absent: of all. */
  readonly taskId?: TaskId;
}

/** A webhook to send to. */
export interface DuePush {
  readonly taskId: TaskId;
  readonly caller: CallerName;
  readonly configId: string;
  readonly url: string;
  /** Since when. */
  readonly at: TimeMs;
}

/** Nothing was stored: no room is left, or the disk refuses. Nothing changed, so trying again later is right. */
export class StorageFull extends Error {
  override readonly name = "StorageFull";
}

/** Nothing was stored: the record would be longer than a record may be (data-model.md 5). Trying again is no use. */
export class RecordTooLarge extends Error {
  override readonly name = "RecordTooLarge";
}

/** Thrown when the index is not there in time: a `ListTasks` soon after a start over very many tasks. */
export class IndexNotReady extends Error {
  override readonly name = "IndexNotReady";
}

/** One text for a context, as a key of maps. A contextId holds no "/". */
export function contextName(key: ContextKey): string {
  return `${key.caller}/${key.contextId}`;
}
