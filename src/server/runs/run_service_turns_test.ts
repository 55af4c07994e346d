import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { makeRuns, type RunFixture, type Sent } from "@tests/fakes/run_service_fixture.ts";

const hour = 3_600_000;

/** Sends a text and lets its run end as the text says; gives why it was refused, or "". */
async function play(made: RunFixture, text: string, sent: Sent = {}): Promise<string> {
  const answer = await made.submit(text, { contextId: "c", ...sent });
  if (answer.kind === "refused") return answer.why;
  using accepted = answer;
  const turn = await made.sessions.next();
  if (text === "ask") turn.ask("Which?");
  else turn.answer("done");
  await accepted.settled();
  return "";
}

Deno.test("a turn is a message that was accepted: an answer is one, a repeated or a refused message is none [§7 turns-a-context]", async () => {
  await using made = await makeRuns({ limits: { turnsPerContextMax: 3 } });
  using asked = await made.send("ask", { contextId: "c", messageId: "m", dedupe: "x" });
  strictEqual(await play(made, "while it works"), "context busy");
  (await made.sessions.next()).ask("Which?");
  await asked.settled();
  using again = await made.send("ask", { contextId: "c", messageId: "m", dedupe: "x" });
  strictEqual(again.task.id, asked.task.id);
  const taskId = asked.task.id;
  deepStrictEqual([await play(made, "ask", { taskId }), await play(made, "ask", { taskId })], ["", ""]);
  const before = await made.record(taskId);
  deepStrictEqual([await play(made, "that", { taskId }), await play(made, "new")], [
    "too many turns",
    "too many turns",
  ]);
  deepStrictEqual(await made.record(taskId), before);
  await made.clock.advance(hour);
  strictEqual(await play(made, "that", { taskId }), "");
});

Deno.test("a message that is refused for its turns leaves its context and its run slot free, and is in none of the queues [§7 turns-a-context, §7 delegated-turns]", async () => {
  await using made = await makeRuns({ limits: { delegatedTurnsMax: 1, runsMax: 1, queuedMax: 0 } });
  strictEqual(await play(made, "hello", { hops: 1 }), "");
  for (let n = 0; n < 3; n++) strictEqual(await play(made, "hello", { hops: 1 }), "too many delegated turns");
  strictEqual(await play(made, "hello", { hops: 1, contextId: "other" }), "");
  strictEqual(await play(made, "hello"), "");
  deepStrictEqual([made.counters.snapshot()["runs.started"], (await made.store.queued(10)).length], [3, 0]);
});

Deno.test("turns are counted from the start of the host [§7 turns-a-context]", async () => {
  await using made = await makeRuns({ limits: { turnsPerContextMax: 1 } });
  strictEqual(await play(made, "hello"), "");
  strictEqual(await play(made, "hello"), "too many turns");
  await made.runs[Symbol.asyncDispose]();
  const next = made.newHost();
  await made.clock.settle();
  using accepted = await next.send("hello", { contextId: "c" });
  strictEqual(accepted.task.contextId, "c");
});
