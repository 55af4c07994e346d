import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { createTestClock, type TestClock } from "@tests/fakes/test_clock.ts";
import { superviseHost } from "./host_supervisor.ts";

/** A thread that does as its mode says, supervised. */
function supervise(
  mode: string,
  { graceMs = 0, clock = createTestClock() }: { graceMs?: number; clock?: TestClock } = {},
) {
  const complaints: string[] = [];
  const started = Promise.withResolvers<void>();
  let signal = () => {};
  const ended = superviseHost({
    hostUrl: new URL(import.meta.resolve("@tests/processes/odd_host.ts")),
    config: {
      engine: "faux",
      runsPrograms: false,
      workspaces: [],
      settings: { mode },
      caCerts: [],
      logForm: "text",
      pid: 1,
    },
    graceMs,
    clock,
    listenToSignals(onSignal) {
      signal = onSignal;
      return { [Symbol.dispose]: () => void (signal = () => {}) };
    },
    onStarted: () => started.resolve(),
    onActivity: () => {},
    onStopping: () => {},
    complain: (text) => void complaints.push(text),
    answer: ({ kind }) => Promise.resolve({ kind: "refused", why: `Cannot ${kind}` }),
  }).finally(() => {
    Deno.exitCode = 0; // else this test run would end with it
  });
  return { ended, complaints, clock, started: started.promise, signal: () => signal() };
}

const ends = [
  { id: "SM7 host-died", mode: "throws", code: 70, says: /^The host broke: .*boom/ },
  { id: "SM7 host-died", mode: "rejects", code: 70, says: /^The host broke: .*later boom/ },
  { id: "SM7 start-lock", mode: "refuses", code: 2, says: /^Cannot start$/ },
  { id: "SM7 lock-lost", mode: "is lost", code: 70, says: /^Lost the lock$/ },
  {
    id: "§4 typed-requests",
    mode: "asks",
    code: 2,
    says: /^\{"kind":"refused","why":"Cannot resolve secret"\}$/,
  },
];

for (const { id, mode, code, says } of ends) {
  Deno.test(`superviseHost() ends with ${code} when the host ${mode} [${id}]`, async () => {
    const { ended, complaints } = supervise(mode);
    strictEqual(await ended, code);
    strictEqual(complaints.length, 1);
    match(complaints[0]!, says);
  });
}

for (const mode of ["closes", "exits", "gets stuck"]) {
  Deno.test(`superviseHost() ends with 70 when the host ${mode} without a word [SM7 host-died]`, async () => {
    const { ended, complaints, clock, started } = supervise(mode);
    await started;
    await clock.advance(30_000);
    await clock.advance(5_000);
    strictEqual(await ended, 70);
    deepStrictEqual(complaints, ["The host does not answer any more: its thread is stuck or gone"]);
    strictEqual(clock.pending, 0);
  });
}

Deno.test("superviseHost() drains at the first signal and ends with 0 [SM7 drain]", async () => {
  const { ended, complaints, started, signal, clock } = supervise("serves");
  await started;
  signal();
  strictEqual(await ended, 0);
  deepStrictEqual(complaints, []);
  strictEqual(clock.pending, 0);
});

Deno.test("superviseHost() ends with 130 at the second signal [SM7 second-signal]", async () => {
  const { ended, started, signal, clock } = supervise("serves", { graceMs: 30_000 });
  await started;
  signal();
  await clock.advance(1_000);
  signal();
  strictEqual(await ended, 130);
});

Deno.test("superviseHost() ends a host that does not end itself in time with 70 [SM7 stuck-host]", async () => {
  const { ended, complaints, started, signal, clock } = supervise("gets stuck", { graceMs: 4_000 });
  await started;
  signal();
  await clock.advance(19_000);
  strictEqual(await ended, 70);
  deepStrictEqual(complaints, ["The host did not end in time: what still ran is failed at the next start"]);
});
