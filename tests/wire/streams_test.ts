import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { takeLog } from "@tests/fakes/log_lines.ts";
import { keys, startWireHost, type WireHost } from "@tests/fakes/wire_host.ts";
import { bindings } from "@tests/fakes/wire_request.ts";
import { watchStream } from "@tests/fakes/wire_stream.ts";
import type { TaskId } from "@/protocol/ids.ts";
import type { TaskJson } from "@/protocol/task.ts";
import type { TaskStore } from "@/server/tasks/task_store.ts";

let messages = 0;

function message(text: string, more: Readonly<Record<string, unknown>> = {}) {
  return { message: { messageId: `s${++messages}`, role: "ROLE_USER", parts: [{ text }], ...more } };
}

/** Starts a task and gives its id when it is in this state. */
async function startTask(host: WireHost, text: string, state = "working"): Promise<TaskId> {
  const params = { ...message(text), configuration: { returnImmediately: true } };
  const reply = await host.call("JSONRPC", "SendMessage", params);
  ok(reply.kind === "result", JSON.stringify(reply));
  const { id } = (reply.result as { task: TaskJson }).task;
  while (await stateOf(host, id) !== state) await host.clock.settle();
  return id;
}

async function stateOf(host: WireHost, id: TaskId): Promise<string> {
  await host.clock.settle();
  return await host.state(id);
}

for (const binding of bindings) {
  const open = async (host: WireHost, id: TaskId) => watchStream(await host.open(binding, "SubscribeToTask", { id }));

  Deno.test(`SubscribeToTask over ${binding} stays open while the task waits, and sees its end [§5.5 subscribe-stays-open]`, async () => {
    await using host = await startWireHost();
    const id = await startTask(host, "ask: Well?", "input-required");
    const stream = await open(host, id);
    await host.clock.advance(40_000);
    deepStrictEqual([stream.seen, stream.isOver], [["task input-required", "comment", "comment"], false]);
    const answer = await host.call(binding, "SendMessage", message("yes", { taskId: id }));
    strictEqual(answer.kind, "result");
    await stream.reading;
    deepStrictEqual(stream.seen.slice(3), ["working", "response =yes", "response +.", "completed"]);
  });

  Deno.test(`SendStreamingMessage over ${binding} ends when the task waits [§5.5 stream-order]`, async () => {
    await using host = await startWireHost();
    const stream = watchStream(await host.open(binding, "SendStreamingMessage", message("ask: Well?")));
    await stream.reading;
    deepStrictEqual(stream.seen, ["task working", "input-required"]);
  });

  Deno.test(`subscribers over ${binding} see the same in the same order; one that leaves takes nothing from the others [§5.5 same-order, case 34]`, async () => {
    await using host = await startWireHost();
    const id = await startTask(host, "one\nwait: 1s\ntwo\nwait: 1s\nfile: f.txt x\nthree");
    const streams = [await open(host, id), await open(host, id), await open(host, id)];
    await host.clock.advance(1000);
    await streams[0]!.leave();
    await host.clock.advance(1000);
    await Promise.all(streams.map(({ reading }) => reading));
    const all = ["task working", "response =one", "response +\ntwo"];
    deepStrictEqual(streams[0]!.seen, all);
    const rest = ["file f.txt", "response +\nthree", "response +.", "completed"];
    for (const { seen } of streams.slice(1)) deepStrictEqual(seen, [...all, ...rest]);
  });

  Deno.test(`a stream over ${binding} that is closed after its first event ends no run; a new one gets the task and the rest [case 34, §5.5 leaving-does-not-cancel]`, async () => {
    await using host = await startWireHost();
    const answer = await host.open(binding, "SendStreamingMessage", message("one\nwait: 5s\ntwo"));
    const reader = answer.body!.getReader();
    await reader.read();
    await reader.cancel();
    await host.clock.settle();
    const [{ id }] = await tasksOf(host);
    strictEqual(await stateOf(host, id), "working");
    const stream = await open(host, id);
    await host.clock.advance(5000);
    await stream.reading;
    deepStrictEqual(stream.seen, ["task working", "response =one", "response +\ntwo", "response +.", "completed"]);
    strictEqual(await host.says(id), "one\ntwo");
  });

  Deno.test(`a blocking send over ${binding} whose client leaves goes on, and no timer is left [§5.5 leaving-does-not-cancel, case 36]`, async () => {
    await using host = await startWireHost();
    await host.call(binding, "SendMessage", message("hi")); // what an open session has of its own
    await host.clock.settle();
    const timers = host.clock.pending;
    const asking = host.open(binding, "SendMessage", message("wait: 60s\ndone"));
    await host.clock.advance(20_000);
    const reader = (await asking).body!.getReader();
    await reader.read();
    await reader.cancel();
    const { id } = (await tasksOf(host)).find(({ status }) => status.state === "TASK_STATE_WORKING")!;
    strictEqual(await stateOf(host, id), "working");
    await host.clock.advance(40_000);
    deepStrictEqual([await stateOf(host, id), await host.says(id)], ["completed", "done"]);
    strictEqual(host.clock.pending, timers);
  });

  Deno.test(`a failure behind a stream over ${binding} is an error event when it comes after the first, with a log line [§5.5 stream-errors]`, async () => {
    using log = takeLog("error");
    const { lines } = log;
    await using host = await startWireHost({ wrapStore: withBrokenBlobs });
    const params = message("file: big.bin 40000 bytes\ndone");
    const stream = watchStream(await host.open(binding, "SendStreamingMessage", params));
    await stream.reading;
    strictEqual(stream.seen.length, 2);
    deepStrictEqual(stream.seen[0], "task working");
    const { code, message: text } = JSON.parse(stream.seen[1]!.slice("error ".length));
    deepStrictEqual([code, text], [binding === "JSONRPC" ? -32603 : 500, "The server failed unexpectedly"]);
    strictEqual(lines.length, 1);
    match(lines[0]!, /SendStreamingMessage broke: .*the disk is on fire/);
    const [{ id }] = await tasksOf(host);
    strictEqual(await stateOf(host, id), "completed");
  });

  Deno.test(`a failure over ${binding} before the first event is a plain error, and tells nothing [§5.5 stream-errors, §5.10 internal-is-silent]`, async () => {
    using log = takeLog("error");
    const { lines } = log;
    await using host = await startWireHost({ wrapStore: withBrokenBlobs });
    const id = await startTask(host, "file: big.bin 40000 bytes\nask: Well?", "input-required");
    const followers = host.clock.pending;
    for (const method of ["SubscribeToTask", "GetTask", "CancelTask"] as const) {
      const reply = await host.call(binding, method, { id });
      ok(reply.kind === "error");
      deepStrictEqual([reply.reason, reply.message, reply.details.length], [
        "INTERNAL",
        "The server failed unexpectedly",
        1,
      ]);
    }
    strictEqual(host.clock.pending, followers);
    strictEqual(lines.length, 3);
  });

  Deno.test(`a failure over ${binding} behind a blocking send has the status of an error [§5.10 internal-is-silent]`, async () => {
    using _log = takeLog("error");
    await using host = await startWireHost({ wrapStore: withBrokenBlobs });
    const reply = await host.call(binding, "SendMessage", message("file: big.bin 40000 bytes\ndone"));
    ok(reply.kind === "error" && reply.reason === "INTERNAL", JSON.stringify(reply));
  });

  Deno.test(`a large file comes back over ${binding} in its place, byte for byte, in answers, lists and streams [§5.6 blobs-in-place]`, async () => {
    await using host = await startWireHost();
    const params = message("file: big.bin 40000 bytes\ndone");
    const reply = await host.call(binding, "SendStreamingMessage", params);
    ok(reply.kind === "events");
    const [{ id }] = await tasksOf(host);
    const expected = Uint8Array.from({ length: 40_000 }, (_, index) => index % 251).toBase64();
    const got = await host.call(binding, "GetTask", { id });
    const listed = await host.call(binding, "ListTasks", { includeArtifacts: true });
    for (const answer of [reply.events, got, listed]) {
      const found = [...JSON.stringify(answer).matchAll(/"raw":"([^"]+)"/g)];
      deepStrictEqual(found.map(([, raw]) => raw === expected), [true]);
    }
  });
}

Deno.test("a stream is a task and its updates: one member an event, no empty parts, no messageId twice [case 10]", async () => {
  await using host = await startWireHost();
  for (const text of ["message\none\nmessage\nmessage\ntwo\nmessage", "one\nask: Well?", "fail: no", "silence"]) {
    const reply = await host.call("HTTP+JSON", "SendStreamingMessage", message(text));
    ok(reply.kind === "events");
    for (const event of reply.events) strictEqual(Object.keys(event as object).length, 1);
    const shown = JSON.stringify(reply.events);
    ok(!shown.includes('"parts":[]'), shown);
    const ids = [...shown.matchAll(/"messageId":"([^"]+)"/g)].map(([, id]) => id);
    deepStrictEqual(ids.length, new Set(ids).size);
  }
});

Deno.test("a JSON-RPC stream echoes the id in each event, as it was sent [case 12]", async () => {
  await using host = await startWireHost();
  for (const id of [7, "7", "a\nb", null]) {
    const answer = await host.open("JSONRPC", "SendStreamingMessage", message("hi"), { id });
    const lines = (await answer.text()).trim().split("\n\n");
    strictEqual(lines.length, 4);
    for (const line of lines) {
      const { jsonrpc, id: echoed, result } = JSON.parse(line.slice("data: ".length));
      deepStrictEqual([jsonrpc, echoed, Object.keys(result).length], ["2.0", id, 1]);
    }
  }
});

Deno.test("HEAD of a stream is refused: nobody would read it [§5.5 stuck-reader-cut]", async () => {
  await using host = await startWireHost();
  const id = await startTask(host, "hang");
  const ask = async (verb: string, path: string) => {
    const headers = { "X-API-Key": keys.alice };
    return await host.fetch(new Request(`http://127.0.0.1:5099/a2a/v1/${path}`, { method: verb, headers }));
  };
  const refused = await ask("HEAD", `tasks/${id}:subscribe`);
  deepStrictEqual([refused.status, refused.headers.get("Allow"), refused.body], [405, "POST, GET", null]);
  const task = await ask("HEAD", `tasks/${id}`);
  deepStrictEqual([task.status, task.body], [200, null]);
  const stream = watchStream(await ask("GET", `tasks/${id}:subscribe`));
  await host.clock.settle();
  deepStrictEqual(stream.seen, ["task working"]);
  await stream.leave();
});

async function tasksOf(host: WireHost): Promise<[TaskJson, ...TaskJson[]]> {
  const reply = await host.call("JSONRPC", "ListTasks");
  ok(reply.kind === "result");
  return (reply.result as { tasks: [TaskJson] }).tasks;
}

function withBrokenBlobs(store: TaskStore): TaskStore {
  return new Proxy(store, {
    get(target, name: keyof TaskStore) {
      if (name === "openBlob") return () => Promise.reject(new Error("the disk is on fire"));
      const member = target[name];
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
