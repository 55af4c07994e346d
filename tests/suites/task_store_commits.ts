import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import {
  acknowledged,
  after,
  ann,
  answered,
  asked,
  bob,
  sampleId,
  sampleTask,
  started,
} from "@tests/fakes/sample_tasks.ts";
import type { OpenStore, StoreCase } from "@tests/suites/store_case.ts";
import type { BlobRef } from "@/protocol/task.ts";
import type { Fence, TaskRecord } from "@/server/tasks/task_record.ts";
import { contentCharsMax, recordText } from "@/server/tasks/record_json.ts";
import { type Lease, RecordTooLarge, type TaskStore } from "@/server/tasks/task_store.ts";

const key = { caller: ann, contextId: "c1" };

async function created(store: TaskStore, record: TaskRecord = sampleTask()): Promise<TaskRecord> {
  strictEqual((await store.create(record)).kind, "created");
  return record;
}

async function leased(store: TaskStore): Promise<Lease> {
  const lease = await store.lease(key, sampleId(1), 60_000);
  if ("kind" in lease) throw new Error("busy");
  return lease;
}

const bytes = (...pieces: string[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });

const text = (stream: ReadableStream<Uint8Array>) => new Response(stream as BodyInit).text();

export const commitCases: readonly StoreCase[] = [
  {
    name: "replaces a record by its next revision [§5.5 durable-before-seen]",
    async run({ store }) {
      const record = await created(store);
      const next = started(record);
      strictEqual(await store.commit(record.rev, next), "committed");
      deepStrictEqual(await store.read(record.task.id, ann), next);
    },
  },
  {
    name: "refuses content over 4 MiB less what is kept for the end, and takes whatever else comes [DM5 bounds]",
    async run({ store }) {
      const chars = recordText(sampleTask({ text: "" })).length;
      const text = (more: number) => "x".repeat(contentCharsMax - chars + more);
      await rejects(store.create(sampleTask({ n: 2, text: text(1) })), RecordTooLarge);
      strictEqual(await store.read(sampleId(2), ann), undefined);
      const record = await created(store, sampleTask({ text: text(0) }));
      const next = started(record);
      await rejects(store.commit(record.rev, next, { bringsContent: true }), RecordTooLarge);
      deepStrictEqual(await store.read(record.task.id, ann), record);
      strictEqual(await store.commit(record.rev, next), "committed");
      deepStrictEqual(await store.read(record.task.id, ann), next);
    },
  },
  {
    name: "is stale for a revision that is not the newest, and for an unknown task",
    async run({ store }) {
      const record = await created(store);
      const next = started(record);
      await store.commit(record.rev, next);
      strictEqual(await store.commit(record.rev, after(record, { kind: "cancel asked" })), "stale");
      strictEqual(await store.commit(next.rev + 1 as typeof next.rev, answered(answered2(next))), "stale");
      const unknown = sampleTask({ n: 9 });
      strictEqual(await store.commit(unknown.rev, started(unknown)), "stale");
      deepStrictEqual(await store.read(record.task.id, ann), next);
    },
  },
  {
    name: "lets one of two commits of one revision win [SM1 race cancel-end]",
    async run({ store }) {
      const record = await created(store, sampleTask({ working: true }));
      const ends = [answered(record), after(record, { kind: "cancel asked" }), answered(record, "other")];
      const results = await Promise.all(ends.map((next) => store.commit(record.rev, next)));
      deepStrictEqual(results, ["committed", "stale", "stale"]);
      deepStrictEqual(await store.read(record.task.id, ann), ends[0]);
    },
  },
  {
    name:
      "throws RangeError for a terminal status that would change, and for a skipped revision [SM1 T16, §5.5 terminal-final]",
    async run({ store }) {
      const record = await created(store, sampleTask({ working: true, pushes: ["w1"] }));
      const done = answered(record);
      await store.commit(record.rev, done);
      const other = { ...after(record, { kind: "cancel asked" }), rev: done.rev + 1 as typeof done.rev };
      await rejects(store.commit(done.rev, other), RangeError);
      const skipped = { ...acknowledged(done, "w1"), rev: done.rev + 2 as typeof done.rev };
      await rejects(store.commit(done.rev, skipped), RangeError);
      deepStrictEqual(await store.read(record.task.id, ann), done);
      strictEqual(await store.commit(done.rev, acknowledged(done, "w1")), "committed");
    },
  },
  {
    name: "is fenced for a run that no longer holds its context, and not for what is no run's own",
    async run({ store, clock }) {
      const lease = await leased(store);
      const record = await created(store, sampleTask({ working: true, fence: lease.fence }));
      strictEqual(await store.commit(record.rev, answered(record), { as: lease.fence - 1 as Fence }), "fenced");
      await clock.advance(60_000);
      const other = await store.lease(key, sampleId(2), 60_000);
      strictEqual("kind" in other, false);
      strictEqual(await store.commit(record.rev, answered(record), { as: lease.fence }), "fenced");
      deepStrictEqual(await store.read(record.task.id, ann), record);
      strictEqual(await store.commit(record.rev, after(record, { kind: "host lost" })), "committed");
    },
  },
  {
    name: "is fenced after a release, and committed while the lease is held",
    async run({ store }) {
      const lease = await leased(store);
      const record = await created(store, sampleTask({ working: true, fence: lease.fence }));
      const next = asked(record);
      strictEqual(await store.commit(record.rev, next, { as: lease.fence }), "committed");
      await store.release(lease);
      const over = after(next, { kind: "cancel asked" });
      strictEqual(await store.commit(next.rev, over, { as: lease.fence }), "fenced");
    },
  },
  {
    name: "releases a lease in the step that makes the record visible [§5.5 durable-before-seen, SM2 running-ended]",
    async run(open) {
      const { store } = open;
      const lease = await leased(store);
      const record = await created(store, sampleTask({ working: true, fence: lease.fence }));
      const items = (await store.follow(record.task.id, ann, new AbortController().signal))!;
      await items.next();
      const order: string[] = [];
      const seen = items.next().then(async (item) => {
        order.push("followed");
        const taken = await store.lease(key, sampleId(2), 60_000);
        return !item.done && item.value.kind === "record" && !("kind" in taken);
      });
      const options = { as: lease.fence, release: lease, onDurable: () => void order.push("durable") };
      strictEqual(await store.commit(record.rev, answered(record), options), "committed");
      strictEqual(await seen, true);
      deepStrictEqual(order, ["durable", "followed"]);
    },
  },
  {
    name: "keeps a lease when its commit is stale or fenced",
    async run({ store }) {
      const lease = await leased(store);
      const record = await created(store, sampleTask({ working: true, fence: lease.fence }));
      let durable = 0;
      const options = { release: lease, onDurable: () => void durable++ };
      const stale = record.rev + 3 as typeof record.rev;
      strictEqual(await store.commit(stale, answered(record), options), "stale");
      const fenced = { ...options, as: lease.fence + 1 as Fence };
      strictEqual(await store.commit(record.rev, answered(record), fenced), "fenced");
      strictEqual("kind" in await store.lease(key, sampleId(2), 60_000), true);
      strictEqual(durable, 0);
    },
  },
  {
    name: "removes a terminal task, and no other [SM1 T17, §7 retention]",
    async run({ store }) {
      const record = await created(store, sampleTask({ working: true, pushes: ["w1"] }));
      const { id } = record.task;
      strictEqual(await store.remove(id, record.rev), "stale");
      const done = answered(record);
      await store.commit(record.rev, done);
      strictEqual(await store.remove(id, done.rev), "stale"); // its webhook waits
      const told = acknowledged(done, "w1");
      await store.commit(done.rev, told);
      strictEqual(await store.remove(id, done.rev), "stale");
      strictEqual(await store.remove(id, told.rev), "removed");
      strictEqual(await store.read(id, ann), undefined);
      strictEqual(await store.remove(id, told.rev), "stale");
      strictEqual(await store.commit(told.rev, acknowledged(told, "w1")), "stale");
      strictEqual(await store.remove(sampleId(9), told.rev), "stale");
    },
  },
  {
    name: "frees the dedupe key of a task that is removed",
    async run({ store }) {
      const record = await created(store, sampleTask({ failed: "x", dedupe: {} }));
      await store.remove(record.task.id, record.rev);
      strictEqual((await store.create(sampleTask({ n: 2, dedupe: {} }))).kind, "created");
    },
  },
  {
    name: "keeps blobs beside a task, byte by byte, one of equal ones [DM5 blobs]",
    async run(open: OpenStore) {
      const { store } = open;
      const record = await created(store);
      const { id } = record.task;
      const ref = await store.putBlob(id, bytes("Hel", "lo"), 5) as BlobRef;
      deepStrictEqual(ref, { blob: "185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969", bytes: 5 });
      deepStrictEqual(await store.putBlob(id, bytes("Hello"), 99), ref);
      deepStrictEqual(await store.putBlob(id, bytes(), 0), {
        blob: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        bytes: 0,
      });
      strictEqual(await text(await store.openBlob(id, ref)), "Hello");
      strictEqual(await text(await store.openBlob(id, ref)), "Hello");
      strictEqual(open.blobsLeft?.(id).length ?? 2, 2);
    },
  },
  {
    name: "leaves nothing of a blob that is too large or breaks off [DM5 blobs]",
    async run(open: OpenStore) {
      const { store } = open;
      const { id } = (await created(store)).task;
      strictEqual(await store.putBlob(id, bytes("Hel", "lo!"), 5), "too large");
      const broken = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.error(new Error("the engine is gone")),
      });
      await rejects(store.putBlob(id, broken, 5), /the engine is gone/);
      deepStrictEqual(open.blobsLeft?.(id) ?? [], []);
    },
  },
  {
    name: "cancels the source of a blob that is too large",
    async run({ store }) {
      const { id } = (await created(store)).task;
      let isCanceled = false;
      const endless = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new Uint8Array(1000)),
        cancel: () => void (isCanceled = true),
      });
      strictEqual(await store.putBlob(id, endless, 5000), "too large");
      strictEqual(isCanceled, true);
    },
  },
  {
    name: "opens no blob that is not there, of another task, or under a strange name",
    async run({ store }) {
      const { id } = (await created(store)).task;
      const ref = await store.putBlob(id, bytes("Hello"), 99) as BlobRef;
      await rejects(store.openBlob(sampleId(2), ref));
      await rejects(store.openBlob(id, { blob: "0".repeat(64), bytes: 1 }));
      await rejects(store.openBlob(id, { blob: "../../x", bytes: 1 }));
    },
  },
  {
    name: "removes the blobs with their task [SM1 T17]",
    async run(open: OpenStore) {
      const { store, clock } = open;
      const record = await created(store, sampleTask({ failed: "x" }));
      const ref = await store.putBlob(record.task.id, bytes("Hello"), 99) as BlobRef;
      await store.remove(record.task.id, record.rev);
      await clock.advance(1000);
      await rejects(store.openBlob(record.task.id, ref));
      deepStrictEqual(open.blobsLeft?.(record.task.id) ?? [], []);
    },
  },
  {
    name: "tells another caller nothing by any method",
    async run({ store }) {
      const { id } = (await created(store, sampleTask({ dedupe: {} }))).task;
      strictEqual(await store.read(id, bob), undefined);
      strictEqual(await store.follow(id, bob, new AbortController().signal), undefined);
      const page = await store.list({ caller: bob, pageSize: 9, pageToken: "" });
      deepStrictEqual(page, { kind: "page", tasks: [], next: "", total: 0 });
      deepStrictEqual(await store.unfinished(bob, 9), []);
    },
  },
];

/** The next record but one, for a revision that is too high. */
function answered2(record: TaskRecord): TaskRecord {
  return { ...record, rev: record.rev + 1 as TaskRecord["rev"] };
}
