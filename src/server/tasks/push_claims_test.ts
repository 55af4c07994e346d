import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { acknowledged, after, answered, sampleNow, sampleTask } from "@tests/fakes/sample_tasks.ts";
import type { TimeMs } from "@/time/clock.ts";
import { PushClaims } from "./push_claims.ts";
import { TaskIndex } from "./task_index.ts";
import type { TaskRecord } from "./task_record.ts";

const leaseMs = 60_000;
const record = sampleTask({ pushes: ["w1", "w2"], working: true });

/** Claims over a store that holds one record, which a test replaces as a commit would. */
function claimsOf(first: TaskRecord) {
  const index = new TaskIndex();
  index.put(first);
  let now = first;
  const claims = new PushClaims(index);
  return {
    claims,
    commit(next: TaskRecord) {
      index.put(next);
      claims.committed(now, next);
      now = next;
    },
    take({ at = sampleNow as number, limit = 9 } = {}) {
      const due = claims.take({ now: at as TimeMs, limit, leaseMs });
      return due.map(({ configId }) => configId);
    },
    nextAt: (at: number) => claims.nextAt(at as TimeMs),
  };
}

Deno.test("PushClaims claims each due webhook once, until its lease is over", () => {
  const { take } = claimsOf(record);
  deepStrictEqual(take(), ["w1", "w2"]);
  deepStrictEqual(take(), []);
  deepStrictEqual(take({ at: sampleNow + leaseMs - 1 }), []);
  deepStrictEqual(take({ at: sampleNow + leaseMs }), ["w1", "w2"]);
});

Deno.test("PushClaims claims no more than it is asked for", () => {
  const { take } = claimsOf(record);
  deepStrictEqual(take({ limit: 1 }), ["w1"]);
  deepStrictEqual(take({ limit: 0 }), []);
  deepStrictEqual(take({ limit: 1 }), ["w2"]);
});

Deno.test("PushClaims lets a claim that was given back be taken again, and says when the next can be", () => {
  const { take, claims, nextAt } = claimsOf(record);
  take();
  strictEqual(nextAt(sampleNow), sampleNow + leaseMs);
  claims.giveBack(record.task.id, "w2");
  strictEqual(nextAt(sampleNow), sampleNow);
  deepStrictEqual(take(), ["w2"]);
});

Deno.test("PushClaims takes what is further ahead than any delay for due: the clock was set back [SM6 clock-set-back]", () => {
  const [w1, w2] = record.pushes;
  const hour = 60 * 60_000;
  const pushes = [{ ...w1!, nextAt: sampleNow + hour + 1 as TimeMs }, { ...w2!, nextAt: sampleNow + hour as TimeMs }];
  const { take, nextAt } = claimsOf({ ...record, pushes });
  strictEqual(nextAt(sampleNow), sampleNow);
  deepStrictEqual(take(), ["w1"]);
  strictEqual(nextAt(sampleNow), sampleNow + leaseMs);
});

Deno.test("PushClaims leaves webhooks that are over, retry later, or were told all", () => {
  const [w1, w2] = record.pushes;
  const told = { ...w1!, acked: record.statusLog.at(-1)!.seq };
  const later = { ...w2!, nextAt: sampleNow + 1 as TimeMs };
  const over = { ...w2!, target: { ...w2!.target, id: "w3" }, state: "gave up" as const };
  const { take, nextAt } = claimsOf({ ...record, pushes: [told, later, over] });
  deepStrictEqual(take(), []);
  strictEqual(nextAt(sampleNow), sampleNow + 1);
  deepStrictEqual(take({ at: sampleNow + 1 }), ["w2"]);
  strictEqual(nextAt(sampleNow + 1), sampleNow + 1 + leaseMs);
});

Deno.test("PushClaims keeps a claim over a new status: one request at a time a webhook [SM6 one-at-a-time]", () => {
  const { take, commit } = claimsOf(record);
  take();
  commit(answered(record));
  deepStrictEqual(take(), []);
});

Deno.test("PushClaims ends the claim of the webhook whose own state was committed", () => {
  const { take, commit } = claimsOf(record);
  take();
  const told = acknowledged(record, "w1");
  commit(told);
  const next = answered(told);
  commit(next);
  deepStrictEqual(take(), ["w1"]);
  const failed = { ...next, pushes: next.pushes.map((push) => ({ ...push, failures: push.failures + 1 })) };
  commit(failed);
  deepStrictEqual(take(), ["w1", "w2"]);
});

Deno.test("PushClaims ends the claim of a webhook that was set anew under its id", () => {
  const { take, commit } = claimsOf(record);
  take();
  commit(after(record, { kind: "webhook set", target: { id: "w1", url: "https://other.example/" } }));
  deepStrictEqual(take(), ["w1"]);
});

Deno.test("PushClaims ends all claims of a task that is gone", () => {
  const { take, claims } = claimsOf(record);
  take();
  claims.committed(record, undefined);
  deepStrictEqual(take(), ["w1", "w2"]);
});
