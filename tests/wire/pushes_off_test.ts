import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { startWireHost } from "@tests/fakes/wire_host.ts";
import { bindings } from "@tests/fakes/wire_request.ts";
import type { AgentCardJson } from "@/protocol/agent_card.ts";
import type { Method } from "@/protocol/request_types.ts";

const url = "https://hooks.example.com/a";
const taskId = "00000000-0000-4000-8000-0000000000aa";
const withWebhook = {
  message: { role: "ROLE_USER", messageId: "m1", parts: [{ text: "hi" }] },
  configuration: { taskPushNotificationConfig: { url } },
};

const calls: readonly (readonly [method: Method, params: object])[] = [
  ["SendMessage", withWebhook],
  ["SendStreamingMessage", withWebhook],
  ["CreateTaskPushNotificationConfig", { taskId, url }],
  ["GetTaskPushNotificationConfig", { taskId, id: "a" }],
  ["ListTaskPushNotificationConfigs", { taskId }],
  ["DeleteTaskPushNotificationConfig", { taskId, id: "a" }],
];

Deno.test("an agent whose card has no pushes refuses every method about them, and a send with a webhook [§5.1 pushes-off]", async () => {
  const capabilities = { streaming: true, pushNotifications: false, extendedAgentCard: true };
  await using host = await startWireHost({ capabilities });
  for (const binding of bindings) {
    const card = await host.call(binding, "GetExtendedAgentCard");
    ok(card.kind === "result");
    strictEqual((card.result as AgentCardJson).capabilities.pushNotifications, false);
    for (const [method, params] of calls) {
      const reply = await host.call(binding, method, params);
      ok(reply.kind === "error", `${method}: ${JSON.stringify(reply)}`);
      deepStrictEqual(
        [reply.reason, reply.code, reply.http, reply.message],
        ["PUSH_NOTIFICATION_NOT_SUPPORTED", -32003, 400, "Push notifications are not supported"],
      );
    }
    const { result } = await host.call(binding, "ListTasks") as { result: { totalSize: number } };
    strictEqual(result.totalSize, 0);
  }
});
