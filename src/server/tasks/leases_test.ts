import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { ann, bob, sampleId, sampleTask } from "@tests/fakes/sample_tasks.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { Leases } from "./leases.ts";
import type { Fence } from "./task_record.ts";
import type { Busy, Lease } from "./task_store.ts";

const key = { caller: ann, contextId: "c1" };
const t1 = sampleId(1);
const t2 = sampleId(2);

function setUp() {
  const clock = createTestClock();
  const leases = new Leases({ clock, firstFence: 100 as Fence });
  return { clock, leases };
}

function held(lease: Lease | Busy): Lease {
  if ("kind" in lease) throw new Error(`busy with ${lease.taskId}`);
  return lease;
}

Deno.test("Leases take() gives one lease a context and names who has it", () => {
  const { leases } = setUp();
  strictEqual(held(leases.take(key, t1, 60)).fence, 100);
  deepStrictEqual(leases.take(key, t2, 60), { kind: "busy", taskId: t1 });
  deepStrictEqual(leases.take(key, t1, 60), { kind: "busy", taskId: t1 });
  strictEqual(held(leases.take({ ...key, caller: bob }, t2, 60)).fence, 101);
  strictEqual(held(leases.take({ ...key, contextId: "c2" }, t2, 60)).fence, 102);
});

Deno.test("Leases take() replaces a lease that ran out, with a higher fence", async () => {
  const { clock, leases } = setUp();
  const first = held(leases.take(key, t1, 60));
  await clock.advance(59);
  ok("kind" in leases.take(key, t2, 60));
  await clock.advance(1);
  const second = held(leases.take(key, t2, 60));
  ok(second.fence > first.fence);
  strictEqual(leases.renew(first, 60), "lost");
  leases.release(first);
  ok(leases.holds(key, second.fence));
  ok(!leases.holds(key, first.fence));
});

Deno.test("Leases run by the clock that only grows: a jump of the wall time ends none", () => {
  const { clock, leases } = setUp();
  leases.take(key, t1, 60);
  clock.jump(3_600_000);
  ok("kind" in leases.take(key, t2, 60));
  clock.jump(-7_200_000);
  ok("kind" in leases.take(key, t2, 60));
});

Deno.test("Leases renew() prolongs, also one that ran out and that nobody took", async () => {
  const { clock, leases } = setUp();
  let lease = held(leases.take(key, t1, 60));
  await clock.advance(40);
  lease = held(leases.renew(lease, 60) as Lease);
  await clock.advance(40);
  ok("kind" in leases.take(key, t2, 60));
  await clock.advance(40);
  strictEqual((leases.renew(lease, 60) as Lease).until, clock.elapsed() + 60);
  ok("kind" in leases.take(key, t2, 60));
});

Deno.test("Leases release() frees the context once", () => {
  const { leases } = setUp();
  const first = held(leases.take(key, t1, 60));
  leases.release(first);
  const second = held(leases.take(key, t2, 60));
  leases.release(first);
  ok(leases.holds(key, second.fence));
});

Deno.test("Leases backs() tells whether a live lease stands behind a run", async () => {
  const { clock, leases } = setUp();
  const { fence } = held(leases.take(key, t1, 60));
  const record = sampleTask({ fence });
  ok(leases.backs(record));
  ok(!leases.backs(sampleTask({ fence: fence + 1 })));
  ok(!leases.backs(sampleTask({ fence, contextId: "c2" })));
  ok(!leases.backs({ ...record, run: null }));
  await clock.advance(60);
  ok(!leases.backs(record));
});
