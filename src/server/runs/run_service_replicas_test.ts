import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { alice, briefEvent, briefly, makeRuns, statusText } from "@tests/fakes/run_service_fixture.ts";
import type { StreamJson } from "@/protocol/task.ts";

Deno.test("a context at work in one host is busy in the other, and free there once it ended [§5.4 busy]", async () => {
  await using one = await makeRuns();
  const two = one.newHost();
  using first = await one.send("one", { contextId: "c" });
  const busy = await two.submit("two", { contextId: "c" });
  strictEqual(busy.kind === "refused" && busy.why, "context busy");
  (await one.sessions.next()).answer("done");
  await first.settled();
  using second = await two.send("two", { contextId: "c" });
  strictEqual((await two.sessions.next()).request.taskId, second.task.id);
});

Deno.test("a question that one host asked is answered through the other, in the same step as it is seen [§5.4 instant-answer]", async () => {
  await using one = await makeRuns();
  const two = one.newHost();
  using accepted = await one.send("hello");
  const { id } = accepted.task;
  (await one.sessions.next()).ask("Which?");
  for await (const event of await two.follow(id)) {
    if (briefEvent(event) !== "input-required") continue;
    using answer = await two.send("that", { taskId: id });
    (await two.sessions.next()).answer("done");
    strictEqual((await answer.settled()).status.state, "TASK_STATE_COMPLETED");
  }
  const late = await one.submit("this", { taskId: id });
  strictEqual(late.kind === "refused" && late.why, "terminal");
});

Deno.test("two answers in two hosts: one runs, the other leaves no trace [SM1 race two-continuations]", async () => {
  await using one = await makeRuns();
  const two = one.newHost();
  using accepted = await one.send("hello");
  const { id } = accepted.task;
  (await one.sessions.next()).ask("Which?");
  await accepted.settled();
  const held = one.gate.hold("working");
  const first = one.submit("first", { taskId: id });
  await held.reached;
  const second = two.submit("second", { taskId: id });
  await one.clock.settle();
  held.release();
  await one.clock.advance(250); // the other looks again
  const [answer, refused] = [await first, await second];
  strictEqual(answer.kind, "accepted");
  strictEqual(refused.kind === "refused" && refused.why, "context busy");
  strictEqual((await one.record(id)).task.history?.length, 3);
  strictEqual(two.sessions.turns.length, 0);
  if (answer.kind === "accepted") answer[Symbol.dispose]();
});

Deno.test("a cancel through one host stops the run in the other; its context drains there [SM1 T10]", async () => {
  await using one = await makeRuns();
  const two = one.newHost();
  using accepted = await one.send("hello", { contextId: "c" });
  const turn = await one.sessions.next();
  turn.ignoreAbort();
  strictEqual((await two.cancel(accepted.task.id)).kind, "canceled");
  await one.clock.settle();
  strictEqual(turn.signal.aborted, true);
  const waiting = two.send("next", { contextId: "c" });
  await one.clock.advance(4_000);
  strictEqual(two.sessions.turns.length, 0);
  await one.clock.advance(1_250);
  using next = await waiting;
  strictEqual(next.task.status.state, "TASK_STATE_WORKING");
  deepStrictEqual(one.sessions.killed, ["ws-a2a-alice_c"]);
});

Deno.test("a cancel through one host takes a run out of the other's queue, context and place [SM3 queued-cancel]", async () => {
  await using one = await makeRuns({ limits: { runsMax: 1, queuedMax: 1 } });
  const two = one.newHost();
  using first = await one.send("one");
  using second = await one.send("two", { contextId: "c" });
  strictEqual((await two.cancel(second.task.id)).kind, "canceled");
  await one.clock.settle();
  using third = await one.send("three", { contextId: "c" });
  strictEqual(third.task.status.state, "TASK_STATE_SUBMITTED");
  (await one.sessions.next()).answer("done");
  await first.settled();
  strictEqual((await one.sessions.next()).request.text, "three");
});

Deno.test("a cancel through one host between the other's commit and its run leaves context and place free there", async () => {
  for (const runsMax of [1, 0]) {
    await using one = await makeRuns({ limits: { runsMax, queuedMax: 1 } });
    const two = one.newHost();
    const held = one.gate.hold();
    const sending = one.send("hello", { contextId: "c" });
    const { task } = await held.reached;
    one.view.block();
    held.release();
    await one.clock.settle();
    strictEqual((await two.cancel(task.id)).kind, "canceled");
    one.view.unblock();
    using accepted = await sending;
    strictEqual(accepted.task.status.state, "TASK_STATE_CANCELED");
    using next = await one.send("next", { contextId: "c" });
    strictEqual(await one.state(next.task.id), runsMax === 1 ? "working" : "submitted");
    strictEqual(one.sessions.turns.length, runsMax);
  }
});

Deno.test("each host runs its own queue, not the other's", async () => {
  await using one = await makeRuns({ limits: { runsMax: 1 } });
  const two = one.newHost();
  using first = await one.send("one");
  using queued = await one.send("two");
  using other = await two.send("three");
  (await two.sessions.next()).answer("done");
  await other.settled();
  await one.clock.settle();
  strictEqual(await one.state(queued.task.id), "submitted");
  (await one.sessions.next()).answer("done");
  await first.settled();
  strictEqual((await one.sessions.next()).request.text, "two");
  strictEqual(two.sessions.turns.length, 1);
});

Deno.test("two sends with one dedupe key in two hosts are one task, and one body [SM1 race dedupe]", async () => {
  await using one = await makeRuns();
  const two = one.newHost();
  const held = one.gate.hold("working");
  const sent = { messageId: "m", dedupe: "h" };
  const sending = one.send("hello", sent);
  await held.reached;
  using second = await two.send("hello", sent); // the first to be durable
  held.release();
  using first = await sending;
  strictEqual(first.task.id, second.task.id);
  await one.clock.settle();
  deepStrictEqual([one.sessions.turns.length, two.sessions.turns.length], [0, 1]);
  const other = await one.submit("goodbye", { messageId: "m", dedupe: "other" });
  strictEqual(other.kind === "refused" && other.why, "id reused");
});

Deno.test("who follows in one host sees what the other commits and shows, in order [§5.5 in-order-once]", async () => {
  await using one = await makeRuns();
  const two = one.newHost();
  using accepted = await one.send("hello");
  const { id } = accepted.task;
  const seen: StreamJson[] = [];
  const reading = (async () => {
    for await (const event of await two.follow(id)) seen.push(event);
  })();
  const turn = await one.sessions.next();
  for (const text of ["1 ", "2 "]) {
    turn.say(text);
    await one.clock.settle();
  }
  const { path } = await turn.request.tools.write!("a.txt", new Uint8Array(1));
  await turn.request.tools.send!(path!);
  turn.ask("Which?", "1 2 ");
  await one.clock.settle();
  using continued = await two.send("that", { taskId: id });
  (await two.sessions.next()).answer("done");
  await continued.settled();
  await reading;
  deepStrictEqual(seen.map(briefEvent), [
    ...["task working", "response =1 ", "response +2 ", "file a.txt", "response +.", "input-required"],
    ...["working", "response =done", "response +.", "completed"],
  ]);
});

Deno.test("a host that dies is swept by the other after its leases ran out, and not before [SM1 T13, SM1 T14]", async () => {
  await using one = await makeRuns({ limits: { runsMax: 1 } });
  const two = one.newHost();
  using working = await one.send("works");
  using queued = await one.send("waits");
  one.view.block();
  await one.clock.advance(59_000);
  await two.runs.sweep();
  deepStrictEqual([await one.state(working.task.id), await one.state(queued.task.id)], ["working", "submitted"]);
  await one.clock.advance(2_000);
  await two.runs.sweep();
  strictEqual(statusText((await one.record(working.task.id)).task), "server restarted");
  strictEqual((await two.sessions.next()).request.text, "waits");
});

Deno.test("what a host that was given up says late is fenced: its run stops and commits nothing", async () => {
  await using one = await makeRuns();
  const two = one.newHost();
  using accepted = await one.send("hello", { contextId: "c" });
  const turn = await one.sessions.next();
  turn.ignoreAbort();
  one.view.block();
  turn.answer("late");
  await one.clock.advance(61_000);
  await two.runs.sweep();
  using next = await two.send("next", { contextId: "c" });
  const failed = await one.record(accepted.task.id);
  one.view.unblock();
  await one.clock.advance(20_000);
  strictEqual(await one.record(accepted.task.id), failed);
  strictEqual(statusText(failed.task), "server restarted");
  strictEqual(await one.state(next.task.id), "working");
  (await two.sessions.next()).answer("done");
  strictEqual((await next.settled()).status.state, "TASK_STATE_COMPLETED");
  using again = await one.send("again", { contextId: "c" });
  strictEqual(again.task.status.state, "TASK_STATE_WORKING");
});

Deno.test("a host that lost its lease aborts the turn at the next renewal, and the context is not stuck", async () => {
  await using one = await makeRuns();
  const two = one.newHost();
  using accepted = await one.send("hello", { contextId: "c" });
  const turn = await one.sessions.next();
  one.view.block();
  await one.clock.advance(61_000);
  await two.runs.sweep();
  using taken = await two.send("next", { contextId: "c" });
  (await two.sessions.next()).ask("Which?");
  await taken.settled();
  strictEqual(turn.signal.aborted, false);
  one.view.unblock();
  await one.clock.advance(20_000);
  strictEqual(turn.signal.aborted, true);
  strictEqual(await one.state(accepted.task.id), "failed");
  using answered = await one.send("that", { taskId: taken.task.id });
  strictEqual(answered.task.status.state, "TASK_STATE_WORKING");
});

Deno.test("a context that the other host took before anyone swept is lost: run and queued run stop here, and no more", async () => {
  await using one = await makeRuns({ limits: { runsMax: 1, queuedMax: 1 } });
  const two = one.newHost({ limits: { ...one.limits, runsMax: 2 } });
  using working = await one.send("works", { contextId: "c1" });
  using queued = await one.send("waits", { contextId: "c2" });
  const turn = await one.sessions.next();
  await one.clock.advance(30_000); // leases were renewed at 20 s, the next sweeps are at 60 and 120 s
  one.view.block();
  await one.clock.advance(51_000);
  using first = await two.send("takes it", { contextId: "c1" });
  using second = await two.send("takes it too", { contextId: "c2" });
  deepStrictEqual([await one.state(working.task.id), await one.state(queued.task.id)], ["working", "submitted"]);
  one.view.unblock();
  await one.clock.settle();
  strictEqual(turn.signal.aborted, true);
  deepStrictEqual([await one.state(working.task.id), await one.state(queued.task.id)], ["working", "submitted"]);
  using elsewhere = await one.send("has slot and place", { contextId: "c3" });
  strictEqual(elsewhere.task.status.state, "TASK_STATE_WORKING");
  for (const begun of two.sessions.turns) begun.answer("done");
  await Promise.all([first.settled(), second.settled()]);
  await one.clock.advance(60_000);
  strictEqual(statusText((await one.record(working.task.id)).task), "server restarted");
  strictEqual((await one.record(queued.task.id)).run?.attempt, 2);
});

Deno.test("a continuation whose context is lost while it is stored is refused, and leaves no trace", async () => {
  await using one = await makeRuns();
  const two = one.newHost();
  using accepted = await one.send("hello", { contextId: "c" });
  const { id } = accepted.task;
  (await one.sessions.next()).ask("Which?");
  await accepted.settled();
  const held = one.gate.hold("working");
  const continuing = one.submit("that", { taskId: id });
  await held.reached;
  one.view.block();
  await one.clock.advance(61_000);
  using other = await two.send("other", { contextId: "c" });
  held.release();
  one.view.unblock();
  const refused = await continuing;
  strictEqual(refused.kind === "refused" && refused.why, "context busy");
  deepStrictEqual([await one.state(id), (await one.record(id)).task.history?.length], ["input-required", 1]);
  strictEqual(await one.state(other.task.id), "working");
  strictEqual(one.sessions.turns.length, 1);
});

Deno.test("a queued run that the other host took over leaves the queue and the context here", async () => {
  await using one = await makeRuns({ limits: { runsMax: 1, queuedMax: 1 } });
  const two = one.newHost();
  using working = await one.send("works");
  using queued = await one.send("waits", { contextId: "c" });
  one.view.block();
  await one.clock.advance(61_000);
  await two.runs.sweep();
  const turn = await two.sessions.next();
  strictEqual(turn.request.text, "waits");
  one.view.unblock();
  await one.clock.advance(20_000);
  turn.answer("done");
  await one.clock.settle();
  strictEqual(await one.state(queued.task.id), "completed");
  strictEqual(await one.state(working.task.id), "failed");
  strictEqual(one.sessions.turns.length, 1);
  using first = await one.send("new", { contextId: "c" });
  using second = await one.send("another");
  deepStrictEqual([first.task.status.state, second.task.status.state], ["TASK_STATE_WORKING", "TASK_STATE_SUBMITTED"]);
});

Deno.test("a host that was suspended and not given up goes on as if nothing had been", async () => {
  await using one = await makeRuns();
  using accepted = await one.send("hello");
  one.view.block();
  await one.clock.advance(300_000);
  one.view.unblock();
  await one.clock.advance(60_000);
  (await one.sessions.next()).answer("done");
  strictEqual((await accepted.settled()).status.state, "TASK_STATE_COMPLETED");
});

Deno.test("of two hosts that sweep one lost task both leave it settled once", async () => {
  await using one = await makeRuns({ limits: { runsMax: 1 } });
  const [two, three] = [one.newHost(), one.newHost()];
  using working = await one.send("works");
  using queued = await one.send("waits");
  one.view.block();
  await one.clock.advance(59_999);
  await Promise.all([one.clock.advance(2_000), two.runs.sweep(), three.runs.sweep()]);
  await Promise.all([two.runs.sweep(), three.runs.sweep()]);
  strictEqual((await one.record(working.task.id)).rev, 2);
  strictEqual((await one.record(queued.task.id)).run?.attempt, 2);
  deepStrictEqual(two.sessions.turns.length + three.sessions.turns.length, 1);
});

Deno.test("an acceptance and its events begin at one instant though the other host commits meanwhile", async () => {
  for (let steps = 0; steps < 10; steps++) {
    await using one = await makeRuns();
    const two = one.newHost();
    using accepted = await one.send("hello", { messageId: "m", dedupe: "h" });
    const canceling = two.cancel(accepted.task.id);
    for (let step = 0; step < steps; step++) await Promise.resolve();
    using again = await one.send("hello", { messageId: "m", dedupe: "h" });
    const events = await briefly(again.events);
    const { state } = again.task.status;
    ok(events[0] === (state === "TASK_STATE_CANCELED" ? "task canceled" : "task working"), `${state}: ${events}`);
    strictEqual(events.at(-1)?.replace("task ", ""), "canceled");
    strictEqual((await canceling).kind, "canceled");
    strictEqual((await one.record(accepted.task.id, alice)).rev, 2);
  }
});
