import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { createTestClock } from "@tests/fakes/test_clock.ts";

Deno.test("TestClock stands still until it is advanced, and fires timers in their order", async () => {
  const clock = createTestClock(0);
  const fired: string[] = [];
  const after = (ms: number, name: string) => clock.sleep(ms).then(() => fired.push(`${name} at ${clock.elapsed()}`));
  void after(30, "c");
  void after(10, "a");
  void after(10, "b");
  await clock.settle();
  deepStrictEqual([fired, clock.pending, clock.elapsed()], [[], 3, 0]);
  await clock.advance(29);
  deepStrictEqual(fired, ["a at 10", "b at 10"]);
  await clock.advance(1);
  deepStrictEqual([fired, clock.pending, clock.elapsed()], [["a at 10", "b at 10", "c at 30"], 0, 30]);
});

Deno.test("TestClock fires what a timer begins, when it falls into the same advance", async () => {
  const clock = createTestClock(0);
  const times: number[] = [];
  const loop = async () => {
    while (times.length < 4) {
      await clock.sleep(10);
      times.push(clock.elapsed());
    }
  };
  const done = loop();
  await clock.advance(100);
  await done;
  deepStrictEqual([times, clock.elapsed()], [[10, 20, 30, 40], 100]);
});

Deno.test("TestClock waits between timers until the work that it was told of has had its effect", async () => {
  const clock = createTestClock(0);
  const seen: string[] = [];
  const worker = async () => {
    await clock.sleep(10);
    await clock.busy(Deno.stat("."));
    await clock.busy(Deno.stat("."));
    seen.push(`worked at ${clock.elapsed()}`);
  };
  const done = worker();
  void clock.sleep(20).then(() => seen.push("later"));
  await clock.advance(20);
  await done;
  deepStrictEqual(seen, ["worked at 10", "later"]);
});

Deno.test("TestClock passes on how the work ends, and goes on after a failure", async () => {
  const clock = createTestClock(0);
  strictEqual(await clock.busy(Promise.resolve(7)), 7);
  await rejects(clock.busy(Promise.reject(new Error("no"))), /no/);
  await clock.advance(1);
});

Deno.test("TestClock moves the wall time alone when it jumps", async () => {
  const clock = createTestClock(1_000_000);
  clock.jump(-500);
  deepStrictEqual([clock.now(), clock.elapsed()], [999_500, 0]);
  await clock.advance(10);
  deepStrictEqual([clock.now(), clock.elapsed()], [999_510, 10]);
});

Deno.test("TestClock sleep() rejects with the signal's reason and forgets the timer", async () => {
  const clock = createTestClock(0);
  const stop = new AbortController();
  const asleep = clock.sleep(10, stop.signal);
  strictEqual(clock.pending, 1);
  stop.abort(new Error("stop"));
  await rejects(asleep, /stop/);
  strictEqual(clock.pending, 0);
  await rejects(clock.sleep(10, stop.signal), /stop/);
});

Deno.test("TestClock deadline() aborts at its time, unless it was disposed of", async () => {
  const clock = createTestClock(0);
  using kept = clock.deadline(10);
  const dropped = clock.deadline(10);
  dropped[Symbol.dispose]();
  await clock.advance(9);
  ok(!kept.signal.aborted);
  await clock.advance(1);
  deepStrictEqual([kept.signal.aborted, kept.signal.reason.name], [true, "TimeoutError"]);
  deepStrictEqual([dropped.signal.aborted, clock.pending], [false, 0]);
});
