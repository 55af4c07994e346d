import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { parseIpAddress } from "@/ip_address.ts";
import { raceConnections } from "./connection_race.ts";

/** A race whose connections a test opens and refuses by hand. */
function makeRace(addresses: readonly string[], { attemptMs = 5_000 } = {}) {
  const clock = createTestClock();
  const stop = new AbortController();
  const attempts: string[] = [];
  const closed: string[] = [];
  const taken: string[] = [];
  const ended: string[] = [];
  const gates = new Map<string, PromiseWithResolvers<{ readonly name: string; close(): void }>>();
  const outcome = raceConnections(addresses.map((text) => parseIpAddress(text)!), {
    ...{ clock, attemptMs, signal: stop.signal },
    connect({ text }, signal) {
      const gate = Promise.withResolvers<{ readonly name: string; close(): void }>();
      signal.addEventListener("abort", () => {
        ended.push(text);
        gate.reject(signal.reason);
      });
      gates.set(text, gate);
      return gate.promise;
    },
    take: ({ name }) => void taken.push(name),
    onAttempt: (address) => attempts.push(address),
  });
  outcome.catch(() => {});
  return {
    ...{ clock, stop, attempts, closed, taken, ended, outcome },
    open: (name: string) => gates.get(name)!.resolve({ name, close: () => void closed.push(name) }),
    refuse: (name: string, reason: Error = new Deno.errors.ConnectionRefused("no")) => gates.get(name)!.reject(reason),
  };
}

Deno.test("raceConnections() tries both families in turn, IPv6 first, the next after 250 ms [§13 race-order]", async () => {
  const race = makeRace(["1.0.0.1", "1.0.0.2", "1.0.0.3", "2001::1", "2001::2"]);
  deepStrictEqual(race.attempts, ["2001::1"]);
  await race.clock.advance(249);
  strictEqual(race.attempts.length, 1);
  await race.clock.advance(1);
  strictEqual(race.attempts.length, 2);
  await race.clock.advance(1_000);
  deepStrictEqual(race.attempts, ["2001::1", "1.0.0.1", "2001::2", "1.0.0.2", "1.0.0.3"]);
  race.open("1.0.0.1");
  strictEqual((await race.outcome).name, "1.0.0.1");
});

Deno.test("raceConnections() tries the next at once after a failure [§13 race-order]", async () => {
  const race = makeRace(["1.0.0.1", "1.0.0.2", "1.0.0.3"]);
  race.refuse("1.0.0.1");
  await race.clock.settle();
  deepStrictEqual(race.attempts, ["1.0.0.1", "1.0.0.2"]);
  await race.clock.advance(249);
  strictEqual(race.attempts.length, 2);
  race.open("1.0.0.2");
  await race.outcome;
  strictEqual(race.clock.pending, 0);
});

Deno.test("raceConnections() gives the winner to its taker, ends the others, and closes who comes late [§13 ends-whole]", async () => {
  const race = makeRace(["1.0.0.1", "1.0.0.2", "1.0.0.3"]);
  await race.clock.advance(250);
  race.open("1.0.0.1");
  race.open("1.0.0.2");
  strictEqual((await race.outcome).name, "1.0.0.1");
  await race.clock.settle();
  deepStrictEqual([race.taken, race.closed, race.attempts.length], [["1.0.0.1"], ["1.0.0.2"], 2]);
  strictEqual(race.clock.pending, 0);
});

Deno.test("raceConnections() tries six addresses at most [§13 race-order]", async () => {
  const race = makeRace(Array.from({ length: 40 }, (_, at) => `1.0.0.${at}`));
  await race.clock.advance(3_000);
  strictEqual(race.attempts.length, 6);
  await race.clock.advance(5_000);
  await rejects(race.outcome, { code: "CONNECT_FAILED", phase: "connect" });
  deepStrictEqual([race.attempts.length, race.clock.pending], [6, 0]);
});

Deno.test("raceConnections() gives up an address after its own time, and fails when none is left", async () => {
  const race = makeRace(["1.0.0.1", "1.0.0.2"], { attemptMs: 100 });
  await race.clock.advance(100);
  deepStrictEqual(race.ended, ["1.0.0.1"]);
  race.refuse("1.0.0.2");
  await rejects(race.outcome, { code: "CONNECT_FAILED" });
  strictEqual(race.clock.pending, 0);
});

Deno.test("raceConnections() ends at an abort with its reason, and leaves no timer [§13 ends-whole]", async () => {
  const race = makeRace(["1.0.0.1", "1.0.0.2", "1.0.0.3"]);
  await race.clock.advance(250);
  const reason = new Error("stop");
  race.stop.abort(reason);
  await rejects(race.outcome, reason);
  await race.clock.settle();
  deepStrictEqual([race.ended, race.attempts.length, race.clock.pending], [["1.0.0.1", "1.0.0.2"], 2, 0]);
});

Deno.test("raceConnections() tries nothing more when the process may not connect", async () => {
  const race = makeRace(["1.0.0.1", "1.0.0.2"]);
  race.refuse("1.0.0.1", new Deno.errors.NotCapable("no net"));
  await rejects(race.outcome, { code: "PERMISSION_DENIED", phase: "connect" });
  deepStrictEqual([race.attempts.length, race.clock.pending], [1, 0]);
});
