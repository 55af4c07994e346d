import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { existsSync } from "node:fs";
import { stateWord } from "@tests/fakes/commit_gate.ts";
import { alice, makeRuns, statusText } from "@tests/fakes/run_service_fixture.ts";
import { startHost } from "@tests/fakes/test_host.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";
import type { Refused } from "@/server/tasks/refusal.ts";
import type { TaskWriterOptions } from "@/server/tasks/task_writer.ts";

const mebi = 1024 * 1024;

Deno.test("a message that makes a record over 4 MiB is refused, and leaves no trace [DM5 bounds]", async () => {
  await using made = await makeRuns();
  const parts = Array.from({ length: 5 }, () => ({ text: "x".repeat(mebi) }));
  const refused = await made.submit("", { contextId: "c", parts });
  strictEqual((refused as Refused).why, "too large");
  using next = await made.send("the context is free", { contextId: "c" });
  strictEqual(next.task.status.state, "TASK_STATE_WORKING");
});

Deno.test("a run whose reply makes the record too long fails, naming the limit [DM5 bounds]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("", { parts: [{ text: "x".repeat(mebi) }] });
  const turn = await made.sessions.next();
  turn.answer("y".repeat(3.5 * mebi));
  const task = await accepted.settled();
  strictEqual(task.status.state, "TASK_STATE_FAILED");
  match(statusText(task)!, /over the limit of 4 MiB/);
});

Deno.test("a cancel counts though the text shown so far is too much to keep [DM5 bounds, SM1 T10]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("", { parts: [{ text: "x".repeat(mebi) }] });
  const turn = await made.sessions.next();
  turn.say("y".repeat(3.5 * mebi));
  await made.clock.settle();
  const canceled = await made.cancel(accepted.task.id);
  ok(canceled.kind === "canceled");
  strictEqual(canceled.task.status.state, "TASK_STATE_CANCELED");
  turn.answer("late");
});

Deno.test("an answer that came over too many agents is refused; one within the limit counts [§5.9 hops]", async () => {
  await using made = await makeRuns();
  using asked = await made.send("hello", { hops: 1 });
  (await made.sessions.next()).ask("Which?");
  await asked.settled();
  const refused = await made.submit("this", { taskId: asked.task.id, hops: 9 });
  match((refused as Refused).text, /^hop limit/);
  using answered = await made.send("this", { taskId: asked.task.id, hops: 5 });
  strictEqual((await made.record(answered.task.id)).hops, 5);
  strictEqual((await made.sessions.next()).request.hops, 5);
});

Deno.test("the files of a task that makes room for another one go with it", async () => {
  await using made = await makeRuns({ storedTasksMax: 1 });
  using first = await made.send("", { parts: [{ raw: btoa("x"), filename: "x.txt" }] });
  const folder = made.paths.inboxOf(alice, first.task.id);
  strictEqual(existsSync(folder), true);
  (await made.sessions.next()).answer("done");
  await first.settled();
  using second = await made.send("second");
  strictEqual(second.task.status.state, "TASK_STATE_WORKING");
  strictEqual(existsSync(folder), false);
  strictEqual(made.counters.snapshot()["tasks.pruned"], 1);
});

Deno.test("a settled task is counted once", async () => {
  const told: (string | undefined)[] = [];
  const onCommitted: TaskWriterOptions["onCommitted"] = (_, before) => void told.push(before && stateWord(before));
  await using made = await makeRuns({ service: { onCommitted } });
  using accepted = await made.send("hello");
  (await made.sessions.next()).ask("Which?");
  await accepted.settled();
  await made.cancel(accepted.task.id);
  await made.cancel(accepted.task.id);
  const { "tasks.asked": asked, "tasks.settled.canceled": canceled } = made.counters.snapshot();
  deepStrictEqual([asked, canceled, told], [1, 1, [undefined, "working", "input-required"]]);
});

Deno.test("what a caller's sessions made goes with its last task, its old transcript within the hour [DM11 work-pruned, §7 retention]", async () => {
  await using made = await startHost({ flags: { "keep-for": "1h" } });
  using accepted = await made.send("file: a.txt hello", { contextId: "c" });
  await accepted.settled();
  const { workOf, sessions } = workspacePaths(made.workspace);
  ok(made.disk.stampSync(`${workOf(alice)}/a.txt`));
  strictEqual((await made.disk.list(sessions)).length, 1);
  const [transcript] = await made.disk.list(sessions);
  const old = (made.clock.now() - 2 * 3_600_000) / 1000; // the disk's own clock is not the test's
  await Deno.utime(`${sessions}/${transcript!.name}`, old, old);
  await made.clock.advance(125 * 60_000);
  strictEqual(made.disk.stampSync(workOf(alice)), undefined);
  deepStrictEqual(await made.disk.list(sessions), []);
});

Deno.test("expel() closes what sessions of the caller are idle [SM4 caller-removed]", async () => {
  await using made = await makeRuns();
  await made.runs.expel(alice);
  deepStrictEqual(made.sessions.closed, ["alice"]);
});
