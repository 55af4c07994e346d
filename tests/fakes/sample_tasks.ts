import { newTask, nextTask, type TaskEvent } from "@/server/tasks/lifecycle.ts";
import type { DedupeKey, Fence, RunId, RunState, TaskRecord } from "@/server/tasks/task_record.ts";
import type { FollowItem } from "@/server/tasks/task_store.ts";
import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { State } from "@/protocol/task.ts";
import type { TimeMs } from "@/time/clock.ts";

/** When sample tasks are made unless a test says otherwise: the start of the test clock. */
export const sampleNow = Date.parse("2026-10-08T12:00:00.000Z") as TimeMs;
export const ann = "ann" as CallerName;
export const bob = "bob" as CallerName;

/** The id of sample task `n`. */
export function sampleId(n: number): TaskId {
  return `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}` as TaskId;
}

export interface SampleTask {
  readonly n?: number;
  readonly caller?: CallerName;
  readonly contextId?: string;
  readonly text?: string;
  readonly now?: number;
  readonly fence?: number;
  /** Began at once (T1w). */
  readonly working?: boolean;
  /** Webhooks by their config ids; the first is the inline one. */
  readonly pushes?: readonly string[];
  readonly dedupe?: Partial<DedupeKey>;
  readonly failed?: string;
}

/** Revision 1 of a task, by the life cycle. */
export function sampleTask(options: SampleTask = {}): TaskRecord {
  const { n = 1, caller = ann, contextId = "c1", text = "Hello", now = sampleNow, pushes = [], failed } = options;
  const at = now as TimeMs;
  const record = newTask({
    id: sampleId(n),
    caller,
    contextId,
    hops: 0,
    message: { messageId: `m${n}`, role: "ROLE_USER", parts: [{ text }] },
    run: failed === undefined ? sampleRun({ ...options, n, now }) : null,
    ...(failed !== undefined && { failed }),
    ...(options.dedupe && { dedupe: dedupeKey({ until: (now + 86_400_000) as TimeMs, ...options.dedupe }) }),
    ...(pushes[0] !== undefined && { push: target(pushes[0]) }),
  }, moment(at));
  const others = pushes.slice(1).map((id) => ({ ...record.pushes[0]!, target: target(id) }));
  return { ...record, pushes: [...record.pushes, ...others] };
}

export function sampleRun({ n = 1, now = sampleNow, fence = 1, working = false }: SampleTask = {}): RunState {
  const at = now as TimeMs;
  return {
    runId: `r${n}` as RunId,
    attempt: 1,
    fence: fence as Fence,
    queuedAt: at,
    startedAt: working ? at : null,
    deadline: working ? (now + 86_400_000) as TimeMs : null,
  };
}

export function dedupeKey(key: Partial<DedupeKey> = {}): DedupeKey {
  return { messageId: "m", contextId: "", bodyHash: "h", until: (sampleNow + 86_400_000) as TimeMs, ...key };
}

/** A moment of the life cycle at `now`, with ids that count up. */
export function moment(now: number = sampleNow) {
  let ids = 0;
  return { now: now as TimeMs, newId: () => `a${++ids}` };
}

/** What an event makes of a record; throws when it changes nothing. */
export function after(record: TaskRecord, event: TaskEvent, now: number = sampleNow): TaskRecord {
  const decision = nextTask(record, event, moment(now));
  if (decision.kind !== "changed") throw new Error(`Cannot apply ${event.kind}: ${JSON.stringify(decision)}`);
  return decision.record;
}

/** The run of a record starts (T2). */
export function started(record: TaskRecord, now: number = sampleNow): TaskRecord {
  return after(record, { kind: "started", runId: record.run!.runId, deadline: (now + 86_400_000) as TimeMs }, now);
}

/** The run of a record ends with an answer (T6), started first when it had not. */
export function answered(record: TaskRecord, text = "Done", now: number = sampleNow): TaskRecord {
  const { runId } = record.run!;
  return after(record, { kind: "answered", runId, text, truncated: false, files: 0 }, now);
}

/** The run of a record ends with a question (T5). */
export function asked(record: TaskRecord, question = "Which?", now: number = sampleNow): TaskRecord {
  return after(record, { kind: "asked", runId: record.run!.runId, question, text: "" }, now);
}

/** A webhook took every status of a record so far. */
export function acknowledged(record: TaskRecord, configId: string): TaskRecord {
  const { seq, status } = record.statusLog.at(-1)!;
  const isOver = status.state === "TASK_STATE_COMPLETED" || status.state === "TASK_STATE_FAILED" ||
    status.state === "TASK_STATE_CANCELED";
  const pushes = record.pushes.map((push) =>
    push.target.id === configId
      ? { ...push, acked: seq, nextAt: null, state: isOver ? "done" as const : push.state }
      : push
  );
  return { ...record, rev: record.rev + 1 as TaskRecord["rev"], pushes };
}

/** The states of the records among what a follower got. */
export function statesOf(items: readonly FollowItem[]): State[] {
  return items.flatMap((item) => item.kind === "record" ? [item.record.task.status.state] : []);
}

/** Short: `SUBMITTED`, or the text of a progress note as `0:text`. */
export function brief(item: FollowItem): string {
  if (item.kind === "progress") return `${item.progress.from}:${item.progress.text}`;
  return item.record.task.status.state.replace("TASK_STATE_", "");
}

function target(id: string) {
  return {
    id,
    url: `https://hooks.example/${id}`,
    token: `token-${id}`,
    authentication: { scheme: "Bearer", credentials: `credentials-${id}` },
  };
}
