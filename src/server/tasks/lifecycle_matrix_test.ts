import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { after, answered, asked, moment, sampleNow, sampleRun, sampleTask } from "@tests/fakes/sample_tasks.ts";
import { type State, states } from "@/protocol/task.ts";
import type { TimeMs } from "@/time/clock.ts";
import { nextTask, type TaskDecision, type TaskEvent } from "./lifecycle.ts";
import type { Fence, RunId, TaskRecord } from "./task_record.ts";

/** Where a task may be: a state, and for `submitted` whether its run was lost before. */
type From = State | "submitted again";

const working = () => sampleTask({ working: true });
const again = () => after(sampleTask(), { kind: "queued again", fence: 2 as Fence });
const rejected = (): TaskRecord => {
  const record = after(working(), { kind: "cancel asked" });
  const status = { ...record.task.status, state: "TASK_STATE_REJECTED" as const };
  return { ...record, task: { ...record.task, status }, statusLog: [{ ...record.statusLog[0]!, status }] };
};

const records: Readonly<Record<From, () => TaskRecord>> = {
  TASK_STATE_SUBMITTED: () => sampleTask(),
  "submitted again": again,
  TASK_STATE_WORKING: working,
  TASK_STATE_INPUT_REQUIRED: () => asked(working()),
  TASK_STATE_COMPLETED: () => answered(working()),
  TASK_STATE_FAILED: () => sampleTask({ failed: "hop limit" }),
  TASK_STATE_CANCELED: () => after(working(), { kind: "cancel asked" }),
  TASK_STATE_REJECTED: rejected,
};

const runId = "r1" as RunId;
const other = "r9" as RunId;
const answer = { messageId: "m2", role: "ROLE_USER" as const, parts: [{ text: "This" }] };
const run = sampleRun({ n: 2 });
const artifact = { artifactId: "f1", parts: [{ text: "x" }] };

const events: Readonly<Record<string, TaskEvent>> = {
  started: { kind: "started", runId, deadline: null },
  "file sent": { kind: "file sent", runId, artifact },
  asked: { kind: "asked", runId, question: "?", text: "" },
  answered: { kind: "answered", runId, text: "!", truncated: false, files: 0 },
  "answered nothing": { kind: "answered", runId, text: "", truncated: false, files: 0 },
  failed: { kind: "failed", runId, message: "no" },
  "deadline passed": { kind: "deadline passed", runId, limit: "24 h" },
  "cancel asked": { kind: "cancel asked" },
  message: { kind: "message", message: answer, run },
  "message, slot free": { kind: "message", message: answer, run: { ...run, startedAt: sampleNow } },
  "message of another context": { kind: "message", message: { ...answer, contextId: "c2" }, run },
  "no answer came": { kind: "no answer came" },
  "queued again": { kind: "queued again", fence: 3 as Fence },
  "host lost": { kind: "host lost" },
  "caller removed": { kind: "caller removed" },
  "started, another run": { kind: "started", runId: other, deadline: null },
  "file sent, another run": { kind: "file sent", runId: other, artifact },
  "asked, another run": { kind: "asked", runId: other, question: "?", text: "" },
  "answered, another run": { kind: "answered", runId: other, text: "!", truncated: false, files: 0 },
  "failed, another run": { kind: "failed", runId: other, message: "no" },
  "deadline passed, another run": { kind: "deadline passed", runId: other, limit: "24 h" },
};

const terminal = ["TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED"] as const;
const wrong = "dropped: wrong state";
const foreign = "dropped: another run";

/** In the order: submitted, submitted again, working, input-required. */
const expected: Readonly<Record<string, readonly [string, string, string, string]>> = {
  started: ["WORKING", "WORKING", wrong, foreign],
  "file sent": [wrong, wrong, "WORKING", foreign],
  asked: [wrong, wrong, "INPUT_REQUIRED", foreign],
  answered: [wrong, wrong, "COMPLETED", foreign],
  "answered nothing": [wrong, wrong, "FAILED", foreign],
  // A queued run may fail before it begins: its context could not be opened.
  failed: ["FAILED", "FAILED", "FAILED", foreign],
  "deadline passed": [wrong, wrong, "FAILED", foreign],
  "cancel asked": ["CANCELED", "CANCELED", "CANCELED", "CANCELED"],
  message: ["refused: busy", "refused: busy", "refused: busy", "SUBMITTED"],
  "message, slot free": ["refused: busy", "refused: busy", "refused: busy", "WORKING"],
  "message of another context": Array(4).fill("refused: wrong context") as [string, string, string, string],
  "no answer came": [wrong, wrong, wrong, "FAILED"],
  "queued again": ["SUBMITTED", "FAILED", "FAILED", wrong],
  "host lost": ["FAILED", "FAILED", "FAILED", wrong],
  "caller removed": ["CANCELED", "CANCELED", "CANCELED", "CANCELED"],
  ...Object.fromEntries(
    Object.keys(events).filter((name) => name.endsWith("another run")).map((name) => [name, Array(4).fill(foreign)]),
  ),
};

/** What is told to a terminal task; `TASK_STATE_CANCELED` alone takes a second cancel. */
function ofTerminal(name: string, from: From): string {
  if (name.startsWith("message")) return "refused: terminal";
  if (name !== "cancel asked") return "dropped: terminal";
  return from === "TASK_STATE_CANCELED" ? "unchanged" : "refused: not cancelable";
}

function brief(decision: TaskDecision): string {
  if (decision.kind === "changed") return decision.record.task.status.state.replace("TASK_STATE_", "");
  return "why" in decision ? `${decision.kind}: ${decision.why}` : decision.kind;
}

const froms = Object.keys(records) as From[];

for (const [name, event] of Object.entries(events)) {
  Deno.test(`nextTask() decides "${name}" in every state [SM1 message-to-busy, SM1 message-to-terminal, SM1 T16]`, () => {
    const got = froms.map((from) => brief(nextTask(records[from](), event, moment())));
    deepStrictEqual(got, [...expected[name]!, ...terminal.map((from) => ofTerminal(name, from))]);
  });
}

Deno.test("nextTask() has a row of the matrix for every state and every kind of event", () => {
  const seen = new Set(froms.map((from) => records[from]().task.status.state));
  deepStrictEqual([...seen], [...states]);
  deepStrictEqual(Object.keys(expected).sort(), Object.keys(events).sort());
  strictEqual(new Set(Object.values(events).map(({ kind }) => kind)).size, 12);
});

Deno.test("nextTask() never goes a way that is not in the table, whatever the order of events [SM1 T16]", () => {
  const ways = new Set([
    "SUBMITTED>WORKING",
    "SUBMITTED>CANCELED",
    "SUBMITTED>FAILED",
    "SUBMITTED>SUBMITTED",
    "WORKING>WORKING",
    "WORKING>INPUT_REQUIRED",
    "WORKING>COMPLETED",
    "WORKING>FAILED",
    "WORKING>CANCELED",
    "INPUT_REQUIRED>WORKING",
    "INPUT_REQUIRED>SUBMITTED",
    "INPUT_REQUIRED>FAILED",
    "INPUT_REQUIRED>CANCELED",
  ]);
  const seen = new Set<string>();
  const walk = (record: TaskRecord, depth: number) => {
    for (const each of Object.values(events)) {
      const event = "runId" in each && each.runId === runId && record.run
        ? { ...each, runId: record.run.runId } as TaskEvent
        : each;
      const decision = nextTask(record, event, moment(sampleNow + depth as TimeMs));
      if (decision.kind !== "changed") continue;
      const [from, to] = [record, decision.record].map(({ task }) => task.status.state.replace("TASK_STATE_", ""));
      seen.add(`${from}>${to}`);
      if (depth < 5) walk(decision.record, depth + 1);
    }
  };
  walk(sampleTask(), 0);
  deepStrictEqual([...seen].sort(), [...ways].sort());
});
