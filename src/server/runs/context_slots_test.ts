import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { alice } from "@tests/fakes/run_service_fixture.ts";
import { sampleId } from "@tests/fakes/sample_tasks.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import type { TaskId } from "@/protocol/ids.ts";
import { MemoryTaskStore } from "@tests/fakes/memory_task_store.ts";
import type { Fence } from "@/server/tasks/task_record.ts";
import { ContextSlots, leaseMs } from "./context_slots.ts";

const key = { caller: alice, contextId: "c" };
const [a, b] = [sampleId(1), sampleId(2)];

Deno.test("ContextSlots holds a lease while a task runs, none while a question is open [SM2 running-asked]", async () => {
  await using made = makeSlots();
  const { slots } = made;
  const fence = await made.take(a);
  deepStrictEqual([slots.state(key), slots.holds(key, fence)], [{ kind: "running", taskId: a }, true]);
  deepStrictEqual(await slots.take(key, b), { kind: "busy", taskId: a });
  slots.settle(key, fence, "asked");
  deepStrictEqual([slots.state(key), slots.lease(key)], [{ kind: "parked", taskId: a }, undefined]);
  slots.closeQuestion(key, b);
  strictEqual(slots.state(key).kind, "parked");
  slots.closeQuestion(key, a);
  strictEqual(slots.state(key).kind, "free");
});

Deno.test("ContextSlots drains until the turn is over: who waits takes it then [SM2 draining]", async () => {
  await using made = makeSlots();
  const { slots } = made;
  const fence = await made.take(a);
  slots.abort(key, fence);
  let taken: Fence | undefined;
  const taking = made.take(b).then((other) => taken = other);
  await made.clock.advance(4_000);
  deepStrictEqual([slots.state(key).kind, taken], ["draining", undefined]);
  await slots.turnIsOver(key, fence);
  ok(await taking > fence);
  deepStrictEqual(slots.state(key), { kind: "running", taskId: b });
});

Deno.test("ContextSlots says busy after 6 s when a turn that is over is still to be stored [SM2 draining]", async () => {
  await using made = makeSlots();
  const { slots, clock } = made;
  const fence = await made.take(a);
  slots.abort(key, fence);
  let answer: unknown;
  void slots.take(key, b).then((taken) => answer = taken);
  await clock.advance(5_999);
  strictEqual(answer, undefined);
  await clock.advance(1);
  deepStrictEqual(answer, { kind: "busy", taskId: a });
  await slots.turnIsOver(key, fence);
});

Deno.test("ContextSlots hears only the run that has the context", async () => {
  await using made = makeSlots();
  const { slots } = made;
  const old = await made.take(a);
  await slots.giveUp(key, old);
  const fence = await made.take(b);
  slots.settle(key, old, "ended");
  slots.abort(key, old);
  await slots.turnIsOver(key, old);
  await slots.giveUp(key, old);
  deepStrictEqual([slots.state(key), slots.holds(key, fence)], [{ kind: "running", taskId: b }, true]);
});

Deno.test("ContextSlots renews every third of a lease, and tells who lost one [SM2 fence]", async () => {
  await using made = makeSlots();
  const { slots, store, clock } = made;
  const fence = await made.take(a);
  await clock.advance(5 * leaseMs);
  strictEqual(slots.holds(key, fence), true);
  strictEqual("kind" in await store.lease(key, b, leaseMs), true);
  await store.release(slots.lease(key)!);
  await store.lease(key, b, leaseMs);
  await clock.advance(leaseMs / 3);
  deepStrictEqual(made.lost, [a]);
  deepStrictEqual([slots.state(key).kind, slots.holds(key, fence)], ["draining", false]);
  await slots.turnIsOver(key, fence);
  strictEqual(slots.state(key).kind, "free");
});

Deno.test("ContextSlots does not wait for a context that another host works in", async () => {
  await using made = makeSlots();
  const { slots, store, clock } = made;
  await store.lease(key, a, leaseMs);
  deepStrictEqual(await slots.take(key, b), { kind: "busy", taskId: a }); // it is not known to be over
  slots.closeQuestion(key, a);
  await slots.releaseAll();
  strictEqual(clock.elapsed(), 0);
});

function makeSlots() {
  const clock = createTestClock();
  const store = new MemoryTaskStore({ clock });
  const lost: TaskId[] = [];
  const slots = new ContextSlots({ store, clock, onLost: (taskId) => lost.push(taskId) });
  return {
    ...{ clock, store, slots, lost },
    async take(taskId: TaskId): Promise<Fence> {
      const lease = await slots.take(key, taskId);
      if ("kind" in lease) throw new Error("The context is busy");
      return lease.fence;
    },
    async [Symbol.asyncDispose]() {
      await slots[Symbol.asyncDispose]();
      strictEqual(clock.pending, 0);
      await store[Symbol.asyncDispose]();
    },
  };
}
