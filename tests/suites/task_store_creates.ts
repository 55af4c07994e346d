import { deepStrictEqual, strictEqual } from "node:assert/strict";
import {
  acknowledged,
  ann,
  answered,
  bob,
  dedupeKey,
  sampleId,
  sampleNow,
  sampleTask,
} from "@tests/fakes/sample_tasks.ts";
import type { StoreCase } from "@tests/suites/store_case.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import type { TimeMs } from "@/time/clock.ts";

const created = { kind: "created" };
const day = 86_400_000;

export const createCases: readonly StoreCase[] = [
  {
    name: "reads what was created, and only for its caller [SM1 T1, SM1 message-to-unknown]",
    async run({ store }) {
      const record = sampleTask({ pushes: ["w1"], dedupe: {} });
      deepStrictEqual(await store.create(record), created);
      deepStrictEqual(await store.read(record.task.id, ann), record);
      strictEqual(await store.read(record.task.id, bob), undefined);
      strictEqual(await store.read(sampleId(9), ann), undefined);
      strictEqual(await store.read("../../etc/passwd" as never, ann), undefined);
    },
  },
  {
    name: "calls onDurable of a create once, when the task can be read",
    async run({ store }) {
      const seen: unknown[] = [];
      await store.create(sampleTask(), { onDurable: () => void seen.push("durable") });
      await store.create(sampleTask({ n: 2, dedupe: {} }), { onDurable: () => void seen.push("durable") });
      await store.create(sampleTask({ n: 3, dedupe: {} }), { onDurable: () => void seen.push("never: a duplicate") });
      deepStrictEqual(seen, ["durable", "durable"]);
    },
  },
  {
    name: "gives the first task for a second create with its key [§5.5 dedupe, SM1 race dedupe]",
    async run({ store }) {
      const key = dedupeKey();
      deepStrictEqual(await store.create(sampleTask({ n: 1, dedupe: key })), created);
      deepStrictEqual(await store.create(sampleTask({ n: 2, dedupe: key })), {
        kind: "duplicate",
        taskId: sampleId(1),
      });
      strictEqual(await store.read(sampleId(2), ann), undefined);
      deepStrictEqual(await store.duplicateOf(ann, key), { kind: "duplicate", taskId: sampleId(1) });
      strictEqual(await store.duplicateOf(bob, key), undefined);
    },
  },
  {
    name: "refuses another body under a used key [§5.5 dedupe-other-body, SM1 race dedupe-other-body]",
    async run({ store }) {
      await store.create(sampleTask({ n: 1, dedupe: dedupeKey() }));
      const other = sampleTask({ n: 2, dedupe: dedupeKey({ bodyHash: "other" }) });
      deepStrictEqual(await store.create(other), { kind: "conflict" });
      strictEqual(await store.read(sampleId(2), ann), undefined);
    },
  },
  {
    name: "forgets a key when its time is over, and then knows the new task [§5.5 dedupe]",
    async run({ store, clock }) {
      await store.create(sampleTask({ n: 1, dedupe: dedupeKey() }));
      await clock.advance(day - 1);
      strictEqual((await store.create(sampleTask({ n: 2, dedupe: dedupeKey() }))).kind, "duplicate");
      await clock.advance(1);
      const key = dedupeKey({ until: sampleNow + 2 * day as TimeMs });
      deepStrictEqual(await store.create(sampleTask({ n: 3, dedupe: key })), created);
      deepStrictEqual(await store.duplicateOf(ann, key), { kind: "duplicate", taskId: sampleId(3) });
    },
  },
  {
    name: "keeps callers and contexts apart in keys [§5.5 dedupe]",
    async run({ store }) {
      const creates = [
        sampleTask({ n: 1, dedupe: dedupeKey() }),
        sampleTask({ n: 2, dedupe: dedupeKey(), caller: bob }),
        sampleTask({ n: 3, dedupe: dedupeKey({ contextId: "c1" }) }),
        sampleTask({ n: 4, dedupe: dedupeKey({ messageId: "m2" }) }),
      ];
      for (const record of creates) deepStrictEqual(await store.create(record), created);
    },
  },
  {
    name: "creates one task of many sends at once with one key [SM1 race dedupe]",
    async run({ store }) {
      const sends = Array.from({ length: 8 }, (_, n) => store.create(sampleTask({ n, dedupe: dedupeKey() })));
      const results = await Promise.all(sends);
      deepStrictEqual(results.map(({ kind }) => kind).sort(), ["created", ...Array(7).fill("duplicate")]);
      const first = results.findIndex(({ kind }) => kind === "created");
      for (const result of results) if (result.kind === "duplicate") strictEqual(result.taskId, sampleId(first));
      const page = await store.list({ caller: ann, pageSize: 100, pageToken: "" });
      strictEqual(page.kind === "page" && page.total, 1);
    },
  },
  {
    name: "still answers duplicates while the caller's tasks are full [§5.5 dedupe]",
    options: { storedTasksMax: 1 },
    async run({ store }) {
      await store.create(sampleTask({ n: 1, dedupe: dedupeKey() }));
      strictEqual((await store.create(sampleTask({ n: 2, dedupe: dedupeKey() }))).kind, "duplicate");
    },
  },
  {
    name: "tells who creates of the task that made room, and waits for them",
    options: { storedTasksMax: 1 },
    async run({ store }) {
      const old = sampleTask({ failed: "x" });
      await store.create(old);
      const seen: unknown[] = [];
      const onPruned = async (record: TaskRecord) => {
        await Promise.resolve();
        seen.push(record);
      };
      deepStrictEqual(await store.create(sampleTask({ n: 2 }), { onPruned }), created);
      deepStrictEqual(seen, [old]);
    },
  },
  {
    name: "lets the oldest terminal task go over the limit, then refuses [§7 stored-tasks, SM1 T17]",
    options: { storedTasksMax: 3 },
    async run({ store }) {
      for (const n of [1, 2, 3]) await store.create(sampleTask({ n, working: true }));
      for (const [n, ms] of [[2, 20], [1, 30]] as const) {
        const record = sampleTask({ n, working: true });
        await store.commit(record.rev, answered(record, "x", sampleNow + ms));
      }
      deepStrictEqual(await store.create(sampleTask({ n: 4 })), created);
      const there = async (...ns: number[]) =>
        (await Promise.all(ns.map((n) => store.read(sampleId(n), ann)))).map((record) => record !== undefined);
      deepStrictEqual(await there(1, 2, 3, 4), [true, false, true, true]);
      deepStrictEqual(await store.create(sampleTask({ n: 5 })), created);
      deepStrictEqual(await there(1, 3, 4, 5), [false, true, true, true]);
      deepStrictEqual(await store.create(sampleTask({ n: 6 })), { kind: "full", of: "tasks" });
      deepStrictEqual(await there(3, 4, 5, 6), [true, true, true, false]);
      deepStrictEqual(await store.create(sampleTask({ n: 7, caller: bob })), created);
    },
  },
  {
    name: "lets no task go over the limit that a webhook still waits for [§7 stored-tasks, SM1 T17]",
    options: { storedTasksMax: 1 },
    async run({ store }) {
      const done = sampleTask({ failed: "x", pushes: ["w1"] });
      await store.create(done);
      deepStrictEqual(await store.create(sampleTask({ n: 2 })), { kind: "full", of: "tasks" });
      await store.commit(done.rev, acknowledged(done, "w1"));
      deepStrictEqual(await store.create(sampleTask({ n: 2 })), created);
    },
  },
  {
    name: "keeps the limit when many tasks are created at once [§7 stored-tasks]",
    options: { storedTasksMax: 5 },
    async run({ store }) {
      for (const n of [1, 2]) await store.create(sampleTask({ n, failed: "x" }));
      const results = await Promise.all([3, 4, 5, 6, 7, 8, 9, 10].map((n) => store.create(sampleTask({ n }))));
      const page = await store.list({ caller: ann, pageSize: 100, pageToken: "" });
      strictEqual(page.kind === "page" && page.total, 5);
      strictEqual(results.filter(({ kind }) => kind === "created").length, 5);
    },
  },
];
