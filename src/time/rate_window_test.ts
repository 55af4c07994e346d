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

Deno.test("RateWindow takes another limit at each question: it holds for what was counted before", async () => {
  const clock = createTestClock();
  const window = new RateWindow({ clock, windowMs: 1000 });
  for (let n = 0; n < 3; n++) {
    window.count("a");
    await clock.advance(100);
  }
  const waits = [1, 2, 3, 4, Infinity].map((max) => window.waitMs("a", max));
  deepStrictEqual([...waits, window.waitMs("a")], [900, 800, 700, 0, 0, 0]);
});

/** A clock that nobody waits by: cheap to move. */
function makeBareClock() {
  let now = 0;
  return { clock: { ...createTestClock(), elapsed: () => now }, pass: (ms: number) => void (now += ms) };
}

Deno.test("RateWindow keeps one time for what comes within a hundredth of the window, the last, however often it comes [§7 bounded-counts]", () => {
  const { clock, pass } = makeBareClock();
  const window = new RateWindow({ clock, max: 1_000, windowMs: 60_000 });
  for (let n = 0; n < 600; n++) {
    window.count("a");
    pass(1);
  }
  strictEqual(window.waitMs("a", 1), 59_999);
  strictEqual(window.waitMs("a", 600), 59_999); // not that of the first: they are over together
  pass(59_998);
  deepStrictEqual([window.waitMs("a", 600), window.waitMs("a", 601)], [1, 0]);
  pass(1);
  strictEqual(window.waitMs("a", 1), 0);
  for (let n = 0; n < 1_200; n++) {
    window.count("steady");
    pass(1);
  }
  strictEqual(window.waitMs("steady", 601), 60_000 - 601); // the first hundredth alone
});

Deno.test("RateWindow lets no more through in any window, whatever comes when [§7 request-rates]", () => {
  const { clock, pass } = makeBareClock();
  const window = new RateWindow({ clock, max: 50, windowMs: 1000 });
  const through: number[] = [];
  for (let step = 0; step < 20_000; step++) {
    pass(1 + step * 7919 % 5);
    if (window.waitMs("a") > 0) continue;
    window.count("a");
    through.push(clock.elapsed());
  }
  const inWindow = (from: number) => through.filter((at) => at >= from && at < from + 1000).length;
  deepStrictEqual([Math.max(...through.map(inWindow)), through.length > 2_500], [50, true]);
});
