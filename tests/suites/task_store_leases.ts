import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { after, ann, bob, sampleId, sampleTask } from "@tests/fakes/sample_tasks.ts";
import type { StoreCase } from "@tests/suites/store_case.ts";
import type { CallerName } from "@/protocol/ids.ts";
import type { Lease, TaskStore } from "@/server/tasks/task_store.ts";

const ttlMs = 60_000;

async function taken(
  store: TaskStore,
  n: number,
  part: { caller?: CallerName; contextId?: string } = {},
): Promise<Lease> {
  const lease = await store.lease({ caller: ann, contextId: "c1", ...part }, sampleId(n), ttlMs);
  if ("kind" in lease) throw new Error(`busy with ${lease.taskId}`);
  return lease;
}

const busy = (store: TaskStore) => store.lease({ caller: ann, contextId: "c1" }, sampleId(9), ttlMs);
const numbers = (records: readonly { readonly task: { readonly id: string } }[]) =>
  records.map(({ task }) => parseInt(task.id.slice(-12), 16));

export const leaseCases: readonly StoreCase[] = [
  {
    name: "gives a context to one task at a time, and names it [§5.4 busy]",
    async run({ store }) {
      const first = await taken(store, 1);
      deepStrictEqual(await busy(store), { kind: "busy", taskId: sampleId(1) });
      const others = [await taken(store, 2, { caller: bob }), await taken(store, 3, { contextId: "c2" })];
      await store.release(first);
      const again = await taken(store, 4);
      strictEqual(new Set([first, ...others, again].map(({ fence }) => fence)).size, 4);
      ok(again.fence > first.fence);
    },
  },
  {
    name: "gives one of many takers the context [§5.4 one-continuation]",
    async run({ store }) {
      const key = { caller: ann, contextId: "c1" };
      const all = await Promise.all([1, 2, 3, 4].map((n) => store.lease(key, sampleId(n), ttlMs)));
      strictEqual(all.filter((lease) => !("kind" in lease)).length, 1);
    },
  },
  {
    name: "lets a lease live while it is renewed, and end when it is not",
    async run({ store, clock }) {
      let lease = await taken(store, 1);
      for (let round = 0; round < 5; round++) {
        await clock.advance(ttlMs / 3);
        lease = await store.renew(lease, ttlMs) as Lease;
      }
      strictEqual("kind" in await busy(store), true);
      await clock.advance(ttlMs);
      const next = await taken(store, 2);
      ok(next.fence > lease.fence);
      strictEqual(await store.renew(lease, ttlMs), "lost");
      await store.release(lease);
      strictEqual("kind" in await busy(store), true);
    },
  },
  {
    name: "counts fences on when it is opened again [DM10 epoch]",
    async run(open) {
      if (open.reopen === undefined) return;
      const first = await taken(open.store, 1);
      await open.reopen();
      const second = await taken(open.store, 1);
      ok(second.fence > first.fence);
      strictEqual(await open.store.renew(first, ttlMs), "lost");
    },
  },
  {
    name: "finds runs without a live lease, oldest first, at work or queued [§5.5 sweep-not-reader]",
    async run({ store, clock }) {
      const lease = await taken(store, 1);
      const now = clock.now();
      await store.create(sampleTask({ n: 1, fence: lease.fence, now }));
      await store.create(sampleTask({ n: 2, contextId: "c2", fence: 99, now: now + 2, working: true }));
      await store.create(sampleTask({ n: 3, contextId: "c3", fence: 98, now: now + 1 }));
      await store.create(sampleTask({ n: 4, failed: "x" }));
      deepStrictEqual(numbers(await store.abandoned(9)), [3, 2]);
      deepStrictEqual(numbers(await store.abandoned(1)), [3]);
      await clock.advance(ttlMs);
      deepStrictEqual(numbers(await store.abandoned(9)), [1, 3, 2]);
      for (const n of [1, 2, 3]) strictEqual((await store.read(sampleId(n), ann))!.rev, 1);
    },
  },
  {
    name:
      "finds every run abandoned after it was opened again, and none that ended [§5.5 crash-not-begun, §5.5 crash-begun]",
    async run(open) {
      if (open.reopen === undefined) return;
      for (const n of [1, 2, 3]) {
        const { fence } = await taken(open.store, n, { contextId: `c${n}` });
        const record = sampleTask({ n, contextId: `c${n}`, fence, working: n > 1 });
        await open.store.create(record);
        if (n === 3) await open.store.commit(record.rev, after(record, { kind: "cancel asked" }));
      }
      deepStrictEqual(await open.store.abandoned(9), []);
      await open.reopen();
      deepStrictEqual(numbers(await open.store.abandoned(9)), [1, 2]);
    },
  },
  {
    name: "keeps what waits for its caller over a new start [§5.5 input-survives]",
    async run(open) {
      if (open.reopen === undefined) return;
      const record = sampleTask({ working: true });
      await open.store.create(record);
      const { runId } = record.run!;
      const waiting = after(record, { kind: "asked", runId, question: "Which?", text: "So far" });
      await open.store.commit(record.rev, waiting);
      await open.reopen();
      deepStrictEqual(await open.store.read(sampleId(1), ann), waiting);
      deepStrictEqual(await open.store.abandoned(9), []);
    },
  },
];
