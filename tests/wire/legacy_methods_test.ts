import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { keys, startWireHost, type WireHost } from "@tests/fakes/wire_host.ts";
import { eventsOf } from "@tests/fakes/wire_reply.ts";
import { origin } from "@tests/fakes/wire_request.ts";

// deno-lint-ignore no-explicit-any -- the JSON of another version, as it came
type Json = any;

const unknownId = "330de81c-72cd-45b4-a96d-30c772e5bf3f";
let messages = 0;

/** A message of 0.3 with this text. */
function said(text: string, more: object = {}) {
  const parts = [{ kind: "text", text }];
  return { message: { kind: "message", messageId: `m${++messages}`, role: "user", parts, ...more } };
}

/** Opens a JSON-RPC call as alice, with no version unless `version` says one. */
function open(host: WireHost, method: string, params?: unknown, version?: string): Promise<Response> {
  const headers = {
    "Content-Type": "application/json",
    "X-API-Key": keys.alice,
    ...(version !== undefined && { "A2A-Version": version }),
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method, params });
  return host.fetch(new Request(`${origin}/a2a`, { method: "POST", headers, body }));
}

/** Calls, and gives the answer as it is. */
async function call(host: WireHost, method: string, params?: unknown, version?: string): Promise<Json> {
  const answer = await open(host, method, params, version);
  strictEqual(answer.headers.get("Content-Type"), "application/json");
  const json = await answer.json();
  deepStrictEqual([answer.status, json.jsonrpc, json.id], [200, "2.0", 7]);
  return json;
}

/** The results of a whole stream, in their envelopes no more. */
async function stream(answer: Response): Promise<Json[]> {
  strictEqual(answer.headers.get("Content-Type"), "text/event-stream");
  return eventsOf(await answer.text()) as Json[];
}

/** Opens a request over HTTP+JSON as alice, with version 0.3 unless told. */
function rest(
  host: WireHost,
  [verb, path]: readonly [verb: string, path: string],
  { body, version = "0.3" }: { readonly body?: unknown; readonly version?: string } = {},
) {
  const headers = { "X-API-Key": keys.alice, "A2A-Version": version, "Content-Type": "application/json" };
  const text = body === undefined ? undefined : JSON.stringify(body);
  return host.fetch(new Request(`${origin}/a2a/v1/${path}`, { method: verb, headers, body: text }));
}

Deno.test("message/send answers a task of 0.3, by its name or by its version [§5.8 legacy-methods, §5.8 legacy-results]", async () => {
  await using host = await startWireHost();
  for (const version of [undefined, "0.3", "0.3.0"]) {
    const { result } = await call(host, "message/send", said("hello"), version);
    deepStrictEqual([result.kind, result.status.state], ["task", "completed"]);
    const [{ parts }] = result.artifacts;
    deepStrictEqual(parts, [{ kind: "text", text: "hello" }]);
    const [{ kind, role, ...message }] = result.history;
    deepStrictEqual([kind, role, message.parts], ["message", "user", [{ kind: "text", text: "hello" }]]);
    ok(!JSON.stringify(result).includes("TASK_STATE_") && !JSON.stringify(result).includes("ROLE_"));
  }
});

Deno.test("a name of 0.3 is unknown in 1.0, and the reverse [§5.8 legacy-methods]", async () => {
  await using host = await startWireHost();
  const calls = [["message/send", "1.0"], ["SendMessage", "0.3"], ["tasks/list", "0.3"], [
    "tasks/list",
    undefined,
  ]] as const;
  for (const [method, version] of calls) {
    strictEqual((await call(host, method, said("x"), version)).error.code, -32601);
  }
});

Deno.test("a name of 0.3 without a version is refused where the specification's rule is set [§5.8 versions]", async () => {
  await using host = await startWireHost({ strictVersion: true });
  strictEqual((await call(host, "message/send", said("x"))).error.code, -32009);
  strictEqual((await call(host, "message/send", said("x"), "0.3")).result.kind, "task");
});

Deno.test("message/send that does not block answers at once, and tasks/get what became of it [§5.8 legacy-results]", async () => {
  await using host = await startWireHost();
  const { result } = await call(host, "message/send", {
    ...said("wait: 5s\ndone"),
    configuration: { blocking: false },
  });
  ok(["submitted", "working"].includes(result.status.state));
  await host.clock.settle();
  await host.clock.advance(5_000);
  await host.clock.settle();
  const whole = await call(host, "tasks/get", { id: result.id });
  deepStrictEqual([whole.result.kind, whole.result.status.state], ["task", "completed"]);
  ok(whole.result.history.length > 0);
  strictEqual("history" in (await call(host, "tasks/get", { id: result.id, historyLength: 0 })).result, false);
});

Deno.test("message/send without blocking waits, whatever else the configuration says [§5.8 legacy-requests]", async () => {
  await using host = await startWireHost();
  for (const configuration of [undefined, {}, { historyLength: 0 }, { blocking: true }]) {
    const { result } = await call(host, "message/send", { ...said("hello"), configuration });
    strictEqual(result.status.state, "completed");
  }
});

Deno.test("message/stream gives events of 0.3, and the last one is final [§5.8 legacy-streams]", async () => {
  await using host = await startWireHost();
  const events = await stream(await open(host, "message/stream", said("stream: 3 x 8")));
  strictEqual(events[0].kind, "task");
  const updates = events.slice(1);
  ok(updates.some(({ kind }) => kind === "artifact-update"));
  const last = updates.at(-1);
  deepStrictEqual([last.kind, last.status.state, last.final], ["status-update", "completed", true]);
  ok(
    updates.slice(0, -1).every(({ kind, final }) => kind === "artifact-update" ? final === undefined : final === false),
  );
  ok(updates.every(({ taskId, contextId }) => taskId === events[0].id && contextId === events[0].contextId));
});

Deno.test("a question ends message/stream, and its answer continues the task; tasks/resubscribe hears both [§5.8 legacy-streams]", async () => {
  await using host = await startWireHost();
  const events = await stream(await open(host, "message/stream", said("ask: Which colour?")));
  const asked = events.at(-1);
  deepStrictEqual([asked.status.state, asked.final], ["input-required", true]);
  deepStrictEqual(asked.status.message.parts, [{ kind: "text", text: "Which colour?" }]);
  const followed = await open(host, "tasks/resubscribe", { id: asked.taskId });
  const { taskId, contextId } = asked;
  const { result } = await call(host, "message/send", said("red", { taskId, contextId }));
  deepStrictEqual([result.id, result.status.state], [taskId, "completed"]);
  const heard = await stream(followed);
  deepStrictEqual([heard[0].kind, heard[0].status.state], ["task", "input-required"]);
  deepStrictEqual([heard.at(-1).status.state, heard.at(-1).final], ["completed", true]);
  strictEqual(heard.filter(({ final }) => final).length, 1);
});

Deno.test("tasks/cancel gives the canceled task, and tells why it cannot [§5.8 legacy-results, §5.8 legacy-errors]", async () => {
  await using host = await startWireHost();
  const { result: { id } } = await call(host, "message/send", said("ask: Which?"));
  const { result } = await call(host, "tasks/cancel", { id });
  deepStrictEqual([result.kind, result.status.state], ["task", "canceled"]);
  const { result: done } = await call(host, "message/send", said("hello"));
  strictEqual((await call(host, "tasks/cancel", { id: done.id })).error.code, -32002);
});

Deno.test("a file goes in and out in the shapes of 0.3 [§5.8 legacy-requests, §5.8 legacy-results]", async () => {
  await using host = await startWireHost();
  const file = { bytes: btoa("file: report.txt all is well"), name: "in.txt", mimeType: "text/plain" };
  const parts = [{ kind: "text", text: "file: report.txt all is well" }, { kind: "file", file }];
  const { result } = await call(host, "message/send", said("", { parts }));
  strictEqual(result.status.state, "completed");
  const made = result.artifacts.flatMap(({ parts }: Json) => parts).find(({ kind }: Json) => kind === "file");
  deepStrictEqual([made.file.name, atob(made.file.bytes)], ["report.txt", "all is well"]);
});

Deno.test("the extended card comes in 0.3, with the address where it is spoken [§5.8 legacy-results]", async () => {
  await using host = await startWireHost();
  const { result } = await call(host, "agent/getAuthenticatedExtendedCard");
  deepStrictEqual([result.protocolVersion, result.url, result.preferredTransport], [
    "0.3.0",
    `${origin}/a2a`,
    "JSONRPC",
  ]);
});

const errors: readonly { name: string; method: string; params: unknown; code: number; field?: string }[] = [
  { name: "an unknown task", method: "tasks/get", params: { id: unknownId }, code: -32001 },
  { name: "an id that is none of ours", method: "tasks/resubscribe", params: { id: "../x" }, code: -32001 },
  {
    name: "a message to an unknown task",
    method: "message/send",
    params: said("x", { taskId: unknownId }),
    code: -32001,
  },
  { name: "no params", method: "message/send", params: undefined, code: -32602, field: "message" },
  {
    name: "a name that is ours",
    method: "message/stream",
    params: said("", { parts: [{ kind: "data", data: { "volcanic.file": { path: "x" } } }] }),
    code: -32602,
    field: "message.parts[0].data",
  },
  {
    name: "bytes that are no base64",
    method: "message/send",
    params: said("", { parts: [{ kind: "file", file: { bytes: "!" } }] }),
    code: -32602,
    field: "message.parts[0].file.bytes",
  },
];

for (const { name, method, params, code, field } of errors) {
  Deno.test(`${method} refuses ${name} as 0.3 does [§5.8 legacy-errors]`, async () => {
    await using host = await startWireHost();
    const { error } = await call(host, method, params);
    strictEqual(error.code, code);
    const [info, ...more] = error.data.details;
    strictEqual(info["@type"], "type.googleapis.com/google.rpc.ErrorInfo");
    if (field !== undefined) {
      deepStrictEqual(more[0].fieldViolations.map((violation: Json) => violation.field), [field]);
    }
  });
}

Deno.test("a bug is told in 0.3, and in one fixed sentence [§5.8 legacy-errors]", async () => {
  await using host = await startWireHost({
    wrapStore: (store) => new Proxy(store, { get: (made, name) => name === "read" ? broken : Reflect.get(made, name) }),
  });
  const answer = await open(host, "tasks/get", { id: unknownId });
  const { error } = await answer.json();
  deepStrictEqual([answer.status, error.code, Array.isArray(error.data.details)], [500, -32603, true]);
  ok(!JSON.stringify(error).includes("SECRET"));
});

function broken(): never {
  throw new Error("SECRET");
}

Deno.test("over HTTP+JSON the version alone makes it ProtoJSON of 0.3 [§5.8 legacy-rest]", async () => {
  await using host = await startWireHost();
  const content = [{ text: "ask: Which?" }];
  const body = { message: { messageId: "r1", role: "ROLE_USER", content }, configuration: { blocking: true } };
  const { task } = await (await rest(host, ["POST", "message:send"], { body })).json();
  strictEqual(task.status.state, "TASK_STATE_INPUT_REQUIRED");
  deepStrictEqual(task.status.message.content, [{ text: "Which?" }]);
  const read = await (await rest(host, ["GET", `tasks/${task.id}?historyLength=0`])).json();
  deepStrictEqual([read.id, "history" in read, "content" in read.status.message], [task.id, false, true]);
  const canceled = await (await rest(host, ["POST", `tasks/${task.id}:cancel`])).json();
  strictEqual(canceled.status.state, "TASK_STATE_CANCELLED");
  const now = await (await rest(host, ["GET", `tasks/${task.id}`], { version: "1.0" })).json();
  strictEqual(now.status.state, "TASK_STATE_CANCELED");
});

Deno.test("message:stream of 0.3 gives events of its protobuf [§5.8 legacy-rest, §5.8 legacy-streams]", async () => {
  await using host = await startWireHost();
  const body = { message: { messageId: "r1", role: "ROLE_USER", content: [{ text: "hello" }] } };
  const events = await stream(await rest(host, ["POST", "message:stream"], { body }));
  deepStrictEqual(Object.keys(events[0]), ["task"]);
  const { statusUpdate } = events.at(-1);
  deepStrictEqual([statusUpdate.status.state, statusUpdate.final], ["TASK_STATE_COMPLETED", true]);
});

Deno.test("errors of 0.3 over HTTP+JSON have the code of JSON-RPC at the top [§5.8 legacy-rest, §5.8 legacy-errors]", async () => {
  await using host = await startWireHost();
  const refused = async (target: readonly [string, string], body?: unknown) => {
    const answer = await rest(host, target, { body });
    return [answer.status, (await answer.json()).code];
  };
  deepStrictEqual(await refused(["GET", `tasks/${unknownId}`]), [404, -32001]);
  deepStrictEqual(await refused(["POST", "message:send"], {}), [400, -32602]);
  deepStrictEqual(await refused(["GET", "tasks"]), [404, -32000]);
  deepStrictEqual(await refused(["GET", `tasks/${unknownId}/pushNotificationConfigs`]), [404, -32001]);
});
