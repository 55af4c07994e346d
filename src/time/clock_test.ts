import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { isoTime, parseTime, systemClock, type TimeMs, timeoutError } from "./clock.ts";

const timerMsMax = 2 ** 31 - 1;

/** Replaces the runtime's timers for one test: each fires at once, and time jumps by what it waited. */
function fastTimers(options: { fireEarlyBy?: number } = {}) {
  const { setTimeout, clearTimeout } = globalThis;
  const { now } = performance;
  const waits: number[] = [];
  const pending = new Map<number, () => void>();
  let elapsed = 1000;
  let early = options.fireEarlyBy ?? 0;
  performance.now = () => elapsed;
  globalThis.setTimeout = ((fire: () => void, ms: number) => {
    waits.push(ms);
    const id = waits.length;
    pending.set(id, fire);
    queueMicrotask(() => {
      if (!pending.delete(id)) return;
      elapsed += ms - early;
      early = 0;
      fire();
    });
    return id;
  }) as unknown as typeof setTimeout;
  globalThis.clearTimeout = ((id: number) => void pending.delete(id)) as typeof clearTimeout;
  return {
    waits,
    pending,
    [Symbol.dispose]() {
      Object.assign(globalThis, { setTimeout, clearTimeout });
      performance.now = now;
    },
  };
}

Deno.test("systemClock sleep() splits what is longer than a timer can wait", async () => {
  using timers = fastTimers();
  const month = 30 * 86_400_000;
  await systemClock.sleep(month);
  deepStrictEqual(timers.waits, [timerMsMax, month - timerMsMax]);
});

Deno.test("systemClock sleep() waits on when a timer fires early", async () => {
  using timers = fastTimers({ fireEarlyBy: 0.4 });
  await systemClock.sleep(10);
  deepStrictEqual(timers.waits, [10, 1]);
});

Deno.test("systemClock sleep() waits not at all for 0 or less", async () => {
  using timers = fastTimers();
  await systemClock.sleep(0);
  await systemClock.sleep(-5);
  deepStrictEqual(timers.waits, []);
});

Deno.test("systemClock sleep() rejects with the signal's reason, and leaves no timer", async () => {
  const stop = new AbortController();
  const reason = new Error("stop");
  const asleep = systemClock.sleep(86_400_000, stop.signal);
  stop.abort(reason);
  await rejects(asleep, reason);
  await rejects(systemClock.sleep(10, stop.signal), reason);
  await rejects(systemClock.sleep(0, stop.signal), reason);
});

Deno.test("systemClock deadline() aborts with a TimeoutError, once its time is up", async () => {
  using _timers = fastTimers();
  using deadline = systemClock.deadline(50);
  ok(!deadline.signal.aborted);
  await new Promise((resolve) => deadline.signal.addEventListener("abort", resolve));
  strictEqual((deadline.signal.reason as DOMException).name, timeoutError().name);
});

Deno.test("systemClock deadline() aborts nothing after it is disposed of, and leaves no timer", () => {
  const deadline = systemClock.deadline(86_400_000);
  deadline[Symbol.dispose]();
  strictEqual(deadline.signal.aborted, false);
});

Deno.test("systemClock tells wall time and time that only grows", () => {
  const before = Date.now();
  ok(systemClock.now() >= before);
  const elapsed = systemClock.elapsed();
  ok(systemClock.elapsed() >= elapsed);
});

Deno.test("isoTime() and parseTime() are each other's reverse, and parseTime() takes offsets", () => {
  const text = "2026-10-08T12:00:00.000Z";
  strictEqual(isoTime(parseTime(text)), text);
  strictEqual(parseTime("2026-10-08T14:00:00+02:00"), parseTime(text));
  ok(Number.isNaN(parseTime("soon") as TimeMs));
});
