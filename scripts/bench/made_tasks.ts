import type { CallerName, TaskId } from "@/protocol/ids.ts";
import { newTask, nextTask, type TaskEvent } from "@/server/tasks/lifecycle.ts";
import type { Fence, RunId, TaskRecord } from "@/server/tasks/task_record.ts";
import type { TimeMs } from "@/time/clock.ts";

/** The one caller of all made tasks. */
export const benchCaller = "bench" as CallerName;

/** A task as it is created and as its run ends; about 1 KiB of JSON when it has ended. */
export interface MadeTask {
  readonly working: TaskRecord;
  readonly ended: TaskRecord;
}

/** Tasks of one context, in `madeTask`. */
export const tasksInContext = 100;

/** The context of made task `number`: a hundred tasks that follow each other share one. */
export function contextOf(number: number): string {
  return `context-${Math.floor(number / tasksInContext)}`;
}

/** The id of made task `number`: the same on every run, in no order, as ids are. */
export function madeId(number: number): TaskId {
  const mixed = (BigInt(number + 1) * 0x9E3779B97F4A7C15n) & 0xFFFFFFFFFFFFFFFFn;
  const hex = mixed.toString(16).padStart(16, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4000-8${hex.slice(13, 16)}-${
    number.toString(16).padStart(12, "0")
  }` as TaskId;
}

/** Made task `number`: one in ten fails, the others are answered. Later numbers are younger. */
export function madeTask(number: number): MadeTask {
  const createdAt = firstAt + number * 1000;
  let ids = 0;
  const moment = (now: number) => ({ now: now as TimeMs, newId: () => `${madeId(number)}-${++ids}` });
  const runId = `run-${number}` as RunId;
  const working = newTask({
    id: madeId(number),
    caller: benchCaller,
    contextId: contextOf(number),
    hops: 0,
    message: { messageId: `message-${number}`, role: "ROLE_USER", parts: [{ text: "Which of these? ".repeat(8) }] },
    run: {
      runId,
      attempt: 1,
      fence: 1 as Fence,
      queuedAt: createdAt as TimeMs,
      startedAt: createdAt as TimeMs,
      deadline: null,
    },
  }, moment(createdAt));
  const event: TaskEvent = number % 10 === 9
    ? { kind: "failed", runId, message: "The one does not go with the other. ".repeat(6) }
    : { kind: "answered", runId, text: "The first one, for it is there. ".repeat(6), truncated: false, files: 0 };
  const decision = nextTask(working, event, moment(createdAt + 500));
  if (decision.kind !== "changed") throw new Error("Cannot make a task: its run does not end");
  return { working, ended: decision.record };
}

const firstAt = Date.parse("2026-10-08T12:00:00.000Z");
