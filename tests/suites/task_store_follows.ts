import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { after, ann, answered, asked, brief, sampleId, sampleTask, started } from "@tests/fakes/sample_tasks.ts";
import type { OpenStore, StoreCase } from "@tests/suites/store_case.ts";
import type { Fence, TaskRecord } from "@/server/tasks/task_record.ts";
import type { FollowItem, TaskStore } from "@/server/tasks/task_store.ts";

const never = new AbortController().signal;
const fence = 5 as Fence;

async function follow(store: TaskStore, signal = never): Promise<AsyncIterableIterator<FollowItem>> {
  return (await store.follow(sampleId(1), ann, signal))!;
}

async function working(store: TaskStore): Promise<TaskRecord> {
  const record = sampleTask({ working: true, fence });
  await store.create(record);
  return record;
}

const note = (from: number, text: string) => ({ taskId: sampleId(1), artifactId: "response", from, text });

async function rest(items: AsyncIterable<FollowItem>): Promise<string[]> {
  const got: string[] = [];
  for await (const item of items) got.push(brief(item));
  return got;
}

async function end(store: TaskStore, record: TaskRecord): Promise<void> {
  strictEqual(await store.commit(record.rev, answered(record)), "committed");
}

function noneFollow(open: OpenStore): void {
  strictEqual(open.followers?.() ?? 0, 0);
}

export const followCases: readonly StoreCase[] = [
  {
    name: "shows a follower the record, then what is committed, in order, once [§5.5 in-order-once]",
    async run(open) {
      const { store } = open;
      let record = sampleTask({ fence });
      await store.create(record);
      const items = await follow(store);
      const nexts = [started, asked, (r: TaskRecord) => after(r, { kind: "cancel asked" })] as const;
      for (const next of nexts) {
        const changed = next(record);
        await store.commit(record.rev, changed);
        record = changed;
      }
      deepStrictEqual(await rest(items), ["SUBMITTED", "WORKING", "INPUT_REQUIRED", "CANCELED"]);
      noneFollow(open);
    },
  },
  {
    name: "shows text at once, and stores none of it [§5.5 partial-text, SM1 T3]",
    async run({ store }) {
      const record = await working(store);
      const items = await follow(store);
      await items.next();
      store.progress(note(0, "Hel"), fence);
      strictEqual(brief((await items.next()).value), "0:Hel");
      store.progress(note(3, "lo"), fence);
      strictEqual(brief((await items.next()).value), "3:lo");
      deepStrictEqual(await store.read(record.task.id, ann), record);
      await items.return?.();
    },
  },
  {
    name: "ignores text of a run that is no longer the task's [§5.5 terminal-final]",
    async run({ store }) {
      const record = await working(store);
      const items = await follow(store);
      store.progress(note(0, "old"), fence - 1 as Fence);
      store.progress({ ...note(0, "unknown"), taskId: sampleId(9) }, fence);
      await end(store, record);
      store.progress(note(0, "late"), fence);
      deepStrictEqual(await rest(items), ["WORKING", "COMPLETED"]);
      deepStrictEqual(await rest(await follow(store)), ["COMPLETED"]);
    },
  },
  {
    name: "merges text for a slow follower, and begins a new message from 0 [§5.5 subscribers-are-cursors]",
    async run({ store }) {
      const record = await working(store);
      const items = await follow(store);
      store.progress(note(0, "Let me see"), fence);
      for (let n = 0; n < 500; n++) store.progress(note(n, "x"), fence);
      await end(store, record);
      deepStrictEqual(await rest(items), ["WORKING", `0:${"x".repeat(500)}`, "COMPLETED"]);
    },
  },
  {
    name: "shows a late follower the text so far",
    async run({ store }) {
      const record = await working(store);
      store.progress(note(0, "So far"), fence);
      const items = await follow(store);
      await end(store, record);
      deepStrictEqual(await rest(items), ["WORKING", "0:So far", "COMPLETED"]);
    },
  },
  {
    name: "shows several followers the same order, each at its own pace [§5.5 in-order-once]",
    async run(open) {
      const { store } = open;
      const record = await working(store);
      const all = await Promise.all([1, 2, 3].map(() => follow(store)));
      const fast = rest(all[0]!);
      const question = asked(record);
      await Promise.all([store.commit(record.rev, question), store.commit(record.rev, answered(record))]);
      await store.commit(question.rev, after(question, { kind: "no answer came" }));
      const expected = ["WORKING", "INPUT_REQUIRED", "FAILED"];
      for (const got of [await fast, await rest(all[1]!), await rest(all[2]!)]) deepStrictEqual(got, expected);
      noneFollow(open);
    },
  },
  {
    name: "misses nothing between the first item and a commit at the same time",
    async run({ store }) {
      for (let n = 1; n <= 20; n++) {
        const record = sampleTask({ n, working: true });
        await store.create(record);
        const [items] = await Promise.all([
          store.follow(sampleId(n), ann, never),
          store.commit(record.rev, answered(record)),
        ]);
        const got = await rest(items!);
        strictEqual(got.at(-1), "COMPLETED");
        strictEqual(new Set(got).size, got.length);
      }
    },
  },
  {
    name: "ends after a terminal record, also for who comes later",
    async run(open) {
      const { store } = open;
      await end(store, await working(store));
      deepStrictEqual(await rest(await follow(store)), ["COMPLETED"]);
      noneFollow(open);
    },
  },
  {
    name:
      "ends a follower by abort, by return, and at once for a signal that is aborted [§5.5 leaving-does-not-cancel]",
    async run(open) {
      const { store } = open;
      const record = await working(store);
      const stop = new AbortController();
      const aborted = rest(await follow(store, stop.signal));
      const left = await follow(store);
      await left.next();
      const waiting = left.next();
      stop.abort();
      await left.return?.();
      ok((await waiting).done);
      deepStrictEqual((await aborted).filter((item) => item !== "WORKING"), []);
      deepStrictEqual(await rest(await follow(store, AbortSignal.abort())), []);
      noneFollow(open);
      deepStrictEqual(await store.read(record.task.id, ann), record);
    },
  },
  {
    name: "ends followers when the task is removed, and when the store is closed",
    async run(open) {
      const { store } = open;
      const record = await working(store);
      const items = await follow(store);
      await items.next();
      const waiting = rest(items);
      await store[Symbol.asyncDispose]();
      deepStrictEqual(await waiting, []);
      noneFollow(open);
      strictEqual(record.rev, 1);
    },
  },
  {
    name: "follows nothing that cannot be read",
    async run({ store }) {
      strictEqual(await store.follow(sampleId(1), ann, never), undefined);
    },
  },
];
