import { deepStrictEqual, strictEqual } from "node:assert/strict";
import {
  acknowledged,
  after,
  ann,
  answered,
  asked,
  bob,
  dedupeKey,
  sampleId,
  sampleNow,
  sampleTask,
} from "@tests/fakes/sample_tasks.ts";
import type { TaskId } from "@/protocol/ids.ts";
import type { State } from "@/protocol/task.ts";
import type { TimeMs } from "@/time/clock.ts";
import { TaskIndex } from "./task_index.ts";
import type { DedupeKey, TaskRecord } from "./task_record.ts";
import type { ListQuery } from "./task_store.ts";

const at = (ms: number) => sampleNow + ms as TimeMs;
const query: ListQuery = { caller: ann, pageSize: 100, pageToken: "" };

function indexOf(...records: TaskRecord[]): TaskIndex {
  const index = new TaskIndex();
  for (const record of records) index.put(record);
  return index;
}

function ids(index: TaskIndex, part: Partial<ListQuery> = {}): number[] {
  const page = index.list({ ...query, ...part });
  return page.kind === "page" ? page.ids.map(numberOf) : [];
}

const numberOf = (id: string) => parseInt(id.slice(-12), 16);

Deno.test("TaskIndex list() gives newest status first, ties by id [DM6 index]", () => {
  const index = indexOf(sampleTask({ n: 1, now: at(5) }), sampleTask({ n: 3 }), sampleTask({ n: 2 }));
  deepStrictEqual(ids(index), [1, 3, 2]);
  index.put(asked(sampleTask({ n: 2, working: true }), "?", at(9)));
  deepStrictEqual(ids(index), [2, 1, 3]);
});

const filters: readonly { filter: Partial<ListQuery>; gives: readonly number[]; total: number }[] = [
  { filter: {}, gives: [4, 3, 2, 1], total: 4 },
  { filter: { contextId: "c2" }, gives: [4, 2], total: 2 },
  { filter: { state: "TASK_STATE_WORKING" }, gives: [3, 2], total: 2 },
  { filter: { state: "TASK_STATE_WORKING", contextId: "c2" }, gives: [2], total: 1 },
  { filter: { since: at(3) }, gives: [4, 3], total: 2 },
  { filter: { since: at(3), state: "TASK_STATE_COMPLETED" }, gives: [4], total: 1 },
  { filter: { since: at(3), contextId: "c2" }, gives: [4], total: 1 },
  { filter: { since: at(3), contextId: "c2", state: "TASK_STATE_WORKING" }, gives: [], total: 0 },
  { filter: { caller: bob }, gives: [5], total: 1 },
  { filter: { caller: bob, contextId: "c2" }, gives: [], total: 0 },
  { filter: { contextId: "c9" }, gives: [], total: 0 },
];
for (const { filter, gives, total } of filters) {
  Deno.test(`TaskIndex list() filters by ${JSON.stringify(filter)}, with the total`, () => {
    const index = indexOf(
      sampleTask({ n: 1, now: at(1) }),
      sampleTask({ n: 2, now: at(1), working: true, contextId: "c2" }),
      sampleTask({ n: 3, now: at(2), working: true }),
      answered(sampleTask({ n: 4, now: at(1), working: true, contextId: "c2" }), "x", at(4)),
      sampleTask({ n: 5, now: at(9), caller: bob }),
    );
    const page = index.list({ ...query, ...filter });
    deepStrictEqual(page.kind === "page" && { gives: page.ids.map(numberOf), total: page.total, next: page.next }, {
      gives,
      total,
      next: "",
    });
  });
}

const pageFilters: readonly { filter: Partial<ListQuery>; total: number }[] = [
  { filter: {}, total: 23 },
  { filter: { contextId: "c1" }, total: 12 },
  { filter: { state: "TASK_STATE_SUBMITTED" }, total: 12 },
  { filter: { state: "TASK_STATE_SUBMITTED", contextId: "c1" }, total: 6 },
];
for (const { filter, total } of pageFilters) {
  for (const pageSize of [1, 5, 100]) {
    Deno.test(`TaskIndex list() gives every task once, ${pageSize} a page, by ${JSON.stringify(filter)}`, () => {
      const index = new TaskIndex();
      for (let n = 0; n < 23; n++) {
        index.put(sampleTask({ n, now: at(n % 3), contextId: n % 2 ? "c2" : "c1", working: n % 4 > 1 }));
      }
      const seen: number[] = [];
      let pages = 0;
      for (let pageToken = ""; pages === 0 || pageToken !== ""; pages++) {
        const page = index.list({ ...query, ...filter, pageSize, pageToken });
        if (page.kind !== "page") throw new Error("bad page token");
        strictEqual(page.total, total);
        seen.push(...page.ids.map(numberOf));
        pageToken = page.next;
      }
      deepStrictEqual(seen, ids(index, filter));
      strictEqual(new Set(seen).size, total);
      strictEqual(pages, Math.ceil(total / pageSize)); // no empty page at the end
    });
  }
}

Deno.test("TaskIndex list() refuses a token of another query", () => {
  const index = indexOf(sampleTask({ n: 1 }), sampleTask({ n: 2 }));
  const page = index.list({ ...query, pageSize: 1 });
  const pageToken = page.kind === "page" ? page.next : "";
  strictEqual(index.list({ ...query, caller: bob, pageToken }).kind, "bad page token");
  strictEqual(index.list({ ...query, pageToken: "x" }).kind, "bad page token");
});

Deno.test("TaskIndex duplicateOf() finds the task of a key until its time is over, and tells another body [§5.5 dedupe, §5.5 dedupe-other-body]", () => {
  const key = dedupeKey({ until: at(100) });
  const index = indexOf(sampleTask({ dedupe: key }));
  const found = (part: Partial<DedupeKey>, now = 0) => index.duplicateOf(ann, { ...key, ...part }, at(now));
  deepStrictEqual(found({}), { kind: "duplicate", taskId: sampleId(1) });
  deepStrictEqual(found({ bodyHash: "other" }), { kind: "conflict" });
  strictEqual(found({ messageId: "m9" }), undefined);
  strictEqual(found({ contextId: "c1" }), undefined);
  strictEqual(index.duplicateOf(bob, key, at(0)), undefined);
  deepStrictEqual(found({}, 99), { kind: "duplicate", taskId: sampleId(1) });
  strictEqual(found({}, 100), undefined);
});

const orders: readonly (readonly number[])[] = [[1, 2], [2, 1], [1, 2, 1], [2, 1, 2, 1]];
for (const order of orders) {
  Deno.test(`TaskIndex duplicateOf() finds the newest task of a key that was used again, put ${order} [§5.5 dedupe]`, () => {
    const records = [
      sampleTask({ n: 1, dedupe: dedupeKey({ until: at(100) }) }),
      sampleTask({ n: 2, dedupe: dedupeKey({ until: at(900) }) }),
    ];
    const index = indexOf(...order.map((n) => records[n - 1]!));
    for (let round = 0; round < 2; round++) {
      deepStrictEqual(index.duplicateOf(ann, dedupeKey(), at(200)), { kind: "duplicate", taskId: sampleId(2) });
    }
    index.remove(sampleId(1));
    deepStrictEqual(index.duplicateOf(ann, dedupeKey(), at(200)), { kind: "duplicate", taskId: sampleId(2) });
    index.remove(sampleId(2));
    strictEqual(index.duplicateOf(ann, dedupeKey(), at(200)), undefined);
  });
}

Deno.test("TaskIndex queued() gives each caller's oldest, then each caller's second [§7 fair-queue]", () => {
  const index = indexOf(
    sampleTask({ n: 1, now: at(1) }),
    sampleTask({ n: 2, now: at(2) }),
    sampleTask({ n: 3, now: at(3) }),
    sampleTask({ n: 4, now: at(4), caller: bob }),
    sampleTask({ n: 5, now: at(5), caller: bob }),
    sampleTask({ n: 6, now: at(0), working: true }),
  );
  deepStrictEqual(index.queued(9).map(numberOf), [1, 4, 2, 5, 3]);
  deepStrictEqual(index.queued(3).map(numberOf), [1, 4, 2]);
  deepStrictEqual(index.runs().map(({ id }) => numberOf(id)), [6, 1, 2, 3, 4, 5]);
});

Deno.test("TaskIndex aged() gives waiting or terminal tasks older than a time, oldest first over all callers", () => {
  const ask = (n: number, ms: number) => asked(sampleTask({ n, working: true }), "?", at(ms));
  const end = (n: number, ms: number, caller = ann) => answered(sampleTask({ n, caller, working: true }), "x", at(ms));
  const index = indexOf(ask(1, 30), ask(2, 20), end(3, 50, bob), end(4, 40), sampleTask({ n: 5, failed: "x" }));
  const aged = (which: "waiting" | "terminal", before: number, limit = 9) =>
    index.aged(which, at(before), limit).map(numberOf);
  deepStrictEqual(aged("waiting", 99), [2, 1]);
  deepStrictEqual(aged("waiting", 30), [2]);
  deepStrictEqual(aged("terminal", 50), [5, 4]);
  deepStrictEqual(aged("terminal", 99), [5, 4, 3]);
  deepStrictEqual(aged("terminal", 99, 2), [5, 4]);
});

Deno.test("TaskIndex oldestForgettable() passes over what a webhook waits for [§7 stored-tasks]", () => {
  const owed = answered(sampleTask({ n: 1, pushes: ["w1"], working: true }), "x", at(10));
  const index = indexOf(owed, sampleTask({ n: 2 }));
  strictEqual(index.oldestForgettable(ann), undefined);
  index.put(answered(sampleTask({ n: 3, working: true }), "x", at(30)));
  index.put(after(sampleTask({ n: 4 }), { kind: "cancel asked" }, at(20)));
  strictEqual(index.oldestForgettable(ann), sampleId(4));
  index.put(acknowledged(owed, "w1"));
  strictEqual(index.oldestForgettable(ann), sampleId(1));
  strictEqual(index.oldestForgettable(bob), undefined);
});

Deno.test("TaskIndex owed() gives what webhooks wait for, and none that was told all [SM6 due]", () => {
  const push = (n: number, ms: number) => sampleTask({ n, now: at(ms), pushes: ["w1"] });
  const index = indexOf(push(1, 30), push(2, 10), push(3, 20), acknowledged(push(4, 0), "w1"), sampleTask({ n: 5 }));
  const owed = (id?: TaskId) =>
    [...index.owed(id)].map(({ entry, configId, at }) => [numberOf(entry.id), configId, at - sampleNow]);
  deepStrictEqual(owed(), [[1, "w1", 30], [2, "w1", 10], [3, "w1", 20]]);
  deepStrictEqual([owed(sampleId(3)), owed(sampleId(4)), owed(sampleId(9))], [[[3, "w1", 20]], [], []]);
  const told = push(2, 10);
  const pushes = told.pushes.map((one) => ({ ...one, acked: told.statusLog.at(-1)!.seq })); // nextAt left as it was
  index.put({ ...told, pushes });
  deepStrictEqual(owed().map(([n]) => n), [1, 3]);
});

Deno.test("TaskIndex counts the webhooks of a caller that are not over, and finds their tasks [§5.7 active-webhooks]", () => {
  const index = indexOf(
    sampleTask({ n: 1, pushes: ["w1", "w2"] }),
    sampleTask({ n: 2, pushes: ["w1"] }),
    sampleTask({ n: 3 }),
  );
  deepStrictEqual([index.webhooks(ann), index.webhooks(bob)], [3, 0]);
  deepStrictEqual(index.withWebhooks(ann).map(numberOf).sort(), [1, 2]);
  index.put(after(sampleTask({ n: 1, pushes: ["w1", "w2"] }), { kind: "webhook deleted", configId: "w1" }));
  index.put(after(sampleTask({ n: 2, pushes: ["w1"] }), { kind: "webhooks stopped" }));
  deepStrictEqual([index.webhooks(ann), index.withWebhooks(ann).map(numberOf)], [1, [1]]);
  index.remove(sampleId(1));
  deepStrictEqual([index.webhooks(ann), index.withWebhooks(ann)], [0, []]);
});

Deno.test("TaskIndex forgets all of a task that is removed [DM6 index]", () => {
  const index = indexOf(sampleTask({ pushes: ["w1"], dedupe: {} }), sampleTask({ n: 2 }));
  index.remove(sampleId(1));
  index.remove(sampleId(1));
  deepStrictEqual([index.size, index.count(ann), index.count(bob)], [1, 1, 0]);
  deepStrictEqual([ids(index), index.queued(9).length, [...index.owed()].length], [[2], 1, 0]);
  deepStrictEqual(index.unfinished(ann), [sampleId(2)]);
  deepStrictEqual([ids(index, { contextId: "c1" }), index.get(sampleId(1))], [[2], undefined]);
});

Deno.test("TaskIndex unfinished() gives a caller's tasks that are not terminal, oldest first", () => {
  const index = indexOf(
    asked(sampleTask({ n: 1, working: true }), "?", at(10)),
    sampleTask({ n: 2, now: at(5) }),
    sampleTask({ n: 3, now: at(7), working: true }),
    answered(sampleTask({ n: 4, working: true })),
    sampleTask({ n: 5, caller: bob }),
  );
  deepStrictEqual(index.unfinished(ann).map(numberOf), [2, 3, 1]);
  deepStrictEqual(index.unfinished("carl" as typeof ann), []);
});

Deno.test("TaskIndex keeps one entry a task in every order, whatever states it goes through [DM6 index]", () => {
  const index = new TaskIndex();
  let record = sampleTask({ working: true });
  index.put(record);
  for (const next of [(r: TaskRecord) => asked(r), (r: TaskRecord) => after(r, { kind: "cancel asked" })]) {
    index.put(record = next(record));
    const inStates = (["WORKING", "INPUT_REQUIRED", "CANCELED"] as const).map((state) =>
      ids(index, { state: `TASK_STATE_${state}` as State }).length
    );
    deepStrictEqual([inStates.filter((count) => count === 1).length, ids(index).length], [1, 1]);
  }
});
