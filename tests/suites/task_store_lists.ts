import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { after, ann, answered, asked, bob, sampleId, sampleNow, sampleTask } from "@tests/fakes/sample_tasks.ts";
import type { StoreCase } from "@tests/suites/store_case.ts";
import type { TimeMs } from "@/time/clock.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import type { ListQuery, TaskPage, TaskStore } from "@/server/tasks/task_store.ts";

const query: ListQuery = { caller: ann, pageSize: 100, pageToken: "" };
const at = (ms: number) => sampleNow + ms as TimeMs;
const numberOf = ({ task }: TaskRecord) => parseInt(task.id.slice(-12), 16);

async function page(store: TaskStore, part: Partial<ListQuery> = {}): Promise<TaskPage> {
  const found = await store.list({ ...query, ...part });
  if (found.kind !== "page") throw new Error(found.kind);
  return found;
}

async function fill(store: TaskStore, count: number): Promise<void> {
  for (let n = 1; n <= count; n++) {
    const contextId = n % 2 ? "c1" : "c2";
    await store.create(sampleTask({ n, now: at(n % 4), contextId, working: n % 3 === 0 }));
  }
}

export const listCases: readonly StoreCase[] = [
  {
    name: "lists newest status first, ties by id, with whole records",
    async run({ store }) {
      const records = [[1, 5], [2, 1], [3, 9], [4, 5]].map(([n, ms]) => sampleTask({ n, now: at(ms!) }));
      for (const record of records) await store.create(record);
      const { tasks, total, next } = await page(store);
      deepStrictEqual(tasks, [records[2], records[3], records[0], records[1]]);
      deepStrictEqual([total, next], [4, ""]);
    },
  },
  {
    name: "lists a task that changed first",
    async run({ store }) {
      await fill(store, 3);
      const record = (await store.read(sampleId(1), ann))!;
      await store.commit(record.rev, after(record, { kind: "cancel asked" }, at(50)));
      deepStrictEqual((await page(store)).tasks.map(numberOf)[0], 1);
    },
  },
  {
    name: "filters by context, state and time, and counts before paging",
    async run({ store }) {
      await fill(store, 24);
      const found = async (part: Partial<ListQuery>) => {
        const { tasks, total } = await page(store, { ...part, pageSize: 3 });
        return [
          total,
          tasks.length,
          tasks.every(({ task }) => part.contextId === undefined || task.contextId === "c1"),
        ];
      };
      deepStrictEqual(await found({}), [24, 3, true]);
      deepStrictEqual(await found({ contextId: "c1" }), [12, 3, true]);
      deepStrictEqual(await found({ state: "TASK_STATE_WORKING" }), [8, 3, true]);
      deepStrictEqual(await found({ contextId: "c1", state: "TASK_STATE_WORKING" }), [4, 3, true]);
      deepStrictEqual(await found({ state: "TASK_STATE_COMPLETED" }), [0, 0, true]);
      deepStrictEqual(await found({ since: at(4) }), [2, 2, true]); // T1w: 1 ms after its creation
      deepStrictEqual(await found({ contextId: "c9" }), [0, 0, true]);
    },
  },
  {
    name: "lists nothing of another caller, whatever is asked for",
    async run({ store }) {
      await fill(store, 6);
      await store.create(sampleTask({ n: 9, caller: bob }));
      for (const part of [{}, { contextId: "c1" }, { state: "TASK_STATE_SUBMITTED" as const }, { since: at(0) }]) {
        const { tasks, total } = await page(store, { ...part, caller: bob });
        deepStrictEqual([tasks.map(numberOf), total], [[9], 1]);
      }
    },
  },
  {
    name: "gives each unchanged task once, page by page, while others change, come and go",
    async run({ store }) {
      await fill(store, 40);
      const changing = new Set([3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39]); // those that work
      const seen: number[] = [];
      let now = 100;
      for (let pageToken = ""; pageToken !== "" || seen.length === 0;) {
        const { tasks, next } = await page(store, { pageSize: 5, pageToken });
        seen.push(...tasks.map(numberOf));
        pageToken = next;
        const [first, second, third] = [...changing];
        const read = async (n: number) => (await store.read(sampleId(n), ann))!;
        if (first !== undefined) await store.commit(1 as never, asked(await read(first), "?", at(now++)));
        if (second !== undefined) {
          const done = answered(await read(second), "x", at(now++));
          await store.commit(1 as never, done);
          await store.remove(sampleId(second), done.rev);
        }
        if (third !== undefined) await store.create(sampleTask({ n: 1000 + third, now: at(now++) }));
        for (const n of [first, second, third]) if (n !== undefined) changing.delete(n);
      }
      strictEqual(new Set(seen).size, seen.length);
      for (let n = 1; n <= 40; n++) if (n % 3 !== 0) ok(seen.includes(n), `task ${n} was missed`);
    },
  },
  {
    name: "refuses a page token that is none, and one of another filter",
    async run({ store }) {
      await fill(store, 6);
      const { next } = await page(store, { pageSize: 2 });
      ok(next !== "");
      const bad = { kind: "bad page token" };
      for (const pageToken of ["x", "%%%", "AAAA", next + "A", next.slice(1), " "]) {
        deepStrictEqual(await store.list({ ...query, pageToken }), bad);
      }
      deepStrictEqual(await store.list({ ...query, pageToken: next, contextId: "c1" }), bad);
      deepStrictEqual(await store.list({ ...query, pageToken: next, caller: bob }), bad);
      deepStrictEqual(await store.list({ ...query, pageToken: next, state: "TASK_STATE_WORKING" }), bad);
    },
  },
  {
    name: "goes on behind a token whose own task is gone",
    async run({ store }) {
      for (const n of [1, 2, 3, 4]) await store.create(sampleTask({ n, now: at(n), failed: "x" }));
      const first = await page(store, { pageSize: 2 });
      deepStrictEqual(first.tasks.map(numberOf), [4, 3]);
      await store.remove(sampleId(3), 1 as never);
      const { tasks, next, total } = await page(store, { pageSize: 2, pageToken: first.next });
      deepStrictEqual([tasks.map(numberOf), next, total], [[2, 1], "", 3]);
    },
  },
  {
    name: "lists the same after it was opened again [DM6 index]",
    async run(open) {
      if (open.reopen === undefined) return;
      await fill(open.store, 12);
      const record = (await open.store.read(sampleId(3), ann))!;
      await open.store.commit(record.rev, answered(record, "x", at(90)));
      const parts = [{}, { contextId: "c1" }, { state: "TASK_STATE_WORKING" as const }, { since: at(2), pageSize: 2 }];
      const before = await Promise.all(parts.map((part) => page(open.store, part)));
      await open.reopen();
      deepStrictEqual(await Promise.all(parts.map((part) => page(open.store, part))), before);
    },
  },
];
