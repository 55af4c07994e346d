import { deepStrictEqual, notStrictEqual, ok, strictEqual } from "node:assert/strict";
import { alice, briefly, makeRuns, type RunFixture, statusText } from "@tests/fakes/run_service_fixture.ts";
import type { TaskId } from "@/protocol/ids.ts";
import { isTerminal } from "@/protocol/task.ts";
import type { Refused } from "@/server/tasks/refusal.ts";
import type { Accepted } from "./submission.ts";

Deno.test("cancel before the end of the run wins: the end is dropped [SM1 race cancel-end, §5.5 terminal-final, SM1 T16]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  const { id } = accepted.task;
  const turn = await made.sessions.next();
  turn.say("so far");
  await made.clock.settle();
  const held = made.gate.hold("canceled");
  const canceling = made.cancel(id);
  await held.reached;
  turn.ignoreAbort();
  turn.end({ kind: "answered", text: "so far and all", truncated: false });
  await made.clock.settle();
  held.release();
  const canceled = await canceling;
  strictEqual(canceled.kind, "canceled");
  await made.clock.settle();
  const { task } = await made.record(id);
  deepStrictEqual([task.status.state, task.artifacts?.[0]?.parts[0]?.text], ["TASK_STATE_CANCELED", "so far"]);
  strictEqual(made.counters.snapshot()["events.dropped"], 1);
  deepStrictEqual((await briefly(accepted.events)).at(-1), "canceled");
});

Deno.test("the end of the run before cancel wins: it is not cancelable [SM1 race cancel-end]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  const held = made.gate.hold("completed");
  (await made.sessions.next()).answer("done");
  await held.reached;
  const canceling = made.cancel(accepted.task.id);
  held.release();
  const refused = await canceling;
  strictEqual(refused.kind === "refused" && refused.why, "not cancelable");
  strictEqual(await made.state(accepted.task.id), "completed");
});

Deno.test("of two continuations one runs, the other leaves no trace [SM1 race two-continuations, §5.4 one-continuation]", async () => {
  await using made = await makeRuns();
  const id = await parked(made);
  const file = (name: string) => ({ raw: btoa(name), filename: name });
  const both = await Promise.all([
    made.submit("", { taskId: id, messageId: "one", parts: [file("1.txt")] }),
    made.submit("", { taskId: id, messageId: "two", parts: [file("2.txt")] }),
  ]);
  const winners = both.filter((answer) => answer.kind === "accepted");
  deepStrictEqual(reasons(both), ["context busy"]);
  strictEqual(winners.length, 1);
  const won = both[0]!.kind === "accepted" ? "one" : "two";
  const history = (await made.record(id)).task.history!;
  deepStrictEqual(history.map(({ role, messageId }) => role === "ROLE_USER" && messageId), ["first", false, won]);
  const files = [...Deno.readDirSync(made.paths.inboxOf(alice, id))].map(({ name }) => name);
  deepStrictEqual(files, [won === "one" ? "1.txt" : "2.txt"]);
  strictEqual(made.sessions.turns.length, 2);
  leave(both);
});

Deno.test("of two continuations in the same task one runs while the first's commit is held [SM1 race two-continuations]", async () => {
  await using made = await makeRuns();
  const id = await parked(made);
  const held = made.gate.hold("working");
  const first = made.submit("one", { taskId: id });
  await held.reached;
  deepStrictEqual(reasons([await made.submit("two", { taskId: id })]), ["context busy"]);
  held.release();
  leave([await first]);
  strictEqual(made.sessions.turns.at(-1)?.request.text, "one");
  strictEqual((await made.record(id)).task.history?.length, 3);
});

Deno.test("a cancel before a continuation wins: the task is over [SM1 race continuation-cancel]", async () => {
  await using made = await makeRuns();
  const id = await parked(made);
  const held = made.gate.hold("canceled");
  const canceling = made.cancel(id);
  await held.reached;
  const continuing = made.submit("red", { taskId: id });
  await made.clock.settle();
  held.release();
  strictEqual((await canceling).kind, "canceled");
  deepStrictEqual(reasons([await continuing]), ["terminal"]);
  strictEqual((await made.record(id)).task.history?.length, 1);
  strictEqual(made.sessions.turns.length, 1);
  using next = await made.send("new", { contextId: "c" });
  strictEqual(next.task.status.state, "TASK_STATE_WORKING");
});

Deno.test("a continuation before a cancel runs, and the cancel stops its run [SM1 race continuation-cancel]", async () => {
  await using made = await makeRuns();
  const id = await parked(made);
  const held = made.gate.hold("working");
  const continuing = made.submit("red", { taskId: id });
  await held.reached;
  const canceling = made.cancel(id);
  await made.clock.settle();
  held.release();
  const continued = await continuing;
  strictEqual(continued.kind, "accepted");
  strictEqual((await canceling).kind, "canceled");
  await made.clock.settle();
  const turn = made.sessions.turns.at(-1)!;
  deepStrictEqual([turn.request.text, turn.signal.aborted, turn.isOver], ["red", true, true]);
  leave([continued]);
});

Deno.test("of two sends with one dedupe key the second waits and gets the first's task [SM1 race dedupe, §5.5 dedupe]", async () => {
  await using made = await makeRuns();
  const held = made.gate.hold("working");
  const sent = { messageId: "same", dedupe: "hash" };
  const first = made.submit("hello", sent);
  await held.reached;
  const seconds = [made.submit("hello", sent), made.submit("hello", sent)];
  await made.clock.settle();
  strictEqual(made.gate.tried.length, 1);
  held.release();
  const all = await Promise.all([first, ...seconds]);
  const ids = all.map((answer) => answer.kind === "accepted" && answer.task.id);
  strictEqual(new Set(ids).size, 1);
  const turn = await made.sessions.next();
  turn.answer("once");
  const [, second, third] = all as Accepted[];
  deepStrictEqual(await briefly(second!.events), ["task working", "response =once", "response +.", "completed"]);
  ok(isTerminal((await third!.settled()).status.state));
  using later = await made.send("hello", sent);
  strictEqual(later.task.id, ids[0]);
  strictEqual(made.sessions.turns.length, 1);
  leave(all);
});

Deno.test("after a first send that was refused the second with its dedupe key is a try of its own [SM1 race dedupe]", async () => {
  await using made = await makeRuns();
  const held = made.gate.hold("working");
  const sent = { messageId: "same", dedupe: "hash" };
  const both = [made.submit("hello", sent), made.submit("hello", sent)];
  await held.reached;
  held.fail();
  const answers = await Promise.all(both);
  deepStrictEqual(answers.map(({ kind }) => kind), ["refused", "accepted"]);
  leave(answers);
});

Deno.test("the same key with another body is refused, before the first is durable too [SM1 race dedupe-other-body]", async () => {
  await using made = await makeRuns();
  const held = made.gate.hold("working");
  const first = made.submit("hello", { messageId: "same", dedupe: "hash" });
  await held.reached;
  const other = made.submit("goodbye", { messageId: "same", dedupe: "other" });
  held.release();
  leave([await first]);
  deepStrictEqual(reasons([await other]), ["id reused"]);
  using without = await made.send("goodbye", { messageId: "same" });
  using elsewhere = await made.send("x", { messageId: "same", dedupe: "other", contextId: "c9" });
  notStrictEqual(without.task.id, elsewhere.task.id);
});

Deno.test("a continuation that is sent again with dedupe is not run again, nor busy [§5.5 dedupe]", async () => {
  await using made = await makeRuns();
  const id = await parked(made);
  const held = made.gate.hold("working");
  const sent = { taskId: id, messageId: "answer", dedupe: "hash" };
  const both = [made.submit("red", sent), made.submit("red", sent)];
  await held.reached;
  held.release();
  const answers = await Promise.all(both);
  deepStrictEqual(reasons(answers), []);
  (await made.sessions.next()).answer("done");
  await (answers[0] as Accepted).settled();
  using again = await made.send("red", sent);
  strictEqual(again.task.status.state, "TASK_STATE_COMPLETED");
  strictEqual(made.sessions.turns.length, 2);
  leave(answers);
});

Deno.test("a new message in a context that waits runs; the question is answerable later, and busy meanwhile [SM1 race new-while-parked, SM2 parked-new, §5.4 new-task-while-asked]", async () => {
  await using made = await makeRuns();
  const id = await parked(made);
  using other = await made.send("something else", { contextId: "c" });
  notStrictEqual(other.task.id, id);
  deepStrictEqual(reasons([await made.submit("red", { taskId: id })]), ["context busy"]);
  strictEqual(await made.state(id), "input-required");
  strictEqual((await made.record(id)).task.history?.length, 1);
  (await made.sessions.next()).answer("done");
  await other.settled();
  using answered = await made.send("red", { taskId: id });
  (await made.sessions.next()).answer("painted");
  strictEqual((await answered.settled()).status.state, "TASK_STATE_COMPLETED");
});

Deno.test("two questions are open in one context, and each is answerable [SM1 race new-while-parked]", async () => {
  await using made = await makeRuns();
  const first = await parked(made);
  const second = await parked(made);
  for (const id of [first, second]) {
    using answered = await made.send("red", { taskId: id });
    (await made.sessions.next()).answer(`painted ${id}`);
    strictEqual((await answered.settled()).status.state, "TASK_STATE_COMPLETED");
  }
});

Deno.test("a subscription before the end gets the end, one after it is refused [SM1 race subscribe-terminal]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  const { id } = accepted.task;
  const held = made.gate.hold("completed");
  (await made.sessions.next()).answer("done");
  await held.reached;
  const { signal } = new AbortController();
  const before = await made.runs.follow(id, alice, signal);
  held.release();
  ok(before.kind === "events");
  deepStrictEqual((await briefly(before.events)).at(-1), "completed");
  deepStrictEqual(reasons([await made.runs.follow(id, alice, signal)]), ["terminal"]);
});

Deno.test("a subscription while the end is being stored sees all or is refused, at each step [SM1 race subscribe-terminal]", async () => {
  for (let steps = 0; steps < 12; steps++) {
    await using made = await makeRuns();
    using accepted = await made.send("hello");
    (await made.sessions.next()).end({ kind: "answered", text: "done", truncated: false });
    for (let step = 0; step < steps; step++) await Promise.resolve();
    const followed = await made.runs.follow(accepted.task.id, alice, new AbortController().signal);
    if (followed.kind === "refused") strictEqual(followed.why, "terminal");
    else deepStrictEqual((await briefly(followed.events)).slice(-1), ["completed"]);
  }
});

Deno.test("an answer before its time-out wins, and the time-out is dropped [SM1 race answer-timeout]", async () => {
  await using made = await makeRuns();
  const id = await parked(made);
  const held = made.gate.hold("working");
  made.clock.jump(31 * 24 * 3_600_000);
  const answering = made.submit("red", { taskId: id });
  await held.reached;
  const sweeping = made.runs.sweep();
  await made.clock.settle();
  held.release();
  const answered = await answering;
  strictEqual(answered.kind, "accepted");
  await sweeping;
  strictEqual(await made.state(id), "working");
  leave([answered]);
});

Deno.test("a time-out before the answer wins, and the task is over [SM1 race answer-timeout, SM1 T12, §5.5 input-timeout]", async () => {
  await using made = await makeRuns();
  const id = await parked(made);
  made.clock.jump(31 * 24 * 3_600_000);
  const held = made.gate.hold("failed");
  const sweeping = made.runs.sweep();
  await held.reached;
  const answering = made.submit("red", { taskId: id });
  await made.clock.settle();
  held.release();
  await sweeping;
  deepStrictEqual(reasons([await answering]), ["terminal"]);
  strictEqual(statusText((await made.record(id)).task), "no answer came");
});

Deno.test("a question that was answered and asked anew while the sweep worked is not timed out [SM1 race answer-timeout]", async () => {
  await using made = await makeRuns();
  const first = await parked(made, "c1");
  const second = await parked(made, "c2");
  made.clock.jump(31 * 24 * 3_600_000);
  const held = made.gate.hold("failed"); // the first's time-out: the second is listed already
  const sweeping = made.runs.sweep();
  await held.reached;
  using continued = await made.send("red", { taskId: second });
  (await made.sessions.next()).ask("Dark red?");
  await continued.settled();
  held.release();
  await sweeping;
  deepStrictEqual([await made.state(first), await made.state(second)], ["failed", "input-required"]);
});

Deno.test("a send before the removal of its caller is canceled with it, though it is not stored yet [SM1 T15]", async () => {
  await using made = await makeRuns();
  const held = made.gate.hold("working");
  const sending = made.submit("hello");
  await held.reached;
  const expelling = made.runs.expel(alice);
  await made.clock.settle();
  held.release();
  const accepted = await sending;
  await expelling;
  ok(accepted.kind === "accepted");
  const { task } = await made.record(accepted.task.id);
  deepStrictEqual([task.status.state, statusText(task)], ["TASK_STATE_CANCELED", "access ended"]);
  leave([accepted]);
});

/** Why those were refused that were. */
function reasons(answers: readonly ({ kind: string } | Refused)[]): string[] {
  return answers.flatMap((answer) => answer.kind === "refused" ? [(answer as Refused).why] : []);
}

function leave(answers: readonly (Accepted | Refused)[]): void {
  for (const answer of answers) if (answer.kind === "accepted") answer[Symbol.dispose]();
}

/** A task of `contextId` (`c`) that waits for its caller. */
async function parked(made: RunFixture, contextId = "c"): Promise<TaskId> {
  using accepted = await made.send("paint it", { contextId, messageId: "first" });
  (await made.sessions.next()).ask("Which colour?");
  await accepted.settled();
  return accepted.task.id;
}
