import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { alice, bob, briefEvent, briefly, makeRuns, statusText } from "@tests/fakes/run_service_fixture.ts";
import type { StreamJson } from "@/protocol/task.ts";

Deno.test("cancel commits, then aborts, and keeps the text so far [SM1 T10, §5.5 cancel-first]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  const { id } = accepted.task;
  const turn = await made.sessions.next();
  turn.say("half of ");
  await made.clock.settle();
  const held = made.gate.hold("canceled");
  const canceling = made.cancel(id);
  await held.reached;
  await made.clock.settle();
  strictEqual(turn.signal.aborted, false);
  held.release();
  const canceled = await canceling;
  ok(canceled.kind === "canceled");
  deepStrictEqual([canceled.task.status.state, canceled.task.artifacts?.[0]?.parts[0]?.text], [
    ...["TASK_STATE_CANCELED", "half of "],
  ]);
  strictEqual(turn.signal.aborted, true);
  deepStrictEqual(await briefly(accepted.events), ["task working", "response =half of ", "canceled"]);
});

Deno.test("cancel keeps the text as it is at its commit, not at its call [SM1 T10]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  const turn = await made.sessions.next();
  const held = made.gate.hold("working"); // a file's commit is in the mailbox before the cancel
  const written = await turn.request.tools.write!("a.txt", new Uint8Array(1));
  const sending = turn.request.tools.send!(written.path!);
  await held.reached;
  const canceling = made.cancel(accepted.task.id);
  turn.say("said meanwhile");
  await made.clock.settle();
  held.release();
  await sending;
  const canceled = await canceling;
  ok(canceled.kind === "canceled");
  deepStrictEqual(canceled.task.artifacts?.map(({ parts }) => parts[0]?.text), ["said meanwhile", undefined]);
});

Deno.test("cancel is idempotent: the second answers as the first [§5.5 cancel-idempotent]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  const { id } = accepted.task;
  const [first, second] = await Promise.all([made.cancel(id), made.cancel(id)]);
  deepStrictEqual(first, second);
  deepStrictEqual(await made.cancel(id), first);
  strictEqual((await made.record(id)).rev, 2);
});

Deno.test("cancel works on a task that waits, and closes its question [SM1 T10]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello", { contextId: "c" });
  (await made.sessions.next()).ask("Which?");
  await accepted.settled();
  strictEqual((await made.cancel(accepted.task.id)).kind, "canceled");
  using next = await made.send("new", { contextId: "c" });
  strictEqual(next.task.status.state, "TASK_STATE_WORKING");
});

Deno.test("cancel takes a queued run out: its context and its place are free at once [SM3 queued-cancel]", async () => {
  await using made = await makeRuns({ limits: { runsMax: 1, queuedMax: 1 } });
  using first = await made.send("one");
  using second = await made.send("two", { contextId: "c" });
  strictEqual((await made.submit("three")).kind, "refused");
  strictEqual((await made.cancel(second.task.id)).kind, "canceled");
  using third = await made.send("three", { contextId: "c" });
  (await made.sessions.next()).answer("1");
  await first.settled();
  strictEqual((await made.sessions.next()).request.text, "three");
  strictEqual(await made.state(third.task.id), "working");
  strictEqual(made.sessions.turns.length, 2);
});

Deno.test("cancel answers though the engine ignores its abort; after 5 s the session is killed [§5.5 cancel-in-a-second, SM2 draining-killed, SM3 stopping-killed]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello", { contextId: "c" });
  const turn = await made.sessions.next();
  turn.ignoreAbort();
  strictEqual((await made.cancel(accepted.task.id)).kind, "canceled");
  strictEqual((await accepted.settled()).status.state, "TASK_STATE_CANCELED");
  await made.clock.advance(4_999);
  deepStrictEqual(made.sessions.killed, []);
  await made.clock.advance(1);
  deepStrictEqual(made.sessions.killed, ["ws-a2a-alice_c"]);
  strictEqual(made.counters.snapshot()["runs.killed"], 1);
  using next = await made.send("new", { contextId: "c" });
  strictEqual(next.task.status.state, "TASK_STATE_WORKING");
});

Deno.test("a message to a context that is drained waits and then runs [SM2 draining-message, SM2 draining]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("one", { contextId: "c" });
  const turn = await made.sessions.next();
  turn.ignoreAbort();
  await made.cancel(accepted.task.id);
  let isAnswered = false;
  const sending = made.send("two", { contextId: "c" }).finally(() => isAnswered = true);
  await made.clock.advance(4_000);
  strictEqual(isAnswered, false);
  turn.end({ kind: "answered", text: "late", truncated: false });
  using second = await sending;
  strictEqual(second.task.status.state, "TASK_STATE_WORKING");
  strictEqual(await made.state(accepted.task.id), "canceled");
  deepStrictEqual(made.sessions.log, ["turn one", "over one", "turn two"]);
});

Deno.test("of three messages that wait for a drained context one runs, the others are busy", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("one", { contextId: "c" });
  const turn = await made.sessions.next();
  turn.ignoreAbort();
  await made.cancel(accepted.task.id);
  const sending = ["two", "three", "four"].map((text) => made.submit(text, { contextId: "c" }));
  await made.clock.advance(5_000);
  const answers = await Promise.all(sending);
  deepStrictEqual(answers.map((answer) => answer.kind === "refused" ? answer.why : "accepted").sort(), [
    ...["accepted", "context busy", "context busy"],
  ]);
  for (const answer of answers) if (answer.kind === "accepted") answer[Symbol.dispose]();
});

Deno.test("a drained run keeps its run slot until its engine has stopped", async () => {
  await using made = await makeRuns({ limits: { runsMax: 1 } });
  using accepted = await made.send("one");
  (await made.sessions.next()).ignoreAbort();
  await made.cancel(accepted.task.id);
  using second = await made.send("two");
  strictEqual(second.task.status.state, "TASK_STATE_SUBMITTED");
  await made.clock.advance(5_000);
  strictEqual(await made.state(second.task.id), "working");
});

Deno.test("what a run says and sends after its task is over is dropped [§5.5 terminal-final, SM3 turning abort]", async () => {
  const observed: string[] = [];
  await using made = await makeRuns({ service: { observe: (_, event) => observed.push(event.kind) } });
  using accepted = await made.send("hello");
  const { id } = accepted.task;
  const turn = await made.sessions.next();
  turn.ignoreAbort();
  const written = await turn.request.tools.write!("a.txt", new Uint8Array(3));
  await made.cancel(id);
  const over = await made.record(id);
  turn.say("late");
  turn.emit({ kind: "usage", inputTokens: 9, outputTokens: 9 });
  deepStrictEqual(await turn.request.tools.send!(written.path!), { kind: "refused", why: "the task is over" });
  turn.ask("Late?");
  await made.clock.settle();
  deepStrictEqual(await made.record(id), over);
  deepStrictEqual(observed, []);
  deepStrictEqual(await briefly(accepted.events), ["task working", "canceled"]);
});

Deno.test("a late answer never lands on the next task of its context [case 35]", async () => {
  await using made = await makeRuns();
  using first = await made.send("one", { contextId: "c" });
  const late = await made.sessions.next();
  late.ignoreAbort();
  await made.cancel(first.task.id);
  await made.clock.advance(5_000);
  using second = await made.send("two", { contextId: "c" });
  late.say("late ");
  late.answer("late");
  await made.clock.settle();
  strictEqual(await made.state(second.task.id), "working");
  (await made.sessions.next()).answer("2");
  deepStrictEqual(await briefly(second.events), ["task working", "response =2", "response +.", "completed"]);
});

Deno.test("leaving a stream never ends a run; a new subscriber gets the task and the rest [case 34, §5.5 leaving-does-not-cancel]", async () => {
  await using made = await makeRuns();
  const accepted = await made.send("hello");
  const { id } = accepted.task;
  const turn = await made.sessions.next();
  turn.say("one ");
  await made.clock.settle();
  for await (const event of accepted.events) if (briefEvent(event) === "response =one ") break;
  accepted[Symbol.dispose]();
  const leave = new AbortController();
  const gone = await made.follow(id, alice, leave.signal);
  leave.abort();
  deepStrictEqual((await briefly(gone)).length <= 1, true);
  const events = await made.follow(id);
  turn.answer("two");
  turn.end({ kind: "answered", text: "one two", truncated: false });
  const seen = await briefly(events);
  deepStrictEqual([seen[0], seen.at(-1)], ["task working", "completed"]);
  strictEqual(turn.signal.aborted, false);
});

Deno.test("a disposed acceptance follows no more, whether it was read or not [case 34]", async () => {
  await using made = await makeRuns();
  const accepted = await made.send("hello");
  const reading: StreamJson[] = [];
  const reader = (async () => {
    for await (const event of accepted.events) reading.push(event);
  })();
  await made.clock.settle();
  accepted[Symbol.dispose]();
  await reader;
  deepStrictEqual(reading.map(briefEvent), ["task working"]);
});

Deno.test("a run over its time is failed with a message that says so, then aborted [SM1 T9, §7 run-timeout, SM2 running-cut]", async () => {
  await using made = await makeRuns({ limits: { runMs: 600_000 } });
  using accepted = await made.send("hello", { contextId: "c" });
  const turn = await made.sessions.next();
  turn.ignoreAbort();
  await made.clock.advance(600_000 - 1);
  strictEqual(await made.state(accepted.task.id), "working");
  await made.clock.advance(1);
  const task = await accepted.settled();
  deepStrictEqual([task.status.state, statusText(task)], ["TASK_STATE_FAILED", "stopped after 10 min"]);
  strictEqual(turn.signal.aborted, true);
  await made.clock.advance(5_000);
  strictEqual(made.sessions.killed.length, 1);
  using next = await made.send("new", { contextId: "c" });
  strictEqual(next.task.status.state, "TASK_STATE_WORKING");
});

Deno.test("each run of a task has its own time, and without a limit none [§7 zero-is-none]", async () => {
  await using made = await makeRuns({ limits: { runMs: 60_000 } });
  using accepted = await made.send("hello");
  await made.clock.advance(40_000);
  (await made.sessions.next()).ask("Which?");
  await accepted.settled();
  await made.clock.advance(40_000);
  using continued = await made.send("that", { taskId: accepted.task.id });
  await made.clock.advance(40_000);
  strictEqual(await made.state(continued.task.id), "working");
  await made.clock.advance(20_000);
  strictEqual(statusText((await made.record(continued.task.id)).task), "stopped after 1 min");

  await using endless = await makeRuns({ limits: { runMs: Infinity } });
  using run = await endless.send("hello");
  strictEqual((await endless.record(run.task.id)).run?.deadline, null);
  await endless.clock.advance(600_000);
  strictEqual(await endless.state(run.task.id), "working");
});

Deno.test("a run that waited in the store for a full disk at its end is not failed by its deadline [case 36]", async () => {
  await using made = await makeRuns({ limits: { runMs: 60_000 } });
  using accepted = await made.send("hello");
  await made.clock.advance(59_000);
  made.gate.isFull = true;
  (await made.sessions.next()).answer("in time");
  await made.clock.advance(7_000); // a deadline that came at 60 s would be tried before the end is tried again
  made.gate.isFull = false;
  await made.clock.advance(30_000);
  strictEqual((await accepted.settled()).status.state, "TASK_STATE_COMPLETED");
});

Deno.test("expel cancels all that a removed caller has and nothing of others [SM1 T15]", async () => {
  await using made = await makeRuns({ limits: { runsMax: 3 } });
  using asking = await made.send("asks", { contextId: "c1" });
  (await made.sessions.next()).ask("Which?");
  await asking.settled();
  using other = await made.send("bob's", { caller: bob });
  using working = await made.send("works");
  using also = await made.send("works too", { push: { id: "p", url: "https://hooks.example/", token: "secret" } });
  using queued = await made.send("waits");
  const following = briefly(await made.follow(asking.task.id));
  await made.runs.expel(alice);
  for (const { task } of [asking, working, also, queued]) {
    const { task: now, pushes } = await made.record(task.id);
    deepStrictEqual([now.status.state, statusText(now)], ["TASK_STATE_CANCELED", "access ended"]);
    for (const push of pushes) deepStrictEqual([push.state, push.target.token], ["gone", undefined]);
  }
  deepStrictEqual((await following).at(-1), "canceled");
  await made.clock.settle();
  strictEqual(await made.state(other.task.id, bob), "working");
  const turns = made.sessions.turns.filter(({ request }) => request.caller === "alice");
  deepStrictEqual(turns.map(({ isOver }) => isOver), [true, true, true]);
  strictEqual(made.counters.snapshot()["runs.running"], 1);
});
