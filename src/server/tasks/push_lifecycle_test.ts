import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { after, answered, asked, moment, sampleNow, sampleTask, started } from "@tests/fakes/sample_tasks.ts";
import type { TimeMs } from "@/time/clock.ts";
import { nextTask } from "./lifecycle.ts";
import { isSameTarget, nextStatus, pushDayMs, pushDelayMs, type PushEvent, webhooksMax } from "./push_lifecycle.ts";
import type { PushState, PushTarget, Seq, TaskRecord } from "./task_record.ts";

const secrets = { token: "t", authentication: { scheme: "Bearer", credentials: "c" } };
const target: PushTarget = { id: "w", url: "https://hooks.example/w", ...secrets };
const bare = { id: "w", url: "https://hooks.example/w" };
const running = started(sampleTask());
const over = answered(running);

const set = (record: TaskRecord, one = target, now = sampleNow as number) =>
  after(record, { kind: "webhook set", target: one }, now);
const taken = (seq: number, one = target): PushEvent => ({
  kind: "push taken",
  push: { target: one, seq: seq as Seq },
});
const failed = (seq: number, more: { isRefusal?: boolean; retryAfterMs?: number; error?: string } = {}): PushEvent => ({
  kind: "push failed",
  push: { target, seq: seq as Seq },
  error: "500",
  isRefusal: false,
  fraction: 0.5,
  ...more,
});
const webhook = (record: TaskRecord, id = "w") => record.pushes.find((push) => push.target.id === id)!;
const seqs = (record: TaskRecord) => record.statusLog.map(({ seq }) => seq);
const why = (record: TaskRecord, event: PushEvent) => {
  const decision = nextTask(record, event, moment());
  return "why" in decision ? decision.why : decision.kind;
};

Deno.test("a webhook that is set is owed the current status, on a task that is over too [SM6 set]", () => {
  for (const [record, seq] of [[running, 2], [over, 3]] as const) {
    const next = set(record, target, sampleNow + 5);
    const push = webhook(next);
    deepStrictEqual([push.acked, push.state, push.nextAt], [seq - 1, "active", sampleNow + 5]);
    deepStrictEqual([nextStatus(next, push)!.seq, next.rev], [seq, record.rev + 1]);
    strictEqual(next.task, record.task);
  }
});

Deno.test("a webhook that is set again under its id is another one, and is told the current status anew", () => {
  const told = after(set(running), taken(2));
  const again = set(told, { ...target, url: "https://other.example/" });
  deepStrictEqual([again.pushes.length, webhook(again).acked], [1, 1]);
  strictEqual(why(again, taken(2)), "out of date");
  strictEqual(why(again, taken(2, webhook(again).target)), "changed");
});

Deno.test("a task takes 16 webhooks, and one of them may be set anew [§5.7 webhooks-a-task, case 32]", () => {
  let record = running;
  for (let n = 0; n < webhooksMax; n++) record = set(record, { ...target, id: `w${n}` });
  strictEqual(why(record, { kind: "webhook set", target: { ...target, id: "one more" } }), "too many webhooks");
  strictEqual(set(record, { ...target, id: "w3" }).pushes.length, webhooksMax);
  const fewer = after(record, { kind: "webhook deleted", configId: "w3" });
  strictEqual(set(fewer, { ...target, id: "one more" }).pushes.length, webhooksMax);
});

Deno.test("a status and what webhooks are owed of it are one record; the log keeps what one still needs [SM6 committed]", () => {
  const first = asked(set(running), "?", sampleNow + 9);
  deepStrictEqual([webhook(first).nextAt, seqs(first)], [sampleNow + 9, [2, 3]]);
  const told = after(after(first, taken(2)), taken(3));
  deepStrictEqual([seqs(told), webhook(told).nextAt, webhook(told).state], [[3], null, "active"]);
});

Deno.test("a webhook takes its statuses one by one, oldest first, until the task is over and all is told [SM6 oldest-first, SM6 taken]", () => {
  const record = answered(set(running), "Done", sampleNow + 9);
  strictEqual(nextStatus(record, webhook(record))!.seq, 2);
  const one = after(record, taken(2), sampleNow + 20);
  deepStrictEqual([nextStatus(one, webhook(one))!.seq, webhook(one).nextAt], [3, sampleNow + 20]);
  const both = after(one, taken(3));
  deepStrictEqual([webhook(both).state, webhook(both).nextAt, nextStatus(both, webhook(both))], [
    "done",
    null,
    undefined,
  ]);
});

Deno.test("secrets are erased when a webhook is over, whatever ended it [§5.7 secrets-unseen, case 32]", () => {
  const gone: PushEvent = { kind: "receiver gone", push: { target, seq: 3 as Seq } };
  const ends: readonly [PushState["state"], TaskRecord][] = [
    ["done", after(set(over), taken(3))],
    ["gone", after(set(over), gone)],
    ["gone", after(set(over), { kind: "webhooks stopped" })],
    ["gone", after(set(running), { kind: "caller removed" })],
    ["gave up", failing(set(over), 5, { isRefusal: true })],
  ];
  for (const [state, record] of ends) {
    deepStrictEqual([webhook(record).state, webhook(record).target, webhook(record).nextAt], [state, bare, null]);
    ok(!JSON.stringify(record).includes("Bearer"));
  }
});

Deno.test("a webhook that is over stays readable, and deletion removes it [SM6 readable, SM6 gone]", () => {
  const done = after(set(over), taken(3));
  strictEqual(done.pushes.length, 1);
  deepStrictEqual(after(done, { kind: "webhook deleted", configId: "w" }).pushes, []);
  strictEqual(why(done, { kind: "webhook deleted", configId: "other" }), "unchanged");
  strictEqual(why(done, { kind: "webhooks stopped" }), "unchanged");
});

Deno.test("what comes about a webhook that is over, deleted, or ahead is out of date", () => {
  const done = after(set(over), taken(3));
  const deleted = after(set(over), { kind: "webhook deleted", configId: "w" });
  const ahead = after(set(running), taken(2));
  for (const record of [done, deleted, ahead]) {
    for (const event of [taken(2), failed(2)]) strictEqual(why(record, event), "out of date");
  }
});

function failing(record: TaskRecord, times: number, more: Parameters<typeof failed>[1] = {}): TaskRecord {
  let next = record;
  for (let n = 0; n < times; n++) next = after(next, failed(3, more), sampleNow + n);
  return next;
}

Deno.test("a failure is tried again later, and a success forgets all failures [SM6 retry]", () => {
  const twice = failing(set(over), 2);
  const { failures, firstFailureAt, nextAt, lastError, state } = webhook(twice);
  deepStrictEqual([failures, firstFailureAt, nextAt, lastError, state], [
    ...[2, sampleNow, sampleNow + 1 + 2000],
    ...["500", "active"],
  ]);
  const { lastError: error, failures: left, firstFailureAt: first } = webhook(after(twice, taken(3)));
  deepStrictEqual([error, left, first], [undefined, 0, null]);
});

Deno.test("a new status does not hurry a webhook that waits to be tried again [SM6 retry]", () => {
  const waiting = after(set(running), failed(2), sampleNow);
  strictEqual(webhook(answered(waiting, "Done", sampleNow + 10)).nextAt, sampleNow + 1000);
});

Deno.test("pushDelayMs() doubles from 1 s to 15 min, spread by a fifth, and obeys Retry-After up to an hour [SM6 retry]", () => {
  const delays = [1, 2, 3, 10, 11, 50].map((failures) => pushDelayMs(failures, { fraction: 0.5 }));
  deepStrictEqual(delays, [1000, 2000, 4000, 512_000, 900_000, 900_000]);
  deepStrictEqual([0, 1].map((fraction) => pushDelayMs(1, { fraction })), [800, 1200]);
  const asked = [500, 5000, 10 * 60 * 60_000].map((retryAfterMs) => pushDelayMs(1, { fraction: 0.5, retryAfterMs }));
  deepStrictEqual(asked, [1000, 5000, 60 * 60_000]);
});

Deno.test("a webhook is given up at the first failure after a day of them [SM6 gave-up]", () => {
  const first = after(set(over), failed(3), sampleNow);
  const still = after(first, failed(3), sampleNow + pushDayMs - 1);
  strictEqual(webhook(still).state, "active");
  strictEqual(webhook(after(still, failed(3), sampleNow + pushDayMs)).state, "gave up");
});

Deno.test("a webhook is given up when the guard refused five times in a row, and not before [SM6 gave-up, case 31]", () => {
  const four = failing(set(over), 4, { isRefusal: true, error: "ADDRESS_FORBIDDEN" });
  deepStrictEqual([webhook(four).state, webhook(four).refusals], ["active", 4]);
  const between = failing(four, 1);
  strictEqual(webhook(failing(between, 4, { isRefusal: true })).state, "active");
  const fifth = failing(four, 1, { isRefusal: true, error: "ADDRESS_FORBIDDEN" });
  deepStrictEqual([webhook(fifth).state, webhook(fifth).lastError], ["gave up", "ADDRESS_FORBIDDEN"]);
});

Deno.test("a webhook may come with the message that continues a task: it is told what follows [§5.7 inline]", () => {
  const waiting = asked(running);
  const run = { ...running.run!, startedAt: sampleNow as TimeMs };
  const message = { messageId: "m2", role: "ROLE_USER" as const, parts: [{ text: "this" }] };
  const next = after(waiting, { kind: "message", message, run, push: target });
  deepStrictEqual([webhook(next).acked, nextStatus(next, webhook(next))!.status.state], [3, "TASK_STATE_WORKING"]);
});

Deno.test("the log of a webhook that takes nothing keeps old statuses short, and the newest whole [SM6 superseded]", () => {
  const question = "?".repeat(5_000);
  const record = answered(set(running), question);
  const waiting = asked(set(running), question);
  const run = { ...running.run!, startedAt: sampleNow as TimeMs };
  const message = { messageId: "m2", role: "ROLE_USER" as const, parts: [{ text: "this" }] };
  const next = after(waiting, { kind: "message", message, run });
  const words = (of: TaskRecord) => of.statusLog.map(({ status }) => status.message?.parts[0]?.text?.length);
  deepStrictEqual([words(waiting), words(next), words(record)], [
    [undefined, 5_000],
    [undefined, undefined, undefined],
    [
      undefined,
      undefined,
    ],
  ]);
  strictEqual(next.task.history!.at(-2)!.parts[0]!.text, question);
  const short = after(asked(set(running), "Which?"), { kind: "message", message, run });
  deepStrictEqual(words(short), [undefined, 6, undefined]);
});

Deno.test("isSameTarget() tells webhooks apart by everything that their caller gave", () => {
  ok(isSameTarget(target, { ...target, authentication: { ...secrets.authentication } }));
  const others: readonly Partial<PushTarget>[] = [
    { id: "x" },
    { url: "https://x.example/" },
    { token: undefined },
    { version: "0.3" },
    { authentication: undefined },
    { authentication: { scheme: "Basic", credentials: "c" } },
    { authentication: { scheme: "Bearer", credentials: "d" } },
  ];
  for (const other of others) ok(!isSameTarget(target, { ...target, ...other }));
});
