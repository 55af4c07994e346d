import { deepStrictEqual } from "node:assert/strict";
import { acknowledged, answered, sampleNow, sampleTask, started } from "@tests/fakes/sample_tasks.ts";
import type { TimeMs } from "@/time/clock.ts";
import { PushClaims } from "./push_claims.ts";
import type { TaskRecord } from "./task_record.ts";

const leaseMs = 60_000;
const claim = (claims: PushClaims, record: TaskRecord, options: { now?: number; limit?: number } = {}) =>
  claims.claim(record, { now: (options.now ?? sampleNow) as TimeMs, limit: options.limit ?? 9, leaseMs })
    .map(({ configId }) => configId);
const record = sampleTask({ pushes: ["w1", "w2"], working: true });

Deno.test("PushClaims claims each due webhook once, until its lease is over", () => {
  const claims = new PushClaims();
  deepStrictEqual(claim(claims, record), ["w1", "w2"]);
  deepStrictEqual(claim(claims, record), []);
  deepStrictEqual(claim(claims, record, { now: sampleNow + leaseMs - 1 }), []);
  deepStrictEqual(claim(claims, record, { now: sampleNow + leaseMs }), ["w1", "w2"]);
});

Deno.test("PushClaims claims no more than it is asked for", () => {
  const claims = new PushClaims();
  deepStrictEqual(claim(claims, record, { limit: 1 }), ["w1"]);
  deepStrictEqual(claim(claims, record, { limit: 0 }), []);
  deepStrictEqual(claim(claims, record, { limit: 1 }), ["w2"]);
});

Deno.test("PushClaims leaves webhooks that are over, retry later, or were told all", () => {
  const [w1, w2] = record.pushes;
  const told = { ...w1!, acked: record.statusLog.at(-1)!.seq };
  const later = { ...w2!, nextAt: sampleNow + 1 as TimeMs };
  const over = { ...w2!, target: { ...w2!.target, id: "w3" }, state: "gave up" as const };
  deepStrictEqual(claim(new PushClaims(), { ...record, pushes: [told, later, over] }), []);
  deepStrictEqual(claim(new PushClaims(), { ...record, pushes: [later] }, { now: sampleNow + 1 }), ["w2"]);
});

Deno.test("PushClaims keeps a claim over a new status: one request at a time a webhook", () => {
  const claims = new PushClaims();
  claim(claims, record);
  const next = answered(record);
  claims.committed(record, next);
  deepStrictEqual(claim(claims, next), []);
});

Deno.test("PushClaims ends the claim of the webhook whose own state was committed", () => {
  const claims = new PushClaims();
  claim(claims, record);
  const told = acknowledged(record, "w1");
  claims.committed(record, told);
  const next = answered(told);
  claims.committed(told, next);
  deepStrictEqual(claim(claims, next), ["w1"]);
  const failed = { ...next, pushes: next.pushes.map((push) => ({ ...push, failures: push.failures + 1 })) };
  claims.committed(next, failed);
  deepStrictEqual(claim(claims, failed), ["w1", "w2"]);
});

Deno.test("PushClaims ends all claims of a task that is gone", () => {
  const claims = new PushClaims();
  claim(claims, record);
  claims.committed(record, undefined);
  deepStrictEqual(claim(claims, started(sampleTask({ pushes: ["w1", "w2"] }))), ["w1", "w2"]);
});
