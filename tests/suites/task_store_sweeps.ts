import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { acknowledged, ann, answered, asked, bob, sampleId, sampleNow, sampleTask } from "@tests/fakes/sample_tasks.ts";
import type { StoreCase } from "@tests/suites/store_case.ts";
import type { TimeMs } from "@/time/clock.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import type { TaskStore } from "@/server/tasks/task_store.ts";

const at = (ms: number) => sampleNow + ms as TimeMs;
const leaseMs = 60_000;
const numbers = (records: readonly TaskRecord[]) => records.map(({ task }) => parseInt(task.id.slice(-12), 16));

async function due(store: TaskStore, now: number, limit = 99): Promise<string[]> {
  const found = await store.duePushes({ now: at(now), limit, leaseMs });
  return found.map(({ taskId, configId }) => `${parseInt(taskId.slice(-12), 16)} ${configId}`);
}

async function commit(store: TaskStore, next: TaskRecord): Promise<TaskRecord> {
  strictEqual(await store.commit(next.rev - 1 as TaskRecord["rev"], next), "committed");
  return next;
}

export const sweepCases: readonly StoreCase[] = [
  {
    name: "gives queued runs fairly by caller, oldest first [§7 fair-queue, SM3 queued-slot]",
    async run({ store }) {
      for (const n of [1, 2, 3]) await store.create(sampleTask({ n, now: at(n) }));
      for (const n of [4, 5]) await store.create(sampleTask({ n, now: at(n), caller: bob }));
      await store.create(sampleTask({ n: 6, working: true }));
      deepStrictEqual(numbers(await store.queued(99)), [1, 4, 2, 5, 3]);
      deepStrictEqual(numbers(await store.queued(2)), [1, 4]);
    },
  },
  {
    name: "gives tasks that wait, or are over, since before a time [§5.5 input-timeout, §7 retention]",
    async run({ store }) {
      for (const [n, ms] of [[1, 30], [2, 20]] as const) {
        const record = sampleTask({ n, working: true });
        await store.create(record);
        await commit(store, asked(record, "?", at(ms)));
      }
      for (const [n, ms] of [[3, 40], [4, 10]] as const) {
        await store.create(sampleTask({ n, now: at(ms), failed: "x", caller: n === 3 ? ann : bob }));
      }
      deepStrictEqual(numbers(await store.aged("waiting", at(99), 9)), [2, 1]);
      deepStrictEqual(numbers(await store.aged("waiting", at(30), 9)), [2]);
      deepStrictEqual(numbers(await store.aged("terminal", at(99), 9)), [4, 3]);
      deepStrictEqual(numbers(await store.aged("terminal", at(99), 1)), [4]);
      deepStrictEqual(numbers(await store.aged("terminal", at(10), 9)), []);
    },
  },
  {
    name: "gives what of a caller is unfinished, oldest first [SM1 T15]",
    async run({ store }) {
      const record = sampleTask({ n: 1, working: true });
      await store.create(record);
      await commit(store, asked(record, "?", at(50)));
      await store.create(sampleTask({ n: 2, now: at(10) }));
      await store.create(sampleTask({ n: 3, now: at(20), working: true }));
      await store.create(sampleTask({ n: 4, failed: "x" }));
      await store.create(sampleTask({ n: 5, caller: bob }));
      deepStrictEqual(numbers(await store.unfinished(ann, 9)), [2, 3, 1]);
      deepStrictEqual(numbers(await store.unfinished(ann, 2)), [2, 3]);
      deepStrictEqual(numbers(await store.unfinished(bob, 9)), [5]);
    },
  },
  {
    name: "gives each webhook that is owed something to one sender, longest due first",
    async run({ store }) {
      await store.create(sampleTask({ n: 1, now: at(20), pushes: ["w1", "w2"] }));
      await store.create(sampleTask({ n: 2, now: at(10), pushes: ["w1"] }));
      await store.create(sampleTask({ n: 3, now: at(99), pushes: ["w1"] }));
      await store.create(sampleTask({ n: 4 }));
      deepStrictEqual(await due(store, 50), ["2 w1", "1 w1", "1 w2"]);
      deepStrictEqual(await due(store, 50), []);
      deepStrictEqual(await due(store, 99), ["3 w1"]);
      deepStrictEqual(await due(store, 50 + leaseMs), ["2 w1", "1 w1", "1 w2"]);
    },
  },
  {
    name: "claims no more than it is asked for, and no webhook twice at once",
    async run({ store }) {
      for (const n of [1, 2, 3]) await store.create(sampleTask({ n, pushes: ["w1", "w2"] }));
      const all = await Promise.all([due(store, 1, 2), due(store, 1, 3), due(store, 1, 0), due(store, 1)]);
      deepStrictEqual(all.map(({ length }) => length), [2, 3, 0, 1]);
      strictEqual(new Set(all.flat()).size, 6);
    },
  },
  {
    name: "keeps a claim over a new status, and ends it with the webhook's own commit",
    async run({ store }) {
      const record = sampleTask({ working: true, pushes: ["w1", "w2"] });
      await store.create(record);
      deepStrictEqual(await due(store, 0), ["1 w1", "1 w2"]);
      const done = await commit(store, answered(record, "x", at(5)));
      deepStrictEqual(await due(store, 9), []);
      const [w1, w2] = done.pushes;
      const told = { ...w1!, acked: record.statusLog[0]!.seq };
      await commit(store, { ...done, rev: done.rev + 1 as TaskRecord["rev"], pushes: [told, w2!] });
      deepStrictEqual(await due(store, 9), ["1 w1"]);
    },
  },
  {
    name: "gives nothing of a webhook that was told all, gave up, or whose task is gone",
    async run({ store }) {
      const record = sampleTask({ failed: "x", pushes: ["w1"] });
      await store.create(record);
      const told = await commit(store, acknowledged(record, "w1"));
      deepStrictEqual(await due(store, 99), []);
      await store.remove(told.task.id, told.rev);
      deepStrictEqual(await due(store, 99), []);
      const over = sampleTask({ n: 2, pushes: ["w1"] });
      await store.create({ ...over, pushes: over.pushes.map((push) => ({ ...push, state: "gave up" as const })) });
      deepStrictEqual(await due(store, 99), []);
    },
  },
  {
    name: "owes webhooks the same after it was opened again",
    async run(open) {
      if (open.reopen === undefined) return;
      await open.store.create(sampleTask({ n: 1, pushes: ["w1"] }));
      const record = sampleTask({ n: 2, pushes: ["w1", "w2"] });
      await open.store.create(record);
      await commit(open.store, acknowledged(record, "w1"));
      await due(open.store, 9);
      await open.reopen();
      deepStrictEqual((await due(open.store, 9)).sort(), ["1 w1", "2 w2"]);
      deepStrictEqual((await open.store.read(sampleId(2), ann))!.pushes[1], record.pushes[1]);
    },
  },
];
