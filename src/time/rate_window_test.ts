import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { RateWindow } from "./rate_window.ts";

Deno.test("RateWindow lets so many through in any window, and says how long the next must wait", async () => {
  const clock = createTestClock();
  const window = new RateWindow({ clock, max: 2, windowMs: 1000 });
  const waits: number[] = [];
  for (const advanceMs of [0, 300, 300, 399, 1, 300]) {
    await clock.advance(advanceMs);
    waits.push(window.waitMs("a"));
    if (waits.at(-1) === 0) window.count("a");
  }
  deepStrictEqual(waits, [0, 0, 400, 1, 0, 0]);
});

Deno.test("RateWindow counts names apart, and asking counts nothing", () => {
  const window = new RateWindow({ clock: createTestClock(), max: 1, windowMs: 1000 });
  window.count("a");
  deepStrictEqual([window.waitMs("a"), window.waitMs("b"), window.waitMs("b")], [1000, 0, 0]);
});

Deno.test("RateWindow takes events over the limit, of which the newest count", async () => {
  const clock = createTestClock();
  const window = new RateWindow({ clock, max: 2, windowMs: 1000 });
  for (let n = 0; n < 3; n++) {
    window.count("a");
    await clock.advance(100);
  }
  strictEqual(window.waitMs("a"), 800);
});

Deno.test("RateWindow measures by the clock that only grows: a jump of the wall time changes nothing", () => {
  const clock = createTestClock();
  const window = new RateWindow({ clock, max: 1, windowMs: 1000 });
  window.count("a");
  clock.jump(-86_400_000);
  strictEqual(window.waitMs("a"), 1000);
  clock.jump(86_400_000 * 2);
  strictEqual(window.waitMs("a"), 1000);
});

Deno.test("RateWindow keeps 10,000 names, and forgets the one longest unused", () => {
  const window = new RateWindow({ clock: createTestClock(), max: 1, windowMs: 1000 });
  window.count("first");
  window.count("second");
  window.count("first");
  for (let n = 0; n < 9_999; n++) window.count(`n${n}`);
  deepStrictEqual([window.waitMs("first"), window.waitMs("second")], [1000, 0]);
});
