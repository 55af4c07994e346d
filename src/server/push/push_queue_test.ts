import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { takeLog } from "@tests/fakes/log_lines.ts";
import { hookUrl, openPushes, PushFixture } from "@tests/fakes/push_fixture.ts";
import { ann, asked, bob } from "@tests/fakes/sample_tasks.ts";
import type { TimeMs } from "@/time/clock.ts";

const ok200 = { status: 200 };

/** A promise, and what lets it go. */
const gate = () => Promise.withResolvers<void>();

Deno.test("PushQueue tells a webhook each status in order, and ends when the task is over [SM6 oldest-first, SM6 taken]", async () => {
  await using made = await openPushes();
  made.outbound.answer(hookUrl("w"), ok200);
  const record = await made.make();
  deepStrictEqual(made.sent, ["w 1", "w 2"]);
  await made.answer(record);
  deepStrictEqual(made.sent, ["w 1", "w 2", "w 3"]);
  const { state, target } = await made.webhook(record);
  deepStrictEqual([state, target], ["done", { id: "w", url: hookUrl("w") }]);
  deepStrictEqual(made.outbound.open, 0);
});

Deno.test("PushQueue sends nothing of a status before it is committed [§5.7 pushed-after-readable, SM6 committed]", async () => {
  await using made = await openPushes();
  made.outbound.answer(hookUrl("w"), ok200);
  const record = await made.make();
  const held = made.gate.hold("completed");
  const answering = made.answer(record);
  await held.reached;
  await made.clock.advance(60_000);
  deepStrictEqual(made.sent, ["w 1", "w 2"]);
  held.release();
  await answering;
  deepStrictEqual(made.sent, ["w 1", "w 2", "w 3"]);
});

Deno.test("PushQueue sends to a webhook one at a time, whatever comes meanwhile [SM6 one-at-a-time]", async () => {
  await using made = await openPushes();
  const hold = gate();
  made.outbound.answer(hookUrl("w"), { hold: hold.promise }, ok200);
  const record = await made.make();
  await made.answer(record);
  await made.clock.advance(10_000);
  deepStrictEqual(made.sent, ["w 1"]);
  hold.resolve();
  await made.clock.settle();
  deepStrictEqual(made.sent, ["w 1", "w 2", "w 3"]);
});

Deno.test("PushQueue tries a status again until it is taken, later ones wait behind it [SM6 retry, SM6 webhook-id]", async () => {
  await using made = await openPushes();
  made.outbound.answer(hookUrl("w"), { status: 500 }, { fail: "TLS_FAILED" }, ok200);
  const record = await made.make();
  await made.answer(record);
  deepStrictEqual([made.sent, (await made.webhook(record)).lastError], [["w 1"], "500"]);
  await made.clock.advance(999);
  strictEqual(made.sent.length, 1);
  await made.clock.advance(1);
  deepStrictEqual([made.sent, (await made.webhook(record)).lastError], [["w 1", "w 1"], "TLS_FAILED"]);
  await made.clock.advance(2_000);
  deepStrictEqual(made.sent, ["w 1", "w 1", "w 1", "w 2", "w 3"]);
  const ids = made.outbound.requests.map(({ headers }) => headers!["webhook-id"]);
  deepStrictEqual(ids.slice(0, 4), [...Array(3).fill(`${record.task.id}_w_1`), `${record.task.id}_w_2`]);
});

Deno.test("PushQueue waits as long as Retry-After asks [SM6 retry]", async () => {
  await using made = await openPushes();
  made.outbound.answer(hookUrl("w"), { status: 503, headers: { "Retry-After": "90" } }, ok200);
  await made.make();
  await made.clock.advance(89_999);
  strictEqual(made.sent.length, 1);
  await made.clock.advance(1);
  deepStrictEqual(made.sent, ["w 1", "w 1", "w 2"]);
});

Deno.test("PushQueue ends a webhook that answers 410 [SM6 gone]", async () => {
  await using made = await openPushes();
  made.outbound.answer(hookUrl("w"), { status: 410 });
  const record = await made.make();
  await made.answer(record);
  await made.clock.advance(3_600_000);
  deepStrictEqual([made.sent, (await made.webhook(record)).state], [["w 1"], "gone"]);
});

Deno.test("PushQueue holds up nobody for a webhook that fails, hangs or redirects [SM6 others-unharmed]", async () => {
  await using made = await openPushes();
  const webhooks = ["hangs", "refused", "redirects", "good"];
  made.outbound.answer(hookUrl("hangs"), { hold: gate().promise });
  made.outbound.answer(hookUrl("refused"), { fail: "CONNECT_FAILED" });
  made.outbound.answer(hookUrl("redirects"), { fail: "REDIRECT_FORBIDDEN" });
  made.outbound.answer(hookUrl("good"), ok200);
  const record = await made.make({ webhooks });
  await made.answer(record);
  deepStrictEqual(made.sent.filter((one) => one.startsWith("good")), ["good 1", "good 2", "good 3"]);
  strictEqual((await made.webhook(record, "good")).state, "done");
  await made.clock.advance(15_000);
  strictEqual((await made.webhook(record, "hangs")).lastError, "HEAD_TIMEOUT");
});

Deno.test("PushQueue gives up a webhook that the guard refused five times in a row, with one warning [SM6 gave-up, case 31]", async () => {
  using log = takeLog("warning");
  await using made = await openPushes();
  made.outbound.answer(hookUrl("w"), { fail: "ADDRESS_FORBIDDEN" });
  const record = await made.make();
  await made.clock.advance(3_600_000);
  deepStrictEqual([made.sent.length, (await made.webhook(record)).state], [5, "gave up"]);
  const warnings = log.lines.filter((line) => line.includes("Gave up"));
  strictEqual(warnings.length, 1);
  ok(warnings[0]!.includes("hooks.example of") && !warnings[0]!.includes("/w"));
});

Deno.test("PushQueue gives up a webhook that failed for a day, however often a status came [SM6 gave-up]", async () => {
  await using made = await openPushes();
  made.outbound.answer(hookUrl("w"), { status: 500 });
  const record = await made.make();
  await made.clock.advance(12 * 3_600_000);
  await made.answer(record);
  await made.clock.advance(12 * 3_600_000 - 1);
  strictEqual((await made.webhook(record)).state, "active");
  await made.clock.advance(15 * 60_000);
  strictEqual((await made.webhook(record)).state, "gave up");
  const sent = made.sent.length;
  await made.clock.advance(86_400_000);
  strictEqual(made.sent.length, sent);
  ok(new Set(made.sent).size === 1, "an older status is never passed over");
});

Deno.test("PushQueue spreads what was owed before its start over 30 s [SM6 restart]", async () => {
  await using made = new PushFixture();
  made.outbound.answer(hookUrl("old"), ok200);
  made.outbound.answer(hookUrl("new"), ok200);
  await made.make({ webhooks: ["old"] });
  await made.clock.advance(5_000);
  await made.start();
  await made.make({ n: 2, webhooks: ["new"] });
  await made.clock.advance(14_999);
  deepStrictEqual(made.sent, ["new 1", "new 2"]);
  await made.clock.advance(1); // chance is a half
  deepStrictEqual(made.sent, ["new 1", "new 2", "old 1", "old 2"]);
});

Deno.test("PushQueue holds what a caller is owed whose time is over, for a day [SM6 held]", async () => {
  await using made = await openPushes();
  made.outbound.answer(hookUrl("w"), ok200);
  made.standings.set(ann, "expired");
  const record = await made.make();
  await made.clock.advance(3_600_000);
  deepStrictEqual([made.sent, (await made.webhook(record)).lastError], [[], "CALLER_HELD"]);
  made.standings.set(ann, "active");
  await made.clock.advance(15 * 60_000 * 1.2);
  deepStrictEqual(made.sent, ["w 1", "w 2"]);
  made.standings.set(ann, "expired");
  await made.answer(record);
  await made.clock.advance(86_400_000 + 3_600_000);
  deepStrictEqual([made.sent.length, (await made.webhook(record)).state], [2, "gave up"]);
});

Deno.test("PushQueue stops the webhooks of a caller that is gone, whoever notices it [SM6 gone]", async () => {
  await using made = await openPushes();
  made.outbound.answer(hookUrl("w"), { status: 500 });
  const first = await made.make();
  const second = await made.make({ n: 2, caller: bob });
  await made.answer(first);
  await made.queue.expel(ann);
  made.standings.set(bob, "removed");
  await made.clock.advance(3_600_000);
  deepStrictEqual([(await made.webhook(first)).state, (await made.webhook(second)).state], ["gone", "gone"]);
  strictEqual(made.sent.length, 2);
});

Deno.test("PushQueue drops what comes of a webhook that was deleted meanwhile [SM6 gone]", async () => {
  await using made = await openPushes();
  const hold = gate();
  made.outbound.answer(hookUrl("w"), { hold: hold.promise });
  const record = await made.make();
  const next = await made.apply(record, { kind: "webhook deleted", configId: "w" });
  await made.answer(next);
  hold.resolve();
  await made.clock.advance(60_000);
  deepStrictEqual([made.sent, (await made.record(record.task.id)).pushes], [["w 1"], []]);
});

Deno.test("PushQueue tells a webhook that was set anew while it was told, as soon as that is over", async () => {
  await using made = await openPushes();
  const hold = gate();
  made.outbound.answer(hookUrl("w"), { hold: hold.promise });
  made.outbound.answer(hookUrl("other"), ok200);
  const record = await made.make();
  await made.apply(record, { kind: "webhook set", target: { id: "w", url: hookUrl("other") } });
  hold.resolve();
  await made.clock.settle();
  deepStrictEqual(made.sent, ["w 1", "other 2"]);
  strictEqual((await made.webhook(record)).acked, 2);
});

Deno.test("PushQueue lets the next one go while what was taken waits for its commit [SM6 others-unharmed]", async () => {
  await using made = await openPushes();
  const webhooks = ["1", "2", "3", "4"]; // one more than go to a host at once
  const answers = gate();
  for (const id of webhooks) made.outbound.answer(hookUrl(id), { hold: answers.promise });
  await made.make({ webhooks });
  deepStrictEqual(made.sent, ["1 1", "2 1", "3 1"]);
  const commit = made.gate.hold();
  answers.resolve();
  await commit.reached;
  await made.clock.settle();
  const sent = [...made.sent];
  commit.release();
  deepStrictEqual(sent, ["1 1", "2 1", "3 1", "4 1"]);
});

Deno.test("PushQueue does not send again what was taken while the disk is full [SM6 taken]", async () => {
  await using made = await openPushes();
  made.outbound.answer(hookUrl("w"), ok200);
  made.outbound.answer(hookUrl("v"), ok200);
  const hold = gate();
  made.outbound.answer(hookUrl("w"), { hold: hold.promise }, ok200);
  const record = await made.make();
  made.gate.isFull = true;
  hold.resolve();
  await made.clock.advance(300_000);
  deepStrictEqual(made.sent, ["w 1"]);
  made.gate.isFull = false;
  await made.clock.advance(60_000);
  deepStrictEqual([made.sent, (await made.webhook(record)).acked], [["w 1", "w 2"], 2]);
});

Deno.test("PushQueue lets what is under way go on for 2 s when the host ends, and leaves it owed [SM6 restart]", async () => {
  await using made = new PushFixture();
  const queue = await made.start();
  made.outbound.answer(hookUrl("slow"), { hold: made.clock.sleep(1_900) });
  made.outbound.answer(hookUrl("hangs"), { hold: gate().promise });
  const record = await made.make({ webhooks: ["slow", "hangs"] });
  const closing = queue[Symbol.asyncDispose]();
  await made.clock.advance(2_000);
  await closing;
  deepStrictEqual([made.outbound.open, made.clock.pending], [0, 0]);
  const [slow, hangs] = [await made.webhook(record, "slow"), await made.webhook(record, "hangs")];
  deepStrictEqual([slow.acked, hangs.acked, hangs.failures], [1, 0, 0]);
});

Deno.test("PushQueue keeps 60 sends with 16 webhooks each at one host under 60 pushes a minute [§5.7 amplification, §5.7 push-rate]", async () => {
  await using made = await openPushes();
  const webhooks = Array.from({ length: 16 }, (_, n) => `w${n}`);
  for (const id of webhooks) made.outbound.answer(hookUrl(id, "victim.example"), ok200);
  for (let n = 1; n <= 60; n++) await made.make({ n, webhooks, host: "victim.example" });
  await made.clock.settle();
  strictEqual(made.sent.length, 60);
  await made.clock.advance(59_999);
  strictEqual(made.sent.length, 60);
  await made.clock.advance(60_001);
  strictEqual(made.sent.length, 180);
});

Deno.test("PushQueue counts all ports of a host as one [§5.7 push-rate, §5.7 amplification]", async () => {
  await using made = await openPushes();
  const ids = Array.from({ length: 16 }, (_, n) => `w${n}`);
  const urls = Object.fromEntries(ids.map((id, n) => [id, `https://victim.example:${9000 + n}/${id}`]));
  for (const url of Object.values(urls)) made.outbound.answer(url, ok200);
  for (let n = 1; n <= 10; n++) await made.make({ n, urls });
  await made.clock.settle();
  strictEqual(made.sent.length, 60);
});

Deno.test("PushQueue goes on within a retry when the clock of the machine is set back [SM6 clock-set-back]", async () => {
  await using made = await openPushes();
  made.outbound.answer(hookUrl("w"), { status: 500 }, ok200);
  made.outbound.answer(hookUrl("v"), ok200);
  const record = await made.make();
  made.clock.jump(-5 * 3_600_000);
  await made.make({ n: 2, webhooks: ["v"] });
  deepStrictEqual(made.sent, ["w 1", "v 1", "v 2"]);
  await made.clock.advance(5 * 60_000);
  deepStrictEqual(made.sent.slice(3), ["w 1", "w 2"]);
  strictEqual((await made.webhook(record)).acked, 2);
});

Deno.test("PushQueue tries again soon what the disk did not let through, and holds no webhook back for its lease", async () => {
  using log = takeLog("error");
  await using made = await openPushes();
  made.outbound.answer(hookUrl("w"), ok200);
  made.store.read = () => Promise.reject(new Error("the disk failed once"));
  await made.make().catch(() => {}); // it reads, too
  Reflect.deleteProperty(made.store, "read");
  await made.clock.advance(5_000);
  deepStrictEqual(made.sent, ["w 1", "w 2"]);
  strictEqual(log.lines.length, 1);
});

Deno.test("PushQueue waits for the line whose rate is over first", async () => {
  await using made = await openPushes();
  for (const host of ["a.example", "b.example"]) {
    for (let n = 0; n < 16; n++) made.outbound.answer(hookUrl(`w${n}`, host), ok200);
  }
  const webhooks = Array.from({ length: 16 }, (_, n) => `w${n}`);
  for (let n = 1; n <= 2; n++) await made.make({ n, webhooks, host: "b.example" }); // 64 at 0 s
  await made.clock.advance(50_000);
  for (let n = 3; n <= 4; n++) await made.make({ n, webhooks, host: "a.example" }); // 64 at 50 s
  const [a, b] = [() => hostsOf("a.example"), () => hostsOf("b.example")];
  const hostsOf = (host: string) => made.outbound.requests.filter(({ url }) => url.includes(host)).length;
  deepStrictEqual([a(), b()], [60, 60]);
  await made.clock.advance(10_000);
  deepStrictEqual([a(), b()], [60, 64]);
  await made.clock.advance(50_000);
  deepStrictEqual([a(), b()], [64, 64]);
});

Deno.test("PushQueue puts back what the door has no room for: that is no failure of the receiver's", async () => {
  await using made = await openPushes();
  made.outbound.answer(hookUrl("w"), { fail: "BUSY" }, { fail: "BUSY" }, ok200);
  const record = await made.make();
  await made.clock.advance(4_999);
  deepStrictEqual([made.sent, (await made.webhook(record)).failures], [["w 1"], 0]);
  await made.clock.advance(5_001);
  deepStrictEqual([made.sent, (await made.webhook(record)).acked], [["w 1", "w 1", "w 1", "w 2"], 2]);
});

Deno.test("PushQueue fails a webhook whose URL would not be taken any more, and goes on with the others", async () => {
  await using made = await openPushes();
  made.outbound.answer(hookUrl("good"), ok200);
  await made.make({ urls: { bad: "https://user:word@hooks.example/", good: hookUrl("good") } });
  deepStrictEqual(made.sent.filter((one) => one.startsWith("good")), ["good 1", "good 2"]);
});

Deno.test("PushQueue spreads old pushes and retries by chance, not all at one moment [SM6 restart, SM6 retry]", async () => {
  await using made = new PushFixture();
  let count = 0;
  made.random.fraction = () => [0.1, 0.9, 0.3, 0.6][count++ % 4]!;
  const ids = ["a", "b", "c"];
  for (const id of ids) made.outbound.answer(hookUrl(id), { status: 500 });
  await made.make({ webhooks: ids });
  await made.start();
  const times: number[] = [];
  for (let second = 0; second < 31; second++) {
    const before = made.sent.length;
    await made.clock.advance(1_000);
    if (made.sent.length > before) times.push(second);
  }
  ok(new Set(times).size >= 5, String(times));
});

Deno.test("PushQueue reports each try with its status, its time and its size", async () => {
  await using made = await openPushes();
  made.outbound.answer(hookUrl("w"), { status: 503, hold: made.clock.sleep(40) }, ok200);
  await made.make();
  await made.clock.advance(2_000);
  const reports = made.reports.map(({ result, ms }) => [result.kind, result.status, ms]);
  deepStrictEqual(reports, [["failed", 503, 40], ["taken", 200, 0], ["taken", 200, 0]]);
  ok(made.reports.every(({ result }) => result.bytes > 100));
  const { "pushes.sent": sent, "pushes.taken": taken, "pushes.failed": failed } = made.counters.snapshot();
  deepStrictEqual([sent, taken, failed], [3, 2, 1]);
});

Deno.test("PushQueue goes on when a question is asked and answered: the webhook hears all of it", async () => {
  await using made = await openPushes();
  made.outbound.answer(hookUrl("w"), ok200);
  const record = await made.make();
  const { runId } = record.run!;
  const waiting = await made.apply(record, { kind: "asked", runId, question: "Which?", text: "" });
  strictEqual(asked(record).task.status.state, waiting.task.status.state);
  const message = { messageId: "m2", role: "ROLE_USER" as const, parts: [{ text: "this" }] };
  const run = { ...record.run!, startedAt: made.clock.now() as TimeMs };
  await made.answer(await made.apply(waiting, { kind: "message", message, run }));
  deepStrictEqual([made.sent, (await made.webhook(record)).state], [["w 1", "w 2", "w 3", "w 4", "w 5"], "done"]);
});
