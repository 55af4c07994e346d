import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { OutboundError } from "./outbound_error.ts";
import { withinTime } from "./within_time.ts";

const late = new OutboundError("DNS_TIMEOUT", "dns", { message: "late" });

function makeLimit() {
  const clock = createTestClock();
  const stop = new AbortController();
  return { clock, stop, limit: { clock, ms: 100, signal: stop.signal, late: () => late } };
}

Deno.test("withinTime() gives what the work gives, its failure included, and leaves no timer", async () => {
  const { clock, limit } = makeLimit();
  strictEqual(await withinTime(() => Promise.resolve(1), limit), 1);
  await rejects(withinTime(() => Promise.reject(new Error("broken")), limit), /broken/);
  strictEqual(clock.pending, 0);
});

Deno.test("withinTime() ends the wait when the time is up, though the work heeds no signal", async () => {
  const { clock, limit } = makeLimit();
  const signals: AbortSignal[] = [];
  const waited = rejects(withinTime((signal) => (signals.push(signal), new Promise(() => {})), limit), late);
  await clock.advance(100);
  await waited;
  deepStrictEqual([signals[0]!.reason, clock.pending], [late, 0]);
});

Deno.test("withinTime() ends the wait at an abort, with its reason", async () => {
  const { clock, limit, stop } = makeLimit();
  const reason = new Error("stop");
  const waited = rejects(withinTime(() => new Promise(() => {}), limit), reason);
  stop.abort(reason);
  await waited;
  let hasBegun = false;
  await rejects(withinTime(() => Promise.resolve(hasBegun = true), limit), reason);
  deepStrictEqual([hasBegun, clock.pending], [false, 0]);
});
