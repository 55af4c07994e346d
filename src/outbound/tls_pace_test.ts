import { deepStrictEqual, rejects } from "node:assert/strict";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { TlsPace } from "./tls_pace.ts";

Deno.test("TlsPace lets so many begin in 100 ms, and the others in the order they came", async () => {
  const clock = createTestClock();
  const pace = new TlsPace({ clock, max: 2 });
  const begun: number[] = [];
  const all = [0, 1, 2, 3, 4].map((number) => pace.turn(new AbortController().signal).then(() => begun.push(number)));
  await clock.advance(99);
  deepStrictEqual(begun, [0, 1]);
  await clock.advance(1);
  deepStrictEqual(begun, [0, 1, 2, 3]);
  await clock.advance(100);
  await Promise.all(all);
  deepStrictEqual(begun, [0, 1, 2, 3, 4]);
});

Deno.test("TlsPace ends a wait with the reason of its signal, and counts nothing then", async () => {
  const clock = createTestClock();
  const pace = new TlsPace({ clock, max: 1 });
  const signal = new AbortController().signal;
  await pace.turn(signal);
  const stop = new AbortController();
  const waiting = pace.turn(stop.signal);
  const refused = rejects(waiting, /enough/);
  stop.abort(new Error("enough"));
  await refused;
  const next = pace.turn(signal);
  await clock.advance(100);
  await next;
});
