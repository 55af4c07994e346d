import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { startWireHost, type WireHost } from "@tests/fakes/wire_host.ts";
import type { WireReply } from "@tests/fakes/wire_reply.ts";
import { bindings } from "@tests/fakes/wire_request.ts";
import { badMessages } from "@tests/wire/bad_messages.ts";
import type { Method } from "@/protocol/request_types.ts";

const id = "00000000-0000-4000-8000-0000000000aa";
const push = { taskId: id, url: "https://hooks.example/" };

/** The field of the first violation of a refusal as INVALID_PARAMS; undefined when it names none. */
function fieldOf(reply: WireReply): string | undefined {
  ok(reply.kind === "error", JSON.stringify(reply));
  deepStrictEqual([reply.reason, reply.code, reply.http], ["INVALID_PARAMS", -32602, 400]);
  const [, badRequest] = reply.details;
  return (badRequest?.fieldViolations as readonly { readonly field: string }[] | undefined)?.[0]?.field;
}

/** Nothing is stored and nothing ran: not a byte was written, not even of a transcript. */
async function nothingHappened(host: WireHost, before: number): Promise<void> {
  await host.clock.settle();
  strictEqual(host.disk.bytesWritten, before);
  const listed = await host.call("JSONRPC", "ListTasks");
  deepStrictEqual(listed, { kind: "result", result: { tasks: [], nextPageToken: "", pageSize: 50, totalSize: 0 } });
}

for (const { name, params, field } of badMessages) {
  Deno.test(`both bindings refuse ${name} alike, and nothing happens [§5.1 bad-input, §5.1 equal-bindings]`, async () => {
    await using host = await startWireHost();
    const before = host.disk.bytesWritten;
    const replies: WireReply[] = [];
    for (const method of ["SendMessage", "SendStreamingMessage"] as const) {
      for (const binding of bindings) replies.push(await host.call(binding, method, params));
    }
    strictEqual(fieldOf(replies[0]!), field);
    for (const reply of replies) deepStrictEqual(reply, replies[0]);
    await nothingHappened(host, before);
  });
}

interface Row {
  readonly method: Method;
  readonly params: Readonly<Record<string, unknown>>;
  readonly field: string;
  /** There is no way to say it in an address. */
  readonly rpcOnly?: boolean;
}

const rows: readonly Row[] = [
  ...[-1, 1.5, "abc", 2 ** 31].flatMap((historyLength) => [
    { method: "GetTask" as const, params: { id, historyLength }, field: "historyLength" },
    { method: "ListTasks" as const, params: { historyLength }, field: "historyLength" },
  ]),
  ...[0, -1, 101, 1.5, "x"].map((pageSize) => ({
    method: "ListTasks" as const,
    params: { pageSize },
    field: "pageSize",
  })),
  ...["working", "TASK_STATE_DONE", "completed", 99].map((status) => ({
    method: "ListTasks" as const,
    params: { status },
    field: "status",
  })),
  ...["today", "2026-13-01T00:00:00Z", "12"].map((statusTimestampAfter) => ({
    method: "ListTasks" as const,
    params: { statusTimestampAfter },
    field: "statusTimestampAfter",
  })),
  ...["yes", "1", "TRUE"].map((includeArtifacts) => ({
    method: "ListTasks" as const,
    params: { includeArtifacts },
    field: "includeArtifacts",
  })),
  { method: "ListTasks", params: { pageToken: "x".repeat(3000) }, field: "pageToken" },
  { method: "ListTasks", params: { pageSize: 1, page_size: 1 }, field: "pageSize" },
  { method: "ListTasks", params: { contextId: "c".repeat(300) }, field: "contextId" },
  { method: "CancelTask", params: { id, metadata: [] }, field: "metadata" },
  { method: "CreateTaskPushNotificationConfig", params: { taskId: id }, field: "url" },
  { method: "CreateTaskPushNotificationConfig", params: { ...push, url: "http://" }, field: "url" },
  { method: "CreateTaskPushNotificationConfig", params: { ...push, token: "a\r\nb" }, field: "token" },
  { method: "CreateTaskPushNotificationConfig", params: { ...push, id: "a/b" }, field: "id" },
  {
    method: "CreateTaskPushNotificationConfig",
    params: { ...push, authentication: { scheme: "Bearer", credentials: "" } },
    field: "authentication.credentials",
  },
  { method: "ListTaskPushNotificationConfigs", params: { taskId: id, pageSize: -1 }, field: "pageSize" },
  ...(["GetTask", "CancelTask", "SubscribeToTask"] as const).flatMap((method) => [
    { method, params: {}, field: "id", rpcOnly: true },
    { method, params: { id: 1 }, field: "id", rpcOnly: true },
    { method, params: { id: "x".repeat(257) }, field: "id" },
    { method, params: { id: " " }, field: "id" },
  ]),
];
for (const { method, params, field, rpcOnly } of rows) {
  const name = `${method} of ${JSON.stringify(params).slice(0, 90)}`;
  Deno.test(`both bindings refuse ${name} alike [§5.1 bad-input, §5.1 equal-bindings]`, async () => {
    await using host = await startWireHost();
    const before = host.disk.bytesWritten;
    const replies: WireReply[] = [];
    for (const binding of rpcOnly ? ["JSONRPC" as const] : bindings) {
      replies.push(await host.call(binding, method, params));
    }
    for (const reply of replies) strictEqual(fieldOf(reply), field);
    for (const reply of replies) deepStrictEqual(reply, replies[0]);
    await nothingHappened(host, before);
  });
}

Deno.test("fields that nobody knows are ignored, and stored nowhere [§5.1 bad-input]", async () => {
  await using host = await startWireHost();
  const message = {
    messageId: "m",
    role: "ROLE_USER",
    parts: [{ text: "hi", kind: "text", generation: 1 }],
    kind: "message",
    __proto_: { x: 1 },
  };
  for (const binding of bindings) {
    const reply = await host.call(binding, "SendMessage", {
      message,
      blocking: true,
      configuration: { blocking: true },
    });
    strictEqual(reply.kind, "result");
    ok(!JSON.stringify(reply).includes('kind":"message'));
    ok(!JSON.stringify(reply).includes("generation"));
  }
});

Deno.test("ProtoJSON's other forms are taken: numbers for enums, null for unset, texts for numbers [§5.1 proto-json]", async () => {
  await using host = await startWireHost();
  for (const binding of bindings) {
    const reply = await host.call(binding, "SendMessage", {
      message: { message_id: "m", role: 1, parts: [{ text: "hi", raw: null, media_type: null }], task_id: null },
      configuration: { history_length: "0", return_immediately: null, accepted_output_modes: [] },
      metadata: null,
    });
    ok(reply.kind === "result");
    const { task } = reply.result as { readonly task: Readonly<Record<string, unknown>> };
    ok(!("history" in task) && "artifacts" in task);
  }
  const listed = await host.call("JSONRPC", "ListTasks", { status: 3, page_size: "1", context_id: "" });
  ok(listed.kind === "result" && (listed.result as { totalSize: number }).totalSize === 2, JSON.stringify(listed));
});
