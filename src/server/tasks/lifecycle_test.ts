import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import {
  acknowledged,
  after,
  answered,
  asked,
  moment,
  sampleNow,
  sampleRun,
  sampleTask,
} from "@tests/fakes/sample_tasks.ts";
import type { ArtifactJson, MessageJson } from "@/protocol/task.ts";
import type { TimeMs } from "@/time/clock.ts";
import { isForgettable, newTask, nextTask, requireSuccessor, responseText, type TaskEvent } from "./lifecycle.ts";
import type { Fence, RunId, TaskRecord } from "./task_record.ts";

const r1 = "r1" as RunId;
const usage = { inputTokens: 3, outputTokens: 4 };
const file: ArtifactJson = { artifactId: "f1", name: "a.txt", parts: [{ raw: "QQ==", filename: "a.txt" }] };
const answer: MessageJson = { messageId: "m2", role: "ROLE_USER", parts: [{ text: "This one" }] };
const nextRun = { ...sampleRun({ n: 2 }), queuedAt: sampleNow };
const hooked = { pushes: ["w1"] };

const submitted = () => sampleTask(hooked);
const working = () => sampleTask({ ...hooked, working: true });
const waiting = () => asked(working());

/** What is left of a decision for a table: the state, the text of its message, and the run. */
function outcome(record: TaskRecord) {
  const { state, message } = record.task.status;
  return {
    state: state.replace("TASK_STATE_", ""),
    text: message?.parts.map(({ text }) => text).join(""),
    seqs: record.statusLog.map(({ seq }) => Number(seq)),
    runs: record.run !== null,
    response: responseText(record.task),
  };
}

interface Row {
  readonly id: string;
  readonly does: string;
  readonly from: () => TaskRecord;
  readonly event: TaskEvent;
  readonly to: Partial<ReturnType<typeof outcome>>;
  readonly also?: (record: TaskRecord) => void;
}

const rows: readonly Row[] = [
  {
    id: "T2",
    does: "starts a queued run, with its deadline",
    from: submitted,
    event: { kind: "started", runId: r1, deadline: 99 as TimeMs },
    to: { state: "WORKING", text: undefined, seqs: [1, 2], runs: true },
    also: ({ run }) => deepStrictEqual([run!.startedAt, run!.deadline, run!.attempt], [sampleNow, 99, 1]),
  },
  {
    id: "T4",
    does: "adds a file that was sent, without a new status",
    from: working,
    event: { kind: "file sent", runId: r1, artifact: file },
    to: { state: "WORKING", seqs: [1, 2], runs: true },
    also: ({ task }) => deepStrictEqual(task.artifacts, [file]),
  },
  {
    id: "T5",
    does: "waits for its caller after a question, with the text so far as response",
    from: working,
    event: { kind: "asked", runId: r1, question: "Which?", text: "I looked.", usage },
    to: { state: "INPUT_REQUIRED", text: "Which?", seqs: [1, 2, 3], runs: false, response: "I looked." },
    also: (record) => deepStrictEqual(record.usage, usage),
  },
  {
    id: "T5",
    does: "has no response after a question without text",
    from: working,
    event: { kind: "asked", runId: r1, question: "Which?", text: "" },
    to: { state: "INPUT_REQUIRED" },
    also: ({ task }) => strictEqual(task.artifacts, undefined),
  },
  {
    id: "T6",
    does: "is completed by an answer",
    from: working,
    event: { kind: "answered", runId: r1, text: "Done", truncated: false, files: 0, usage },
    to: { state: "COMPLETED", text: undefined, seqs: [1, 2, 3], runs: false, response: "Done" },
    also: (record) => deepStrictEqual([record.usage, record.task.metadata], [usage, undefined]),
  },
  {
    id: "T6",
    does: "marks an answer that was cut by length",
    from: working,
    event: { kind: "answered", runId: r1, text: "Do", truncated: true, files: 0 },
    to: { state: "COMPLETED", response: "Do" },
    also: ({ task }) => deepStrictEqual(task.metadata, { "volcanic.truncated": true }),
  },
  {
    id: "T6",
    does: "is completed by a file without text",
    from: () => after(working(), { kind: "file sent", runId: r1, artifact: file }),
    event: { kind: "answered", runId: r1, text: "", truncated: false, files: 1 },
    to: { state: "COMPLETED", runs: false, response: "" },
    also: ({ task }) => deepStrictEqual(task.artifacts, [file]),
  },
  {
    id: "T7",
    does: "fails when nothing was answered",
    from: working,
    event: { kind: "answered", runId: r1, text: "", truncated: false, files: 0, usage },
    to: { state: "FAILED", text: "no usable reply was produced", runs: false },
    also: (record) => deepStrictEqual(record.usage, usage),
  },
  {
    id: "T8",
    does: "fails with the message of the failure",
    from: working,
    event: { kind: "failed", runId: r1, message: "The model is away", usage },
    to: { state: "FAILED", text: "The model is away", seqs: [1, 2, 3], runs: false, response: "" },
    also: (record) => deepStrictEqual(record.usage, usage),
  },
  {
    id: "T9",
    does: "fails when its deadline passed, and says after how long",
    from: working,
    event: { kind: "deadline passed", runId: r1, limit: "24 h" },
    to: { state: "FAILED", text: "stopped after 24 h", runs: false },
  },
  {
    id: "T10",
    does: "is canceled while it is queued",
    from: submitted,
    event: { kind: "cancel asked" },
    to: { state: "CANCELED", text: undefined, seqs: [1, 2], runs: false },
  },
  {
    id: "T10",
    does: "is canceled at work, keeping the text so far",
    from: working,
    event: { kind: "cancel asked", text: "So f" },
    to: { state: "CANCELED", seqs: [1, 2, 3], runs: false, response: "So f" },
  },
  {
    id: "T10",
    does: "is canceled while it waits for its caller",
    from: waiting,
    event: { kind: "cancel asked" },
    to: { state: "CANCELED", runs: false },
  },
  {
    id: "T11",
    does: "queues an answer without a free slot",
    from: waiting,
    event: { kind: "message", message: answer, run: nextRun },
    to: { state: "SUBMITTED", text: undefined, seqs: [1, 2, 3, 4], runs: true },
    also: ({ run }) => deepStrictEqual(run, nextRun),
  },
  {
    id: "T11",
    does: "works on an answer at once with a free slot",
    from: waiting,
    event: { kind: "message", message: { ...answer, contextId: "c1" }, run: { ...nextRun, startedAt: sampleNow } },
    to: { state: "WORKING", text: undefined, runs: true },
  },
  {
    id: "T12",
    does: "fails when no answer came",
    from: waiting,
    event: { kind: "no answer came" },
    to: { state: "FAILED", text: "no answer came", runs: false },
  },
  {
    id: "T13",
    does: "is queued again with a new fence when it had not begun, without a new status",
    from: submitted,
    event: { kind: "queued again", fence: 9 as Fence },
    to: { state: "SUBMITTED", seqs: [1], runs: true },
    also: ({ run }) => deepStrictEqual([run!.attempt, run!.fence, run!.startedAt, run!.runId], [2, 9, null, r1]),
  },
  {
    id: "T13",
    does: "fails when it is lost a second time",
    from: () => after(submitted(), { kind: "queued again", fence: 9 as Fence }),
    event: { kind: "queued again", fence: 10 as Fence },
    to: { state: "FAILED", text: "server restarted", runs: false },
  },
  {
    id: "T14",
    does: "fails when its host is lost at work",
    from: working,
    event: { kind: "host lost" },
    to: { state: "FAILED", text: "server restarted", seqs: [1, 2, 3], runs: false },
  },
  ...[submitted, working, waiting].map((from): Row => ({
    id: "T15",
    does: `is canceled with its webhooks when its caller is removed while ${from().task.status.state}`,
    from,
    event: { kind: "caller removed" },
    to: { state: "CANCELED", text: "access ended", runs: false },
    also: ({ pushes, statusLog }) => {
      deepStrictEqual(pushes.map(({ state, nextAt }) => ({ state, nextAt })), [{ state: "gone", nextAt: null }]);
      deepStrictEqual(pushes[0]!.target, { id: "w1", url: "https://hooks.example/w1" });
      strictEqual(statusLog.length, 1);
    },
  })),
];

for (const { id, does, from, event, to, also } of rows) {
  Deno.test(`nextTask() ${does} [SM1 ${id}]`, () => {
    const before = from();
    const copy = structuredClone(before);
    const record = after(before, event);
    const all = outcome(record);
    deepStrictEqual(Object.fromEntries(Object.keys(to).map((key) => [key, all[key as keyof typeof all]])), to);
    strictEqual(record.rev, before.rev + 1);
    also?.(record);
    deepStrictEqual(before, copy); // a record is a value
    requireSuccessor(before, record);
  });
}

const message: MessageJson = { messageId: "m1", role: "ROLE_USER", parts: [{ text: "Hello" }] };

Deno.test("newTask() makes a submitted task of revision 1 [SM1 T1]", () => {
  const record = sampleTask({ pushes: ["w1"], dedupe: { messageId: "m1" } });
  deepStrictEqual(outcome(record), { state: "SUBMITTED", text: undefined, seqs: [1], runs: true, response: "" });
  deepStrictEqual([record.rev, record.v, record.createdAt, record.run!.startedAt], [1, 1, sampleNow, null]);
  deepStrictEqual(record.task.history, [{ ...message, taskId: record.task.id, contextId: "c1" }]);
  deepStrictEqual(record.pushes.map(({ acked, state, nextAt }) => [acked, state, nextAt]), [[0, "active", sampleNow]]);
  strictEqual(record.dedupe?.messageId, "m1");
});

Deno.test("newTask() makes a working task with both statuses when a slot is free [SM1 T1w]", () => {
  const record = sampleTask({ working: true, pushes: ["w1"] });
  deepStrictEqual(outcome(record).seqs, [1, 2]);
  deepStrictEqual(record.statusLog.map(({ status }) => status.timestamp), [
    "2026-10-08T12:00:00.000Z",
    "2026-10-08T12:00:00.001Z",
  ]);
  deepStrictEqual([record.rev, record.task.status.state], [1, "TASK_STATE_WORKING"]);
});

Deno.test("newTask() makes a failed task with nothing to run over the hop limit [SM1 T1h]", () => {
  const record = sampleTask({ failed: "hop limit" });
  deepStrictEqual(outcome(record), { state: "FAILED", text: "hop limit", seqs: [1], runs: false, response: "" });
});

Deno.test("newTask() takes the ids of the task over those that the message names", () => {
  const { id, contextId } = sampleTask().task;
  const record = newTask({
    id,
    caller: sampleTask().caller,
    contextId,
    hops: 2,
    message: { ...message, contextId: "other" },
    run: sampleRun(),
  }, moment());
  deepStrictEqual([record.task.history![0]!.contextId, record.task.history![0]!.taskId, record.hops], ["c1", id, 2]);
});

Deno.test("nextTask() keeps question and answer in the history [SM1 T11]", () => {
  const record = after(waiting(), { kind: "message", message: answer, run: nextRun });
  deepStrictEqual(record.task.history!.map(({ role, parts }) => [role, parts[0]!.text]), [
    ["ROLE_USER", "Hello"],
    ["ROLE_AGENT", "Which?"],
    ["ROLE_USER", "This one"],
  ]);
  const { taskId, contextId } = record.task.history![2]!;
  deepStrictEqual([taskId, contextId], [record.task.id, "c1"]);
});

Deno.test("isForgettable() lets a terminal task go that no webhook waits for [SM1 T17]", () => {
  const done = answered(working());
  strictEqual(isForgettable(answered(sampleTask({ working: true }))), true);
  strictEqual(isForgettable(done), false);
  strictEqual(isForgettable(acknowledged(done, "w1")), true);
  strictEqual(isForgettable(acknowledged(working(), "w1")), false);
  strictEqual(isForgettable(waiting()), false);
});

Deno.test("nextTask() changes nothing of a terminal task, and tells a repeated cancel so [SM1 T16, §5.5 terminal-final]", () => {
  const canceled = after(working(), { kind: "cancel asked" });
  deepStrictEqual(nextTask(canceled, { kind: "cancel asked" }, moment()), { kind: "unchanged" });
  const late = nextTask(answered(working()), { kind: "failed", runId: r1, message: "late" }, moment());
  deepStrictEqual(late, { kind: "dropped", why: "terminal" });
  ok(nextTask(answered(working()), { kind: "cancel asked" }, moment()).kind === "refused");
});
