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
  const claims = new PushClaims({ index, read: () => Promise.resolve(now) });
  return {
    claims,
    commit(next: TaskRecord) {
      index.put(next);
      claims.committed(now, next);
      now = next;
    },
    async take({ at = sampleNow as number, limit = 9 } = {}) {
      const due = await claims.take({ now: at as TimeMs, limit, leaseMs });
      return due.map(({ configId }) => configId);
    },
    nextAt: (at: number) => claims.nextAt(at as TimeMs),
  };
}

Deno.test("PushClaims claims each due webhook once, until its lease is over", async () => {
  const { take } = claimsOf(record);
  deepStrictEqual(await take(), ["w1", "w2"]);
  deepStrictEqual(await take(), []);
  deepStrictEqual(await take({ at: sampleNow + leaseMs - 1 }), []);
  deepStrictEqual(await take({ at: sampleNow + leaseMs }), ["w1", "w2"]);
});

Deno.test("PushClaims claims no more than it is asked for", async () => {
  const { take } = claimsOf(record);
  deepStrictEqual(await take({ limit: 1 }), ["w1"]);
  deepStrictEqual(await take({ limit: 0 }), []);
  deepStrictEqual(await take({ limit: 1 }), ["w2"]);
});

Deno.test("PushClaims gives one webhook to one of two who look at once", async () => {
  const { take } = claimsOf(record);
  const both = await Promise.all([take(), take()]);
  deepStrictEqual(both.flat().sort(), ["w1", "w2"]);
});

Deno.test("PushClaims leaves webhooks that are over, retry later, or were told all", async () => {
  const [w1, w2] = record.pushes;
  const told = { ...w1!, acked: record.statusLog.at(-1)!.seq };
  const later = { ...w2!, nextAt: sampleNow + 1 as TimeMs };
  const over = { ...w2!, target: { ...w2!.target, id: "w3" }, state: "gave up" as const };
  const { take, nextAt } = claimsOf({ ...record, pushes: [told, later, over] });
  deepStrictEqual(await take(), []);
  strictEqual(nextAt(sampleNow), sampleNow + 1);
  deepStrictEqual(await take({ at: sampleNow + 1 }), ["w2"]);
  strictEqual(nextAt(sampleNow + 1), undefined);
});

Deno.test("PushClaims keeps a claim over a new status: one request at a time a webhook [SM6 one-at-a-time]", async () => {
  const { take, commit } = claimsOf(record);
  await take();
  commit(answered(record));
  deepStrictEqual(await take(), []);
});

Deno.test("PushClaims ends the claim of the webhook whose own state was committed", async () => {
  const { take, commit } = claimsOf(record);
  await take();
  const told = acknowledged(record, "w1");
  commit(told);
  const next = answered(told);
  commit(next);
  deepStrictEqual(await take(), ["w1"]);
  const failed = { ...next, pushes: next.pushes.map((push) => ({ ...push, failures: push.failures + 1 })) };
  commit(failed);
  deepStrictEqual(await take(), ["w1", "w2"]);
});

Deno.test("PushClaims ends the claim of a webhook that was set anew under its id", async () => {
  const { take, commit } = claimsOf(record);
  await take();
  commit(after(record, { kind: "webhook set", target: { id: "w1", url: "https://other.example/" } }));
  deepStrictEqual(await take(), ["w1"]);
});

Deno.test("PushClaims ends all claims of a task that is gone", async () => {
  const { take, claims } = claimsOf(record);
  await take();
  claims.committed(record, undefined);
  deepStrictEqual(await take(), ["w1", "w2"]);
});
