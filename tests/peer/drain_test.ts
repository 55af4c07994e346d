import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { peerKeys, startPeer, type TestPeer, textMessage } from "@tests/fakes/test_peer.ts";
import { bindings, wireRequest } from "@tests/fakes/wire_request.ts";
import { watchStream } from "@tests/fakes/wire_stream.ts";

const stateOf = async (made: TestPeer, id: string) => (await made.task(id)).status.state;

for (const binding of bindings) {
  Deno.test(`a draining host refuses new work on open connections too, and serves reads, over ${binding} [SM7 drain, SM7 reads-served]`, async () => {
    await using made = await startPeer();
    const { id } = await made.send("wait: 10s\ndone");
    const draining = made.peer.drain(30_000);
    for (const method of ["SendMessage", "SendStreamingMessage"] as const) {
      const reply = await made.call(method, textMessage("more"), { binding });
      ok(reply.kind === "error");
      deepStrictEqual([reply.reason, reply.http, reply.retryAfter], ["SHUTTING_DOWN", 503, "10"]);
    }
    const subscribed = await made.call("SubscribeToTask", { id }, { binding });
    ok(subscribed.kind === "error");
    deepStrictEqual([subscribed.reason, subscribed.retryAfter], ["SHUTTING_DOWN", "10"]);
    strictEqual((await made.call("GetTask", { id }, { binding })).kind, "result");
    strictEqual((await made.call("ListTasks", {}, { binding })).kind, "result");
    deepStrictEqual(await made.readyz(), { status: 503, notReady: ["the host is ending"] });
    await made.clock.advance(10_000);
    await draining;
    strictEqual(await stateOf(made, id), "TASK_STATE_COMPLETED");
  });
}

Deno.test("a draining host ends streams with a last comment, and their work goes on [SM7 streams-end]", async () => {
  await using made = await startPeer();
  const stream = watchStream(await made.open("SendStreamingMessage", textMessage("wait: 10s\ndone")));
  await made.clock.settle();
  deepStrictEqual(stream.seen, ["task working"]);
  const draining = made.peer.drain(30_000);
  await stream.reading;
  deepStrictEqual(stream.seen, ["task working", "comment"]);
  await made.clock.advance(10_000);
  await draining;
  const reply = await made.call("ListTasks", { status: "TASK_STATE_COMPLETED" });
  ok(reply.kind === "result");
  strictEqual((reply.result as { totalSize: number }).totalSize, 1);
});

Deno.test("a draining host answers who waits for a run that ends within the grace, with its end [SM7 drain]", async () => {
  await using made = await startPeer();
  const waiting = made.call("SendMessage", textMessage("wait: 10s\ndone"));
  await made.clock.settle();
  const draining = made.peer.drain(30_000);
  await made.clock.advance(10_000);
  const reply = await waiting;
  ok(reply.kind === "result");
  const { task } = reply.result as { task: { status: { state: string } } };
  strictEqual(task.status.state, "TASK_STATE_COMPLETED");
  await draining;
});

Deno.test("the grace over, a run is failed and who waits for it is told so; a queued one stays, and who waits sees that [SM7 drain, SM7 stop]", async () => {
  const made = await startPeer({ flags: { "concurrent-runs": "1" } });
  const running = made.call("SendMessage", textMessage("hang"));
  await made.clock.settle();
  const queued = made.call("SendMessage", textMessage("later"));
  await made.clock.settle();
  const draining = made.peer.drain(30_000);
  await made.clock.advance(29_999);
  strictEqual(made.shown.some(({ kind }) => kind === "end"), false);
  await made.clock.advance(1);
  await draining;
  const closing = made.peer[Symbol.asyncDispose]();
  const states = await Promise.all([running, queued].map(async (waiting) => {
    const reply = await waiting;
    ok(reply.kind === "result");
    const { status } =
      (reply.result as { task: { status: { state: string; message?: { parts: { text: string }[] } } } })
        .task;
    return [status.state, status.message?.parts[0]?.text];
  }));
  deepStrictEqual(states, [["TASK_STATE_FAILED", "server restarted"], ["TASK_STATE_SUBMITTED", undefined]]);
  await closing;
  strictEqual(made.clock.pending, 0);
  await made[Symbol.asyncDispose]();
});

Deno.test("a host that ends lets nobody wait on an open connection: a queued run's sender is answered, and the listener closes [SM7 stop]", async () => {
  const made = await startPeer({ flags: { "concurrent-runs": "1" }, listens: true });
  const post = async (text: string) => {
    const { method, headers, body } = wireRequest("JSONRPC", { method: "SendMessage", params: textMessage(text) }, {
      key: peerKeys.alice,
    });
    return await fetch(`${made.address}/a2a`, { method, headers: [...headers], body });
  };
  const running = post("ignore abort\nhang");
  while (made.shown.length < 1) await made.clock.settle();
  const queued = post("later");
  while (made.shown.length < 2) await made.clock.settle();
  const draining = made.peer.drain(0);
  await made.clock.settle();
  await made.clock.advance(6_000);
  await draining;
  const closing = made.peer[Symbol.asyncDispose]();
  const answers = await Promise.all([running, queued].map(async (answer) => await (await answer).json()));
  const states = answers.map(({ result }) => result.task.status.state);
  deepStrictEqual(states, ["TASK_STATE_FAILED", "TASK_STATE_SUBMITTED"]);
  await closing; // the clock stands still: nothing was waited for
  await made[Symbol.asyncDispose]();
});
