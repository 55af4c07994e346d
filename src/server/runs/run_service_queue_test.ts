import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { alice, bob, makeRuns, type RunFixture } from "@tests/fakes/run_service_fixture.ts";
import type { CallerName } from "@/protocol/ids.ts";
import type { Accepted } from "./submission.ts";

Deno.test("three run, 32 wait, the next is refused as queue full and leaves nothing [SM3 queue-full, §7 concurrent-runs]", async () => {
  await using made = await makeRuns();
  const accepted: Accepted[] = [];
  for (let n = 0; n < 35; n++) accepted.push(await made.send(`${n}`));
  const states = accepted.map(({ task }) => task.status.state);
  deepStrictEqual(states.map((state) => state === "TASK_STATE_WORKING"), states.map((_, n) => n < 3));
  const refused = await made.submit("one too many", { contextId: "c", parts: [{ raw: btoa("x"), filename: "x" }] });
  deepStrictEqual(refused, {
    ...{ kind: "refused", why: "queue full", text: "Too many messages wait already, retry later" },
    retryAfterMs: 30_000,
  });
  strictEqual(made.gate.tried.length, 35);
  deepStrictEqual(made.disk.log.filter((line) => !line.startsWith("list ")), []);
  const { "runs.running": running, "runs.queued": queued, "runs.refused.queueFull": full } = made.counters.snapshot();
  deepStrictEqual([running, queued, full], [3, 32, 1]);
  (await made.sessions.next()).answer("done");
  await accepted[0]!.settled();
  await made.clock.settle();
  accepted.push(await made.send("fits now", { contextId: "c" }));
  for (const one of accepted) one[Symbol.dispose]();
});

Deno.test("the queue serves a caller with ten and a caller with ten in turn, to the end [SM3 queued-slot, §7 fair-queue]", async () => {
  await using made = await makeRuns({ limits: { runsMax: 1 } });
  await made.send("now");
  await sendAll(made, alice, 10);
  await sendAll(made, bob, 10);
  const order: string[] = [];
  for (let n = 0; n < 21; n++) {
    const turn = await made.sessions.next();
    strictEqual(made.sessions.turns.filter(({ isOver }) => !isOver).length, 1);
    order.push(turn.request.text);
    turn.answer("done");
    await made.clock.settle();
  }
  const turns = Array.from({ length: 10 }, (_, n) => [`bob ${n}`, `alice ${n}`]).flat();
  deepStrictEqual(order, ["now", ...turns]);
});

Deno.test("one caller that fills the queue does not hold up another for more than a run", async () => {
  await using made = await makeRuns({ limits: { runsMax: 1, queuedMax: 100 } });
  await made.send("now");
  await sendAll(made, alice, 90);
  using late = await made.send("bob", { caller: bob });
  (await made.sessions.next()).answer("done");
  strictEqual((await made.sessions.next()).request.text, "bob");
  strictEqual(await made.state(late.task.id, bob), "working");
});

Deno.test("a caller's own limit keeps its runs waiting, and others pass", async () => {
  const callerRunsMax = (caller: CallerName) => caller === alice ? 1 : undefined;
  await using made = await makeRuns({ limits: { callerRunsMax } });
  await sendAll(made, alice, 3);
  using other = await made.send("bob", { caller: bob });
  await made.clock.settle();
  strictEqual(await made.state(other.task.id, bob), "working");
  deepStrictEqual(made.sessions.turns.map(({ request }) => request.text), ["alice 0", "bob"]);
  (await made.sessions.next()).answer("done");
  await made.clock.settle();
  deepStrictEqual(made.sessions.turns.at(-1)?.request.text, "alice 1");
});

Deno.test("the queue goes on after it was empty, and after a run that failed, threw or was canceled", async () => {
  await using made = await makeRuns({ limits: { runsMax: 1 } });
  const ends = [
    () => Promise.resolve(made.sessions.turns.at(-1)!.answer("done")),
    () => Promise.resolve(made.sessions.turns.at(-1)!.end({ kind: "failed", message: "no" })),
    () => Promise.resolve(made.sessions.turns.at(-1)!.break(new Error("bug"))),
    async (id: Accepted["task"]["id"]) => void await made.cancel(id),
  ];
  for (const [n, end] of ends.entries()) {
    using first = await made.send(`first ${n}`);
    using second = await made.send(`second ${n}`);
    await end(first.task.id);
    await made.clock.settle();
    strictEqual(await made.state(second.task.id), "working");
    made.sessions.turns.at(-1)!.answer("done");
    await second.settled();
    await made.clock.settle();
  }
});

Deno.test("a queued continuation keeps its place and runs with its answer", async () => {
  await using made = await makeRuns({ limits: { runsMax: 1 } });
  using asking = await made.send("asks");
  (await made.sessions.next()).ask("Which?");
  await asking.settled();
  await made.clock.settle();
  await made.send("other");
  using continued = await made.send("that", { taskId: asking.task.id });
  strictEqual(continued.task.status.state, "TASK_STATE_SUBMITTED");
  const busy = await made.submit("again", { taskId: asking.task.id });
  ok(busy.kind === "refused" && busy.why === "context busy");
  (await made.sessions.next()).answer("done");
  const turn = await made.sessions.next();
  strictEqual(turn.request.text, "that");
  strictEqual((await made.record(asking.task.id)).task.history?.length, 3);
});

Deno.test("a caller over its stored tasks is refused, and what it took is given back", async () => {
  await using made = await makeRuns({ storedTasksMax: 1, limits: { runsMax: 1 } });
  using first = await made.send("one");
  const refused = await made.submit("two", { contextId: "c", parts: [{ raw: btoa("x"), filename: "x.txt" }] });
  ok(refused.kind === "refused");
  deepStrictEqual([refused.why, refused.retryAfterMs], ["too many tasks", undefined]);
  deepStrictEqual([...Deno.readDirSync(`${made.paths.inbox}/alice`)], []);
  (await made.sessions.next()).answer("done");
  await first.settled();
  using second = await made.send("two", { contextId: "c" });
  strictEqual(await made.state(second.task.id), "working");
});

async function sendAll(made: RunFixture, caller: CallerName, count: number): Promise<void> {
  for (let n = 0; n < count; n++) (await made.send(`${caller} ${n}`, { caller }))[Symbol.dispose]();
}
