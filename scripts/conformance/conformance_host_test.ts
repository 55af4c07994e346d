import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { readReply, type WireReply } from "@tests/fakes/wire_reply.ts";
import { type Binding, bindings, wireRequest } from "@tests/fakes/wire_request.ts";
import type { Method } from "@/protocol/request_types.ts";
import type { MessageJson, PartJson, TaskJson } from "@/protocol/task.ts";
import { openConformanceHost } from "./conformance_host.ts";
import { type KitProfile, kitProfiles } from "./kit_profiles.ts";

/** A host at a free port, and who asks it as the kit does: without a key. */
async function startKit(profile: KitProfile) {
  const host = await openConformanceHost("127.0.0.1:0", profile);
  const origin = `http://127.0.0.1:${host.address.port}`;
  const ask = async (binding: Binding, method: Method, params: unknown): Promise<WireReply> => {
    const request = wireRequest(binding, { method, params });
    const { pathname, search } = new URL(request.url);
    return await readReply(await fetch(new Request(origin + pathname + search, request)));
  };
  const card = async () => await (await fetch(`${origin}/.well-known/agent-card.json`)).json();
  return { ask, card, [Symbol.asyncDispose]: () => host[Symbol.asyncDispose]() };
}

function send(messageId: string, more: Partial<MessageJson> = {}) {
  return { message: { messageId: `${messageId}-abc123`, role: "ROLE_USER", parts: [{ text: "hi" }], ...more } };
}

const url: PartJson = { url: "https://example.com/output.txt", filename: "output.txt", mediaType: "text/plain" };
const raw = btoa("Generated file content");
const wanted: readonly { messageId: string; state: string; part?: PartJson }[] = [
  { messageId: "tck-complete-task", state: "COMPLETED", part: { text: "Hello from TCK" } },
  { messageId: "tck-artifact-text", state: "COMPLETED", part: { text: "Generated text content" } },
  {
    messageId: "tck-artifact-file",
    state: "COMPLETED",
    part: { raw, filename: "output.txt", mediaType: "text/plain" },
  },
  { messageId: "tck-artifact-file-url", state: "COMPLETED", part: url },
  { messageId: "tck-artifact-data", state: "COMPLETED", part: { data: { key: "value", count: 42 } } },
  { messageId: "tck-input-required", state: "INPUT_REQUIRED" },
  { messageId: "tck-reject-task", state: "FAILED" },
  { messageId: "tck-stream-artifact-chunked", state: "COMPLETED", part: { text: "chunk-1 chunk-2" } },
  { messageId: "anything-else", state: "COMPLETED", part: { text: "Hello from TCK" } },
];

Deno.test("the conformance host does with each message what the kit wants, on both bindings", async () => {
  await using kit = await startKit("full");
  for (const binding of bindings) {
    for (const { messageId, state, part } of wanted) {
      const reply = await kit.ask(binding, "SendMessage", send(messageId));
      ok(reply.kind === "result", JSON.stringify(reply));
      const { task } = reply.result as { task: TaskJson };
      strictEqual(task.status.state, `TASK_STATE_${state}`, messageId);
      deepStrictEqual(task.artifacts?.[0]?.parts[0], part, messageId);
    }
    const direct = await kit.ask(binding, "SendMessage", send("tck-message-response", { contextId: "c-1" }));
    ok(direct.kind === "result");
    const { message } = direct.result as { message: MessageJson };
    deepStrictEqual([message.parts, message.contextId], [[{ text: "Direct message response" }], "c-1"]);
    const stream = await kit.ask(binding, "SendStreamingMessage", send("tck-stream-001"));
    ok(stream.kind === "events" && stream.events.length >= 3);
  }
});

Deno.test("the conformance host does in each profile what its card says", async () => {
  for (const profile of ["full", "quiet", "extension"] as const) {
    await using kit = await startKit(profile);
    deepStrictEqual((await kit.card()).capabilities, kitProfiles[profile]);
    for (const binding of bindings) {
      const sent = await kit.ask(binding, "SendMessage", send("tck-complete-task"));
      strictEqual(sent.kind, "result");
      const bare = await kit.ask(binding, "SendMessage", send("tck-cap-ext-004-jsonrpc"));
      strictEqual(
        bare.kind === "error" ? bare.reason : bare.kind,
        profile === "extension" ? "EXTENSION_SUPPORT_REQUIRED" : "result",
      );
      const stream = await kit.ask(binding, "SendStreamingMessage", send("tck-stream-001"));
      strictEqual(
        stream.kind === "error" ? stream.reason : "events",
        profile === "quiet" ? "UNSUPPORTED_OPERATION" : "events",
      );
      const { task } = (sent as { result: { task: TaskJson } }).result;
      const push = { taskId: task.id, url: "http://127.0.0.1:6109/kit" }; // where the kit listens for its pushes
      const set = await kit.ask(binding, "CreateTaskPushNotificationConfig", push);
      strictEqual(
        set.kind === "error" ? set.reason : set.kind,
        profile === "quiet" ? "PUSH_NOTIFICATION_NOT_SUPPORTED" : "result",
      );
    }
  }
});
