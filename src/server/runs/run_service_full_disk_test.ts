import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { alice, briefly, makeRuns, statusText } from "@tests/fakes/run_service_fixture.ts";

Deno.test("a full disk refuses a new task before anything runs, and what it took is free again [§5.5 disk-full-refused, SM0 commit-fails]", async () => {
  await using made = await makeRuns({ limits: { runsMax: 1 } });
  made.gate.isFull = true;
  for (const hops of [0, 9]) {
    const refused = await made.submit("hello", { contextId: "c", hops });
    ok(refused.kind === "refused");
    deepStrictEqual([refused.why, refused.retryAfterMs], ["storage full", 60_000]);
  }
  strictEqual(made.sessions.turns.length, 0);
  made.gate.isFull = false;
  using accepted = await made.send("hello", { contextId: "c" });
  strictEqual(accepted.task.status.state, "TASK_STATE_WORKING");
  const { "runs.refused.storageFull": refusals, "tasks.created": created } = made.counters.snapshot();
  deepStrictEqual([refusals, created], [2, 1]);
});

Deno.test("a full disk refuses a message whose files cannot be kept, and leaves no file", async () => {
  await using made = await makeRuns();
  const full = made.disk.rule({ on: "write", path: "/inbox/", code: "ENOSPC" });
  const refused = await made.submit("", { contextId: "c", parts: [{ raw: btoa("x"), filename: "x.txt" }] });
  strictEqual(refused.kind === "refused" && refused.why, "storage full");
  deepStrictEqual([...Deno.readDirSync(`${made.paths.inbox}/alice`)], []);
  full.end();
  using accepted = await made.send("", { contextId: "c", parts: [{ raw: btoa("x"), filename: "x.txt" }] });
  strictEqual(await made.state(accepted.task.id), "working");
});

Deno.test("a full disk refuses a continuation, and the question stays answerable", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  const { id } = accepted.task;
  (await made.sessions.next()).ask("Which?");
  await accepted.settled();
  made.gate.isFull = true;
  const refused = await made.submit("", { taskId: id, parts: [{ raw: btoa("x"), filename: "x.txt" }] });
  strictEqual(refused.kind === "refused" && refused.why, "storage full");
  deepStrictEqual([...Deno.readDirSync(`${made.paths.inbox}/alice`)], []);
  made.gate.isFull = false;
  using continued = await made.send("that", { taskId: id });
  strictEqual((await made.record(id)).task.history?.length, 3);
  strictEqual(continued.task.status.state, "TASK_STATE_WORKING");
});

Deno.test("after acceptance a commit is tried after 0.1, 0.2 … 30 s, and nothing unsaved is shown [§5.5 disk-full-retried, SM0 commit-fails]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  const { id } = accepted.task;
  const seen: string[] = [];
  const reading = (async () => {
    for await (const brief of await made.follow(id)) seen.push(Object.keys(brief)[0]!);
  })();
  const turn = await made.sessions.next();
  made.gate.isFull = true;
  turn.answer("done");
  await made.clock.settle();
  const start = made.clock.elapsed();
  const triedAt: number[] = [];
  for (let tried = made.gate.tried.length; made.clock.elapsed() - start < 120_000;) {
    await made.clock.advance(100);
    if (made.gate.tried.length > tried) triedAt.push(made.clock.elapsed() - start);
    tried = made.gate.tried.length;
  }
  deepStrictEqual(triedAt, [100, 300, 700, 1500, 3100, 6300, 12_700, 25_500, 51_100, 81_100, 111_100]);
  deepStrictEqual(seen, ["task", "artifactUpdate"]);
  strictEqual(await made.state(id), "working");
  strictEqual(turn.signal.aborted, false);
  const busy = await made.submit("x", { taskId: id });
  strictEqual(busy.kind === "refused" && busy.why, "context busy");
  const late = await made.follow(id);
  made.gate.isFull = false;
  await made.clock.advance(30_000);
  await reading;
  strictEqual(await made.state(id), "completed");
  deepStrictEqual((await briefly(late)).at(-1), "completed");
  strictEqual(made.counters.snapshot()["commit.retries"], 12);
});

Deno.test("a cancel while a commit waits for room is answered at once: refused, or canceled when there is room", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  const { id } = accepted.task;
  const turn = await made.sessions.next();
  made.gate.isFull = true;
  const written = await turn.request.tools.write!("a.txt", new Uint8Array(1));
  const sending = turn.request.tools.send!(written.path!);
  await made.clock.advance(20_000);
  const refused = await made.cancel(id);
  ok(refused.kind === "refused");
  deepStrictEqual([refused.why, refused.retryAfterMs], ["storage full", 60_000]);
  strictEqual(turn.signal.aborted, false);
  made.gate.isFull = false;
  strictEqual((await made.cancel(id)).kind, "canceled");
  strictEqual(turn.signal.aborted, true);
  await made.clock.advance(30_000);
  deepStrictEqual(await sending, { kind: "refused", why: "the task is over" });
  strictEqual((await made.record(id)).task.artifacts, undefined);
});

Deno.test("a file that waits for room is stored before the end that comes behind it", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  const turn = await made.sessions.next();
  made.gate.isFull = true;
  const written = await turn.request.tools.write!("a.txt", new Uint8Array(1));
  const sending = turn.request.tools.send!(written.path!).then(() => turn.answer("sent"));
  await made.clock.advance(1_000);
  made.gate.isFull = false;
  await made.clock.advance(30_000);
  await sending;
  const { artifacts } = await accepted.settled();
  deepStrictEqual(artifacts?.map(({ name }) => name), ["response", "a.txt"]);
});

Deno.test("a run that waits for a slot starts when there is room again", async () => {
  await using made = await makeRuns({ limits: { runsMax: 1 } });
  using first = await made.send("one");
  using second = await made.send("two");
  const held = made.gate.hold("working");
  (await made.sessions.next()).answer("done");
  await held.reached;
  made.gate.isFull = true;
  held.release();
  await made.clock.advance(10_000);
  strictEqual(await made.state(second.task.id), "submitted");
  made.gate.isFull = false;
  await made.clock.advance(30_000);
  strictEqual(await made.state(second.task.id), "working");
  strictEqual(await made.state(first.task.id), "completed");
});

Deno.test("a host ends though the disk stays full: what could not be stored is left to the next start [SM3 drain]", async () => {
  await using made = await makeRuns();
  using ended = await made.send("ended");
  using running = await made.send("running");
  made.gate.isFull = true;
  (await made.sessions.next()).answer("done");
  const turn = await made.sessions.next();
  await made.clock.advance(1_000);
  const draining = made.runs.drain(10_000);
  await made.clock.advance(10_000);
  await draining;
  strictEqual(turn.signal.aborted, true);
  deepStrictEqual([await made.state(ended.task.id), await made.state(running.task.id)], ["working", "working"]);
  made.gate.isFull = false;
  made.newHost();
  await made.clock.settle();
  for (const { task } of [ended, running]) {
    const { task: now } = await made.record(task.id, alice);
    deepStrictEqual([now.status.state, statusText(now)], ["TASK_STATE_FAILED", "server restarted"]);
  }
});

Deno.test("an end that waits for room when the host stops is tried once more, and wins over the stop", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  made.gate.isFull = true;
  (await made.sessions.next()).answer("done");
  await made.clock.advance(20_000); // the next try is 12 s away
  made.gate.isFull = false;
  const draining = made.runs.drain(1_000);
  await made.clock.advance(1_000);
  await draining;
  strictEqual(await made.state(accepted.task.id), "completed");
});

Deno.test("a cancel wakes the end of a run that waits for room, so that the context is free at once", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello", { contextId: "c" });
  made.gate.isFull = true;
  (await made.sessions.next()).answer("done");
  await made.clock.advance(60_000); // the next try is up to 30 s away
  made.gate.isFull = false;
  await made.cancel(accepted.task.id);
  const before = made.clock.elapsed();
  using next = await made.send("next", { contextId: "c" });
  strictEqual(next.task.status.state, "TASK_STATE_WORKING");
  strictEqual(made.clock.elapsed(), before);
});

Deno.test("with less room than the floor no task and no file is taken, and what was accepted goes on [§5.5 disk-full-refused]", async () => {
  let isRoomLeft = true;
  await using made = await makeRuns({ isRoomLeft: () => isRoomLeft });
  using asked = await made.send("hello");
  const { id: taskId } = asked.task;
  (await made.sessions.next()).ask("Which?");
  await asked.settled();
  isRoomLeft = false;
  const writes = () => made.disk.log.filter((line) => line.includes("/inbox")).length;
  const before = writes();
  const parts = [{ raw: btoa("x"), filename: "x.txt" }];
  for (const sent of [{ taskId, parts }, {}, { parts }]) {
    const refused = await made.submit("that", sent);
    strictEqual(refused.kind === "refused" && refused.why, "storage full");
  }
  strictEqual(writes(), before);
  using continued = await made.send("that", { taskId });
  strictEqual(continued.task.status.state, "TASK_STATE_WORKING");
});
