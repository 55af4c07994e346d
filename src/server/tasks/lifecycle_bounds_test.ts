import { deepStrictEqual, doesNotThrow, ok, strictEqual, throws } from "node:assert/strict";
import {
  acknowledged,
  after,
  answered,
  asked,
  moment,
  sampleNow,
  sampleRun,
  sampleTask,
  started,
} from "@tests/fakes/sample_tasks.ts";
import { parseTime, type TimeMs } from "@/time/clock.ts";
import {
  artifactBytes,
  artifactBytesMax,
  nextTask,
  partCharsMax,
  requireSuccessor,
  responseText,
  textParts,
} from "./lifecycle.ts";
import type { RunId, TaskRecord } from "./task_record.ts";

const times = (record: TaskRecord) => record.statusLog.map(({ status }) => parseTime(status.timestamp));
const message = (n: number) => ({ messageId: `m${n}`, role: "ROLE_USER" as const, parts: [{ text: `${n}` }] });
/** One question and its answer: three statuses. */
function round(record: TaskRecord, n: number, now: number = sampleNow): TaskRecord {
  const run = { ...sampleRun({ n }), startedAt: null };
  return started(after(asked(record, "?", now), { kind: "message", message: message(n), run }, now), now);
}

Deno.test("nextTask() gives growing timestamps when the clock jumps back [SM1 timestamps]", () => {
  let record = started(sampleTask({ pushes: ["w1"] }), sampleNow - 3_600_000);
  record = answered(asked2(record, sampleNow - 7_200_000), "Done", sampleNow - 1);
  deepStrictEqual(times(record), [0, 1, 2, 3, 4].map((ms) => sampleNow + ms));
  strictEqual(record.task.status, record.statusLog.at(-1)!.status);
});

function asked2(record: TaskRecord, now: number): TaskRecord {
  const run = { ...sampleRun({ n: 2 }), startedAt: now as TimeMs };
  return after(asked(record, "?", now), { kind: "message", message: message(2), run }, now);
}

Deno.test("nextTask() gives growing timestamps when the clock stands still, and the time when it goes [SM1 timestamps]", () => {
  const record = started(sampleTask({ pushes: ["w1"] }));
  deepStrictEqual(times(record), [sampleNow, sampleNow + 1]);
  deepStrictEqual(times(answered(record, "Done", sampleNow + 5000)).at(-1), sampleNow + 5000);
});

Deno.test("nextTask() keeps of the statuses what the slowest webhook waits for [DM5 shape]", () => {
  const seqs = (record: TaskRecord) => record.statusLog.map(({ seq }) => Number(seq));
  const none = round(started(sampleTask()), 2);
  deepStrictEqual(seqs(none), [5]);
  let record = started(sampleTask({ pushes: ["w1", "w2"] }));
  deepStrictEqual(seqs(record), [1, 2]);
  record = round(acknowledged(record, "w1"), 2);
  deepStrictEqual(seqs(record), [1, 2, 3, 4, 5]); // w2 has none yet
  record = asked(acknowledged(record, "w2"));
  deepStrictEqual(seqs(record), [3, 4, 5, 6]); // w1 has 1 and 2
  record = after(record, { kind: "cancel asked" });
  deepStrictEqual(seqs({ ...record }), [3, 4, 5, 6, 7]);
});

Deno.test("nextTask() keeps at most 200 statuses, the newest, and their numbers go on [DM5 bounds]", () => {
  let record = started(sampleTask({ pushes: ["w1"] }));
  for (let n = 2; n <= 100; n++) record = round(record, n);
  strictEqual(record.statusLog.length, 200);
  strictEqual(record.statusLog.at(-1)!.seq, 299);
  strictEqual(record.statusLog[0]!.seq, 100);
});

Deno.test("nextTask() wakes webhooks that did not fail, and leaves those that wait for a retry", () => {
  const record = started(sampleTask({ pushes: ["w1", "w2", "w3"] }));
  const [w1, w2, w3] = record.pushes;
  const retrying = { ...w2!, failures: 2, nextAt: sampleNow + 60_000 as TimeMs };
  const over = { ...w3!, state: "gave up" as const, nextAt: null };
  const later = sampleNow + 10;
  const next = answered({ ...record, pushes: [{ ...w1!, nextAt: null }, retrying, over] }, "Done", later);
  deepStrictEqual(next.pushes.map(({ nextAt }) => nextAt), [later, sampleNow + 60_000, null]);
});

Deno.test("nextTask() sums the usage of all runs of a task [DM5 shape]", () => {
  const used = (inputTokens: number, outputTokens: number) => ({ usage: { inputTokens, outputTokens } });
  const first = started(sampleTask());
  const question = after(first, { kind: "asked", runId: first.run!.runId, question: "?", text: "", ...used(1, 10) });
  const run = { ...sampleRun({ n: 2 }), startedAt: sampleNow };
  const second = after(question, { kind: "message", message: message(2), run });
  const done = after(second, { kind: "failed", runId: "r2" as RunId, message: "no", ...used(2, 20) });
  deepStrictEqual(done.usage, { inputTokens: 3, outputTokens: 30 });
});

Deno.test("nextTask() replaces the response of the run before, and keeps files [§5.5 response]", () => {
  const first = started(sampleTask());
  const artifact = { artifactId: "f1", parts: [{ text: "file" }] };
  const sent = after(first, { kind: "file sent", runId: first.run!.runId, artifact });
  const question = after(sent, { kind: "asked", runId: first.run!.runId, question: "?", text: "First" });
  const run = { ...sampleRun({ n: 2 }), startedAt: sampleNow };
  const done = answered(after(question, { kind: "message", message: message(2), run }), "Second");
  strictEqual(responseText(done.task), "Second");
  deepStrictEqual(done.task.artifacts!.map(({ artifactId }) => artifactId).sort(), ["f1", "response"]);
});

Deno.test("nextTask() takes the truncated mark away when a later answer is whole [§5.5 response]", () => {
  const record = started(sampleTask());
  const marked = { ...record, task: { ...record.task, metadata: { "volcanic.truncated": true, kept: 1 } } };
  deepStrictEqual(answered(marked).task.metadata, { kept: 1 });
});

Deno.test("nextTask() refuses what would make a history of over 1,000 messages [DM5 bounds]", () => {
  const waiting = asked(started(sampleTask()));
  const run = sampleRun({ n: 2 });
  const filled = (count: number) => ({
    ...waiting,
    task: { ...waiting.task, history: Array.from({ length: count }, (_, n) => message(n)) },
  });
  strictEqual(after(filled(998), { kind: "message", message: message(2), run }).task.history!.length, 1000);
  const decision = nextTask(filled(999), { kind: "message", message: message(2), run }, moment());
  deepStrictEqual(decision, { kind: "refused", why: "too long" });
});

Deno.test("textParts() spreads text over parts of at most 1 Mi characters [DM5 bounds]", () => {
  deepStrictEqual(textParts(""), [{ text: "" }]);
  strictEqual(textParts("x".repeat(partCharsMax)).length, 1);
  const text = "x".repeat(2 * partCharsMax + 1);
  deepStrictEqual(textParts(text).map((part) => part.text!.length), [partCharsMax, partCharsMax, 1]);
});

Deno.test("textParts() never cuts a character in two [DM5 bounds]", () => {
  for (const before of [partCharsMax - 2, partCharsMax - 1, partCharsMax, 2 * partCharsMax - 3]) {
    const text = "x".repeat(before) + "🌋".repeat(3) + "y".repeat(partCharsMax);
    const parts = textParts(text);
    strictEqual(parts.map((part) => part.text).join(""), text);
    for (const part of parts) {
      ok(part.text!.isWellFormed());
      ok(part.text!.length <= partCharsMax);
    }
  }
  const halves = "\ud83c".repeat(partCharsMax + 5); // no text, but it must end
  strictEqual(textParts(halves).map((part) => part.text).join(""), halves);
});

Deno.test("requireSuccessor() throws for another revision, and for a terminal status that changes [SM1 T16]", () => {
  const working = started(sampleTask());
  throws(() => requireSuccessor(working, { ...answered(working), rev: 7 as TaskRecord["rev"] }), RangeError);
  const done = answered(working);
  const next = { ...done, rev: done.rev + 1 as TaskRecord["rev"] };
  doesNotThrow(() => requireSuccessor(done, next));
  const status = { ...done.task.status, state: "TASK_STATE_FAILED" as const };
  throws(() => requireSuccessor(done, { ...next, task: { ...done.task, status } }), RangeError);
});

Deno.test("requireSuccessor() compares terminal statuses by value: one read again from disk is the same", () => {
  const done = answered(started(sampleTask({ pushes: ["w1"] })));
  const again = structuredClone(done);
  doesNotThrow(() => requireSuccessor(done, acknowledged(again, "w1")));
});

Deno.test("nextTask() refuses a file with which a task would have sent over 256 MiB [DM5 bounds]", () => {
  const record = started(sampleTask());
  const file = (bytes: number) => ({
    kind: "file sent" as const,
    runId: record.run!.runId,
    artifact: { artifactId: `${bytes}`, parts: [{ raw: { blob: "00", bytes }, filename: "a.bin" }] },
  });
  const full = after(after(record, file(artifactBytesMax - 3)), {
    ...file(3),
    artifact: { artifactId: "inline", parts: [{ raw: btoa("abc"), filename: "a.txt" }] },
  });
  strictEqual(artifactBytes(full.task.artifacts), artifactBytesMax);
  deepStrictEqual(nextTask(full, file(1), moment()), { kind: "refused", why: "too large" });
});

Deno.test("nextTask() cuts what a run failed with: it must fit whatever the task holds [DM5 bounds]", () => {
  const record = started(sampleTask());
  const failed = after(record, { kind: "failed", runId: record.run!.runId, message: "x".repeat(1_000_000) });
  strictEqual(failed.task.status.message?.parts[0]?.text?.length, 4096);
});
