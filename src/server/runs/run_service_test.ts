import { deepStrictEqual, match, notStrictEqual, ok, strictEqual } from "node:assert/strict";
import {
  alice,
  allOf,
  bob,
  briefEvent,
  briefly,
  makeRuns,
  type RunFixture,
  statusText,
} from "@tests/fakes/run_service_fixture.ts";
import { contentCharsMax } from "@/server/tasks/record_json.ts";
import { sampleId } from "@tests/fakes/sample_tasks.ts";
import type { TaskId } from "@/protocol/ids.ts";
import { isSettled, type StreamJson } from "@/protocol/task.ts";
import type { TurnOutcome } from "@/engine/engine.ts";

Deno.test("submit() starts a run at once when a slot is free, in one commit [SM1 T1w, SM2 free-new, §5.4 constant-scope, §5.4 one-session-a-context]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  strictEqual(accepted.task.status.state, "TASK_STATE_WORKING");
  const record = await made.record(accepted.task.id);
  deepStrictEqual(record.statusLog.map(({ status }) => status.state), ["TASK_STATE_WORKING"]);
  deepStrictEqual([record.rev, record.run?.attempt], [1, 1]);
  strictEqual(record.run!.deadline! - record.run!.startedAt!, 24 * 3_600_000);
  deepStrictEqual(made.gate.tried, ["working 1"]);
  const { request } = await made.sessions.next();
  strictEqual(request.scope, `ws-a2a-alice_${accepted.task.contextId}`);
  deepStrictEqual([request.trust, request.from, request.caller, request.taskId, request.text], [
    ...["isolated", "caller", "alice", accepted.task.id, "hello"],
  ]);
});

Deno.test("submit() queues a run when no slot is free; it begins when one is [SM1 T1, SM1 T2]", async () => {
  await using made = await makeRuns({ limits: { runsMax: 1 } });
  using first = await made.send("one");
  using second = await made.send("two");
  strictEqual(second.task.status.state, "TASK_STATE_SUBMITTED");
  const queued = (await made.record(second.task.id)).run!;
  deepStrictEqual([queued.startedAt, queued.deadline], [null, null]);
  await made.clock.advance(5_000);
  (await made.sessions.next()).answer("1");
  const turn = await made.sessions.next();
  strictEqual(turn.request.text, "two");
  const begun = (await made.record(second.task.id)).run!;
  strictEqual(begun.startedAt! - queued.queuedAt, 5_000);
  strictEqual(begun.deadline! - begun.startedAt!, 24 * 3_600_000);
  turn.answer("2");
  deepStrictEqual(await briefly(second.events), [
    ...["task submitted", "working", "response =2", "response +.", "completed"],
  ]);
  strictEqual((await first.settled()).status.state, "TASK_STATE_COMPLETED");
});

Deno.test("submit() gives the hop limit as a failed task, runs nothing and keeps no bytes [SM1 T1h]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello", { hops: 9, parts: [{ raw: btoa("x"), filename: "a.txt" }] });
  match(statusText(accepted.task)!, /^hop limit/);
  deepStrictEqual(await briefly(accepted.events), ["task failed"]);
  const record = await made.record(accepted.task.id);
  strictEqual(record.run, null);
  ok(!JSON.stringify(record).includes(btoa("x")));
  const changes = made.disk.log.filter((line) => !line.startsWith("list "));
  deepStrictEqual([made.sessions.turns.length, changes.length], [0, 0]);
  using other = await made.send("hello", { hops: 8 });
  strictEqual(other.task.status.state, "TASK_STATE_WORKING");
});

Deno.test("a run shows text at once and stores it with its end [SM1 T3, SM1 T6, §5.5 partial-text]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  const turn = await made.sessions.next();
  turn.say("one ", "two");
  await made.clock.settle();
  const { events } = accepted;
  deepStrictEqual([briefEvent(await next(events)), briefEvent(await next(events))], [
    "task working",
    "response =one two",
  ]);
  strictEqual((await made.record(accepted.task.id)).task.artifacts, undefined);
  strictEqual(made.gate.tried.length, 1);
  turn.say(" three");
  strictEqual(briefEvent(await next(events)), "response + three");
  turn.end({ kind: "answered", text: "one two three", truncated: false });
  deepStrictEqual(await briefly(events), ["response +.", "completed"]);
  const { task, run } = await made.record(accepted.task.id);
  deepStrictEqual(task.artifacts?.[0]?.parts, [{ text: "one two three" }]);
  strictEqual(run, null);
});

Deno.test("each new message of the assistant starts anew and the last stands [§5.5 new-message-replaces, §5.5 last-chunk]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  const turn = await made.sessions.next();
  const seen: StreamJson[] = [];
  const reading = (async () => {
    for await (const event of accepted.events) seen.push(event);
  })();
  for (const text of ["draft ", "more"]) {
    turn.say(text);
    await made.clock.settle();
  }
  turn.emit({ kind: "message" });
  turn.say("final ");
  await made.clock.settle();
  turn.say("word");
  await made.clock.settle();
  turn.end({ kind: "answered", text: "final word", truncated: false });
  await reading;
  deepStrictEqual(seen.map(briefEvent), [
    ...["task working", "response =draft ", "response +more", "response =final ", "response +word", "response +."],
    "completed",
  ]);
  deepStrictEqual((await made.record(accepted.task.id)).task.artifacts?.[0]?.parts, [{ text: "final word" }]);
});

Deno.test("notices, reasoning and tools are never the answer, and the owner sees them [case 37]", async () => {
  const seen: string[] = [];
  await using made = await makeRuns({ service: { observe: (_, event) => seen.push(event.kind) } });
  using accepted = await made.send("hello");
  const turn = await made.sessions.next();
  turn.emit({ kind: "aside", of: "notice", text: "status" });
  turn.emit({ kind: "aside", of: "reasoning", text: "hm" });
  turn.emit({ kind: "tool", name: "t", phase: "start", summary: "s" });
  await made.clock.advance(60_000);
  turn.emit({ kind: "tool", name: "t", phase: "end", summary: "s" });
  turn.emit({ kind: "usage", inputTokens: 7, outputTokens: 2 });
  turn.emit({ kind: "usage", inputTokens: 1, outputTokens: 1 });
  strictEqual(await made.state(accepted.task.id), "working");
  turn.end({ kind: "answered", text: "answer", truncated: false });
  deepStrictEqual(await briefly(accepted.events), ["task working", "response =answer", "response +.", "completed"]);
  deepStrictEqual(seen, ["aside", "aside", "tool", "tool", "usage", "usage"]);
  deepStrictEqual((await made.record(accepted.task.id)).usage, { inputTokens: 8, outputTokens: 3 });
});

Deno.test("a question parks the task, the answer continues it with both in the history [SM1 T5, SM1 T11, SM2 parked-answer]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("paint it", { messageId: "first" });
  const { id, contextId } = accepted.task;
  (await made.sessions.next()).ask("Which colour?", "I can.");
  deepStrictEqual(await briefly(accepted.events), [
    "task working",
    "response =I can.",
    "response +.",
    "input-required",
  ]);
  strictEqual(statusText((await made.record(id)).task), "Which colour?");
  using continued = await made.send("red", { taskId: id, messageId: "second" });
  deepStrictEqual([continued.task.id, continued.task.contextId], [id, contextId]);
  const turn = await made.sessions.next();
  strictEqual(turn.request.text, "red");
  turn.answer("Done in red");
  deepStrictEqual(await briefly(continued.events), [
    ...["task working", "response =Done in red", "response +.", "completed"],
  ]);
  const { history, artifacts } = (await made.record(id)).task;
  deepStrictEqual(history?.map(({ role, parts, messageId }) => [role, parts[0]?.text, messageId]), [
    ["ROLE_USER", "paint it", "first"],
    ["ROLE_AGENT", "Which colour?", history?.[1]?.messageId],
    ["ROLE_USER", "red", "second"],
  ]);
  deepStrictEqual(artifacts?.map(({ parts }) => parts[0]?.text), ["Done in red"]);
});

Deno.test("a question through requestInput counts though the engine ended as if it had answered", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  const turn = await made.sessions.next();
  turn.request.tools.requestInput!("Which?");
  turn.answer("I asked");
  deepStrictEqual((await briefly(accepted.events)).at(-1), "input-required");
  strictEqual(statusText((await made.record(accepted.task.id)).task), "Which?");
});

const ends: readonly { readonly name: string; readonly outcome?: TurnOutcome; readonly error?: Error; says: string }[] =
  [
    {
      name: "answers with nothing [SM1 T7, §5.5 nothing-is-failed]",
      outcome: { kind: "answered", text: "", truncated: false },
      says: "no usable reply was produced",
    },
    { name: "fails [SM1 T8]", outcome: { kind: "failed", message: "The model said no." }, says: "The model said no." },
    { name: "throws [SM3 turning-breaks, case 35]", error: new Error("secret"), says: "The run failed unexpectedly." },
    { name: "stops without an end [case 35]", says: "The run failed unexpectedly." },
    { name: "says aborted unasked [case 35]", outcome: { kind: "aborted" }, says: "The run failed unexpectedly." },
  ];

for (const { name, outcome, error, says } of ends) {
  Deno.test(`a run fails its task, and frees the context, when its engine ${name}`, async () => {
    await using made = await makeRuns();
    using accepted = await made.send("hello", { contextId: "c" });
    const turn = await made.sessions.next();
    if (outcome !== undefined) turn.end(outcome);
    else turn.break(error);
    const task = await accepted.settled();
    deepStrictEqual([task.status.state, statusText(task)], ["TASK_STATE_FAILED", says]);
    using next = await made.send("again", { contextId: "c" });
    strictEqual(next.task.status.state, "TASK_STATE_WORKING");
  });
}

Deno.test("a reply over 4 MiB fails its run at once, streamed or not [SM3 turning-limits]", async () => {
  await using made = await makeRuns();
  for (const isStreamed of [true, false]) {
    using accepted = await made.send("hello");
    const turn = await made.sessions.next();
    const mebibyte = "x".repeat(1024 * 1024);
    if (isStreamed) turn.say(mebibyte, mebibyte, mebibyte, mebibyte, "!", "more");
    else turn.end({ kind: "answered", text: `${mebibyte.repeat(4)}!`, truncated: false });
    const task = await accepted.settled();
    strictEqual(statusText(task), "The reply is over the limit of 4194304 characters");
    await made.clock.settle();
    strictEqual(turn.isOver, true);
  }
  using fits = await made.send("hello");
  (await made.sessions.next()).answer("x".repeat(contentCharsMax - 2048)); // the record holds more than the reply
  strictEqual((await fits.settled()).status.state, "TASK_STATE_COMPLETED");
});

Deno.test("a reply cut by length is completed and marked [§5.5 truncated]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  (await made.sessions.next()).end({ kind: "answered", text: "cut", truncated: true });
  const task = await accepted.settled();
  deepStrictEqual([task.status.state, task.metadata], ["TASK_STATE_COMPLETED", { "volcanic.truncated": true }]);
});

Deno.test("files that a run sends are stored, then shown, and are enough of an answer [SM1 T4]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  const turn = await made.sessions.next();
  const written = await turn.request.tools.write!("a.txt", new TextEncoder().encode("AAA"));
  deepStrictEqual(await turn.request.tools.send!(written.path!), { kind: "done" });
  strictEqual((await made.record(accepted.task.id)).task.artifacts?.length, 1);
  turn.end({ kind: "answered", text: "", truncated: false });
  deepStrictEqual(await briefly(accepted.events), ["task working", "file a.txt", "completed"]);
});

Deno.test("files that a caller brings are in its inbox before the run, one over the limit fails it [DM11 size-limit]", async () => {
  await using made = await makeRuns({ limits: { fileBytesMax: 5 } });
  using accepted = await made.send("", { parts: [{ text: "see" }, { raw: btoa("12345"), filename: "a.txt" }] });
  const { id } = accepted.task;
  const { request } = await made.sessions.next();
  const path = `inbox/alice/${id}/a.txt`;
  deepStrictEqual(request.files, [{ path, mediaType: "text/plain", bytes: 5 }]);
  strictEqual(await Deno.readTextFile(`${made.paths.root}/${path}`), "12345");
  ok(!JSON.stringify(await made.record(id)).includes(btoa("12345")));
  using large = await made.send("", { parts: [{ raw: btoa("123456"), filename: "b.txt" }] });
  const task = await large.settled();
  deepStrictEqual([task.status.state, statusText(task)], [
    ...["TASK_STATE_FAILED", 'file "b.txt" has 6 bytes, the limit is 5'],
  ]);
});

Deno.test("a message that names a task that is unknown or another's finds none [SM1 message-to-unknown, case 39]", async () => {
  await using made = await makeRuns();
  const id = await parked(made);
  const unknown = await made.submit("x", { taskId: sampleId(99) });
  const foreign = await made.submit("x", { taskId: id, caller: bob });
  deepStrictEqual(unknown, foreign);
  deepStrictEqual(unknown.kind === "refused" && unknown.why, "not found");
  strictEqual((await made.runs.cancel(id, bob)).kind, "refused");
  strictEqual((await made.runs.follow(id, bob, new AbortController().signal)).kind, "refused");
  strictEqual(await made.state(id), "input-required");
});

Deno.test("a message with another contextId than its task's is refused; none is inferred [case 39]", async () => {
  await using made = await makeRuns();
  const id = await parked(made, "c1");
  const other = await made.submit("x", { taskId: id, contextId: "c2" });
  strictEqual(other.kind === "refused" && other.why, "wrong context");
  strictEqual((await made.record(id)).task.history?.length, 1);
  using continued = await made.send("x", { taskId: id });
  strictEqual(continued.task.contextId, "c1");
});

Deno.test("a new task in a context is clean: no artifacts or history of the one before [case 39]", async () => {
  await using made = await makeRuns();
  using first = await made.send("one", { contextId: "c" });
  (await made.sessions.next()).answer("1");
  await first.settled();
  using second = await made.send("two", { contextId: "c" });
  notStrictEqual(second.task.id, first.task.id);
  deepStrictEqual([second.task.artifacts, second.task.history?.length], [undefined, 1]);
});

Deno.test("a message to a task at work is busy, to a finished one is told so [SM1 message-to-busy, SM1 message-to-terminal]", async () => {
  await using made = await makeRuns({ limits: { runsMax: 1 } });
  using working = await made.send("one");
  using queued = await made.send("two");
  for (const { task } of [working, queued]) {
    const refused = await made.submit("x", { taskId: task.id });
    strictEqual(refused.kind === "refused" && refused.text, "context busy, retry when the current task ends");
    strictEqual((await made.record(task.id)).task.history?.length, 1);
  }
  (await made.sessions.next()).answer("1");
  await working.settled();
  const refused = await made.submit("x", { taskId: working.task.id });
  strictEqual(refused.kind === "refused" && refused.why, "terminal");
});

Deno.test("a second message to a context at work is refused, naming nothing of the other task [SM2 running-message, §5.4 busy]", async () => {
  await using made = await makeRuns();
  using first = await made.send("one", { contextId: "c" });
  const refused = await made.submit("two", { contextId: "c" });
  strictEqual(refused.kind === "refused" && refused.why, "context busy");
  ok(!JSON.stringify(refused).includes(first.task.id));
  using other = await made.send("two", { contextId: "c", caller: bob });
  strictEqual(other.task.status.state, "TASK_STATE_WORKING");
  strictEqual(made.counters.snapshot()["runs.refused.busy"], 1);
});

Deno.test("all who follow a task see the same order, the slow one in fewer chunks [§5.5 subscribers-are-cursors, §5.5 in-order-once]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  const slow = await made.follow(accepted.task.id);
  const [quick, also] = [briefly(await made.follow(accepted.task.id)), briefly(accepted.events)];
  const turn = await made.sessions.next();
  for (const text of ["1 ", "2 ", "3 "]) {
    turn.say(text);
    await made.clock.settle();
  }
  turn.end({ kind: "answered", text: "1 2 3 ", truncated: false });
  const all = ["task working", "response =1 ", "response +2 ", "response +3 ", "response +.", "completed"];
  deepStrictEqual([await quick, await also], [all, all]);
  deepStrictEqual(await briefly(slow), ["task working", "response =1 2 3 ", "response +.", "completed"]);
});

Deno.test("timestamps of a task grow strictly though the wall clock goes back [SM1 timestamps]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  made.clock.jump(-3_600_000);
  (await made.sessions.next()).ask("Which?");
  await accepted.settled();
  using continued = await made.send("that", { taskId: accepted.task.id });
  (await made.sessions.next()).answer("done");
  const events = await allOf(continued.events);
  const times = [accepted.task, ...events.flatMap((event) => "statusUpdate" in event ? [event.statusUpdate] : [])]
    .map(({ status }) => status.timestamp);
  deepStrictEqual(times, [...new Set(times)].sort());
});

async function next<T>(events: AsyncIterator<T>): Promise<T> {
  const { done, value } = await events.next();
  if (done) throw new Error("The events are over");
  return value;
}

/** A task that waits for its caller. */
async function parked(made: RunFixture, contextId?: string): Promise<TaskId> {
  using accepted = await made.send("paint it", { contextId, caller: alice });
  (await made.sessions.next()).ask("Which colour?");
  ok(isSettled((await accepted.settled()).status.state));
  return accepted.task.id;
}
