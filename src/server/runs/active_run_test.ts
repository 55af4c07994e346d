import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { alice } from "@tests/fakes/run_service_fixture.ts";
import { sampleId } from "@tests/fakes/sample_tasks.ts";
import { createScriptedSessions } from "@tests/fakes/scripted_sessions.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { Counters } from "@/counters.ts";
import type { TurnRequest } from "@/sessions/session_pool.ts";
import type { RunId } from "@/server/tasks/task_record.ts";
import { ActiveRun, type Prepared } from "./active_run.ts";

const turn = { kind: "turn", request: { scope: "s", fence: 1, text: "hello" } as TurnRequest } as const;

/** What an opening may come to after the abort: none of it begins a turn or fails the task. */
const late: readonly (readonly [name: string, prepared: () => Promise<Prepared>])[] = [
  ["a turn", () => Promise.resolve(turn)],
  ["a failure", () => Promise.resolve({ kind: "failed", message: "Cannot" })],
  ["an abort", () => Promise.resolve({ kind: "aborted" })],
  ["an error", () => Promise.reject(new Error("made by the test"))],
];

for (const [name, prepared] of late) {
  Deno.test(`ActiveRun that is aborted while it opens is aborted, though the opening comes to ${name} [SM3 stopping-ends]`, async () => {
    const made = makeRun();
    const work = made.run.work();
    strictEqual(made.run.phase.kind, "opening");
    made.run.abort("cancel");
    strictEqual(made.run.phase.kind, "stopping");
    made.opened.resolve(prepared());
    deepStrictEqual(await work, { kind: "aborted", usage: undefined });
    deepStrictEqual([made.sessions.turns.length, made.clock.pending], [0, 0]);
  });
}

Deno.test("ActiveRun waits 5 s for an opening that ignores its abort, and drops what it comes to [SM3 stopping-killed]", async () => {
  const made = makeRun();
  const results: unknown[] = [];
  const work = made.run.work().then((result) => results.push(result));
  made.run.abort("cancel");
  await made.clock.advance(4_999);
  deepStrictEqual(results, []);
  await made.clock.advance(1);
  await work;
  deepStrictEqual(results, [{ kind: "aborted", usage: undefined }]);
  made.opened.resolve(turn);
  await made.clock.settle();
  deepStrictEqual([made.sessions.turns.length, made.sessions.killed.length], [0, 0]); // the session is not to blame
});

Deno.test("ActiveRun fails when its opening ends as if it had been aborted", async () => {
  const made = makeRun();
  const work = made.run.work();
  made.opened.resolve({ kind: "aborted" });
  deepStrictEqual(await work, { kind: "failed", message: "The run failed unexpectedly.", usage: undefined });
});

function makeRun() {
  const clock = createTestClock();
  const sessions = createScriptedSessions();
  const opened = Promise.withResolvers<Prepared>();
  const run = new ActiveRun({
    ...{
      taskId: sampleId(1),
      caller: alice,
      runId: "r" as RunId,
      scope: "s",
      sessions,
      clock,
      counters: new Counters(),
    },
    prepare: () => opened.promise,
    show: () => {},
    observe: () => {},
    onLimit: () => {},
    tools: { tools: {} as TurnRequest["tools"], question: undefined, files: 0 },
  });
  return { run, sessions, clock, opened };
}
