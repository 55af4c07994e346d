import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { makeRuns, type RunFixture } from "@tests/fakes/run_service_fixture.ts";

/** A task that has asked, was answered under the key `m` with the body `hash`, and has asked again. */
async function continued(made: RunFixture) {
  using first = await made.send("hello", { messageId: "first", dedupe: "first hash" });
  const { id } = first.task;
  (await made.sessions.next()).ask("Which?");
  await first.settled();
  using second = await made.send("red", { taskId: id, messageId: "m", dedupe: "hash" });
  (await made.sessions.next()).ask("Sure?");
  await second.settled();
  return id;
}

Deno.test("a continuation that is sent again gets its task, once it is stored, through another host too [§5.5 dedupe]", async () => {
  await using made = await makeRuns();
  const taskId = await continued(made);
  for (const host of [made, made.newHost()]) {
    using again = await host.send("red", { taskId, messageId: "m", dedupe: "hash" });
    strictEqual(again.task.id, taskId);
  }
  strictEqual(made.sessions.turns.length, 2);
});

for (const messageId of ["m", "first"]) {
  Deno.test(`another body under the used id ${messageId} of a task is refused, and runs nothing [§5.5 dedupe-other-body]`, async () => {
    await using made = await makeRuns();
    const taskId = await continued(made);
    const refused = await made.submit("blue", { taskId, messageId, dedupe: "other hash" });
    strictEqual(refused.kind === "refused" && refused.why, "id reused");
    strictEqual(made.sessions.turns.length, 2);
  });
}

Deno.test("after 24 h the id of a continuation may be used again, and its key is forgotten [§5.5 dedupe]", async () => {
  await using made = await makeRuns();
  const taskId = await continued(made);
  await made.clock.advance(24 * 60 * 60 * 1000);
  using again = await made.send("red", { taskId, messageId: "m", dedupe: "hash" });
  strictEqual((await made.sessions.next()).request.text, "red");
  strictEqual(again.task.status.state, "TASK_STATE_WORKING");
  deepStrictEqual((await made.record(taskId)).continued, undefined);
});

Deno.test("the key of the first message stays when a task goes on [§5.5 dedupe]", async () => {
  await using made = await makeRuns();
  const taskId = await continued(made);
  using again = await made.send("hello", { messageId: "first", dedupe: "first hash" });
  strictEqual(again.task.id, taskId);
});
