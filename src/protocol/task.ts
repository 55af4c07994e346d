import type { TaskId } from "./ids.ts";

/**
 * A task as the wire shows it: ProtoJSON of A2A 1.0, camelCase. The one internal form; the types of SDKs stop at the edge.
 *
 * Values are never edited after they were made: a change makes a new task that shares what did not change.
 */
export interface TaskJson {
  readonly id: TaskId;
  readonly contextId: string;
  readonly status: StatusJson;
  readonly artifacts?: readonly ArtifactJson[];
  readonly history?: readonly MessageJson[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** The states of A2A 1.0 that we store. We never emit `AUTH_REQUIRED`; `REJECTED` only in the conformance server. */
export type State =
  | "TASK_STATE_SUBMITTED"
  | "TASK_STATE_WORKING"
  | "TASK_STATE_INPUT_REQUIRED"
  | "TASK_STATE_COMPLETED"
  | "TASK_STATE_FAILED"
  | "TASK_STATE_CANCELED"
  | "TASK_STATE_REJECTED";

/** All states, in the order of a task's life. */
export const states: readonly State[] = [
  "TASK_STATE_SUBMITTED",
  "TASK_STATE_WORKING",
  "TASK_STATE_INPUT_REQUIRED",
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_CANCELED",
  "TASK_STATE_REJECTED",
];

/** Where a task stands, since when, and what is said about it (A2A 1.0 §4.1.2). */
export interface StatusJson {
  readonly state: State;
  /** `2026-10-08T12:00:00.000Z`, strictly growing within a task. */
  readonly timestamp: string;
  readonly message?: MessageJson;
}

/** What a task made: its `artifactId` is unique within the task, its parts are at least one (A2A 1.0 §4.1.7). */
export interface ArtifactJson {
  readonly artifactId: string;
  readonly name?: string;
  readonly parts: readonly PartJson[];
}

/** One message of a caller or of ours (A2A 1.0 §4.1.4). `messageId` is made by who wrote it. */
export interface MessageJson {
  readonly messageId: string;
  readonly role: "ROLE_USER" | "ROLE_AGENT";
  readonly parts: readonly PartJson[];
  readonly contextId?: string;
  readonly taskId?: TaskId;
  readonly referenceTaskIds?: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Exactly one of `text`, `raw`, `url`, `data`. `raw` over 32 KiB is a `BlobRef` in the store, base64 on the wire. */
export interface PartJson {
  readonly text?: string;
  readonly raw?: string | BlobRef;
  readonly url?: string;
  readonly data?: unknown;
  readonly filename?: string;
  readonly mediaType?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Bytes that are stored beside a task. `blob` is their SHA-256 in lower-case hex. */
export interface BlobRef {
  readonly blob: string;
  readonly bytes: number;
}

/** One event of a stream: a `StreamResponse` of A2A 1.0 §4.2 with exactly one member. */
export type StreamJson =
  | { readonly task: TaskJson }
  | { readonly statusUpdate: StatusUpdateJson }
  | { readonly artifactUpdate: ArtifactUpdateJson };

/** A task's new status (A2A 1.0 §4.2.1). */
export interface StatusUpdateJson {
  readonly taskId: TaskId;
  readonly contextId: string;
  readonly status: StatusJson;
}

/** A new artifact, or a range of one that grows (A2A 1.0 §4.2.2). */
export interface ArtifactUpdateJson {
  readonly taskId: TaskId;
  readonly contextId: string;
  readonly artifact: ArtifactJson;
  /** True: the parts go behind what was sent. False: they replace it. */
  readonly append?: boolean;
  readonly lastChunk?: boolean;
}

/** Says whether `state` is final: nothing follows it (A2A 1.0 §3.1.1). */
export function isTerminal(state: State): boolean {
  return state === "TASK_STATE_COMPLETED" || state === "TASK_STATE_FAILED" || state === "TASK_STATE_CANCELED" ||
    state === "TASK_STATE_REJECTED";
}

/** Says whether a blocking send may answer: terminal, or waiting for the caller (A2A 1.0 §3.2.2). */
export function isSettled(state: State): boolean {
  return isTerminal(state) || state === "TASK_STATE_INPUT_REQUIRED";
}
