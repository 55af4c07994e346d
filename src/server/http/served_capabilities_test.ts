import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { readReply } from "@tests/fakes/wire_reply.ts";
import { startWireHost } from "@tests/fakes/wire_host.ts";
import { bindings } from "@tests/fakes/wire_request.ts";
import type { Method } from "@/protocol/request_types.ts";
import { operations } from "@/server/operations/operations.ts";
import { ourCapabilities } from "./agent_card.ts";

const none = { streaming: false, pushNotifications: false, extendedAgentCard: false };
const message = { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "hello" }] };
const webhook = { taskPushNotificationConfig: { url: "https://example.com/hook" } };
const task = { id: "0b8f9d2e-4f5b-4c55-9f0a-3a5d0f0f3f11" };
const pushOfTask = { taskId: task.id, id: "p-1" };

const notThere: readonly { method: Method; params?: unknown; reason: string }[] = [
  { method: "SendStreamingMessage", params: { message }, reason: "UNSUPPORTED_OPERATION" },
  { method: "SubscribeToTask", params: task, reason: "UNSUPPORTED_OPERATION" },
  { method: "GetExtendedAgentCard", reason: "UNSUPPORTED_OPERATION" },
  {
    method: "CreateTaskPushNotificationConfig",
    params: { taskId: task.id, url: "https://example.com/hook" },
    reason: "PUSH_NOTIFICATION_NOT_SUPPORTED",
  },
  { method: "GetTaskPushNotificationConfig", params: pushOfTask, reason: "PUSH_NOTIFICATION_NOT_SUPPORTED" },
  {
    method: "ListTaskPushNotificationConfigs",
    params: { taskId: task.id },
    reason: "PUSH_NOTIFICATION_NOT_SUPPORTED",
  },
  { method: "DeleteTaskPushNotificationConfig", params: pushOfTask, reason: "PUSH_NOTIFICATION_NOT_SUPPORTED" },
  {
    method: "SendMessage",
    params: { message, configuration: webhook },
    reason: "PUSH_NOTIFICATION_NOT_SUPPORTED",
  },
];

const withExtensions = {
  ...ourCapabilities,
  extensions: [{ uri: "urn:needed", required: true }, { uri: "urn:optional" }],
};

/** Operations that must not be reached. */
const nothingIsDone = new Proxy(operations, {
  get: (_, method) => () => Promise.reject(new Error(`${String(method)} was reached`)),
});

for (const binding of bindings) {
  for (const { method, params, reason } of notThere) {
    Deno.test(`${method} over ${binding} is refused when the card has it not, and does nothing [§5.3 capabilities]`, async () => {
      await using host = await startWireHost({ capabilities: none, operations: nothingIsDone });
      const reply = await host.call(binding, method, params);
      strictEqual(reply.kind === "error" && reply.reason, reason);
    });
  }

  Deno.test(`plain requests over ${binding} are answered without any capability [§5.3 capabilities]`, async () => {
    await using host = await startWireHost({ capabilities: none });
    const reply = await host.call(binding, "SendMessage", { message });
    strictEqual(reply.kind, "result");
  });

  Deno.test(`a request over ${binding} that does not name a required extension is refused [§5.3 extensions]`, async () => {
    await using host = await startWireHost({ capabilities: withExtensions, operations: nothingIsDone });
    for (const named of ["", "urn:optional", "urn:needed:2", "urn:optional, https://example.com/urn:needed"]) {
      for (const [method, params] of [["SendMessage", { message }], ["GetTask", task], ["ListTasks", {}]] as const) {
        const answer = await host.open(binding, method, params, { headers: { "A2A-Extensions": named } });
        strictEqual(answer.headers.get("A2A-Extensions"), named.includes("urn:optional") ? "urn:optional" : null);
        const reply = await readReply(answer);
        deepStrictEqual(reply.kind === "error" && [reply.reason, reply.code, reply.http], [
          ...["EXTENSION_SUPPORT_REQUIRED", -32008, 400],
        ]);
      }
    }
  });

  const atWork = [
    { named: "urn:needed", active: "urn:needed" },
    { named: " urn:unknown ,urn:optional,urn:needed", active: "urn:needed, urn:optional" },
  ];
  for (const { named, active } of atWork) {
    Deno.test(`an answer over ${binding} to "${named}" names the extensions at work [§5.3 extensions]`, async () => {
      await using host = await startWireHost({ capabilities: withExtensions });
      for (const method of ["SendMessage", "SendStreamingMessage"] as const) {
        const answer = await host.open(binding, method, { message }, { headers: { "a2a-extensions": named } });
        strictEqual(answer.headers.get("A2A-Extensions"), active);
        strictEqual((await readReply(answer)).kind, method === "SendMessage" ? "result" : "events");
      }
    });
  }
}

Deno.test("a stranger is not told which extensions are at work [§5.3 extensions]", async () => {
  await using host = await startWireHost({ capabilities: withExtensions });
  const headers = { "A2A-Extensions": "urn:needed", "X-API-Key": "wrong" };
  const answer = await host.open("JSONRPC", "SendMessage", { message }, { headers });
  deepStrictEqual([answer.status, answer.headers.get("A2A-Extensions")], [401, null]);
  await answer.body?.cancel();
});
