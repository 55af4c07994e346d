import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { hookUrl, type PushPeer, startPushPeer } from "@tests/fakes/push_peer.ts";
import { peerKeys } from "@tests/fakes/test_peer.ts";
import { origin } from "@tests/fakes/wire_request.ts";

// deno-lint-ignore no-explicit-any -- the JSON of another version, as it came
type Json = any;

const secrets = {
  token: "SECRET-token",
  authentication: { schemes: ["Bearer"], credentials: "SECRET-credentials" },
};

/** Calls at an address of ours, in version 0.3. */
async function post(made: PushPeer, path: string, body: unknown): Promise<Json> {
  const headers = { "Content-Type": "application/json", "X-API-Key": peerKeys.alice, "A2A-Version": "0.3" };
  const request = new Request(`${origin}/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return await (await made.peer.fetch(request)).json();
}

async function call(made: PushPeer, method: string, params: unknown): Promise<Json> {
  return await post(made, "a2a", { jsonrpc: "2.0", id: 1, method, params });
}

/** The ways to set a webhook over 0.3; each resolves when it is set, and the task that it is of runs, or ran. */
const settings: readonly { readonly name: string; readonly set: (made: PushPeer) => Promise<unknown> }[] = [
  {
    name: "with a message over JSON-RPC",
    set: (made) =>
      call(made, "message/send", {
        message: { kind: "message", messageId: "m1", role: "user", parts: [{ kind: "text", text: "hi" }] },
        configuration: { pushNotificationConfig: { id: "p", url: hookUrl, ...secrets } },
      }),
  },
  {
    name: "with a message over HTTP+JSON",
    set: (made) =>
      post(made, "a2a/v1/message:send", {
        message: { messageId: "m1", role: "ROLE_USER", content: [{ text: "hi" }] },
        configuration: { blocking: true, pushNotification: { id: "p", url: hookUrl, ...secrets } },
      }),
  },
  {
    name: "on a task over JSON-RPC",
    async set(made) {
      const { id: taskId } = await over(made);
      const pushNotificationConfig = { id: "p", url: hookUrl, ...secrets };
      await call(made, "tasks/pushNotificationConfig/set", { taskId, pushNotificationConfig });
    },
  },
  {
    name: "on a task over HTTP+JSON",
    async set(made) {
      const { id } = await over(made);
      const config = { name: "p", pushNotificationConfig: { id: "p", url: hookUrl, ...secrets } };
      await post(made, `a2a/v1/tasks/${id}/pushNotificationConfigs`, { parent: `tasks/${id}`, configId: "p", config });
    },
  },
];

async function over(made: PushPeer): Promise<{ readonly id: string }> {
  const task = await made.send("hi");
  await made.clock.settle();
  return task;
}

for (const { name, set } of settings) {
  Deno.test(`a webhook that was set ${name} of 0.3 is told a task of 0.3 [§5.7 legacy, §5.7 headers]`, async () => {
    await using made = await startPushPeer();
    await set(made);
    await made.told(name.startsWith("with") ? ["1 submitted", "2 working", "3 completed"] : ["3 completed"]);
    const { headers, body } = made.outbound.requests.at(-1)!;
    deepStrictEqual([headers!["Content-Type"], headers!["X-A2A-Notification-Token"], headers!.Authorization], [
      "application/json",
      "SECRET-token",
      "Bearer SECRET-credentials",
    ]);
    const { kind, status, artifacts, metadata, ...rest } = JSON.parse(new TextDecoder().decode(body as Uint8Array));
    deepStrictEqual([kind, status.state, metadata["volcanic.seq"]], ["task", "completed", 3]);
    deepStrictEqual(artifacts.map(({ parts }: Json) => parts), [[{ kind: "text", text: "hi" }]]);
    deepStrictEqual(Object.keys(rest).sort(), ["contextId", "id"]);
  });
}

Deno.test("the methods about webhooks answer in the shapes of 0.3, and find one by its task [§5.8 legacy-methods, §5.8 legacy-results]", async () => {
  await using made = await startPushPeer();
  const { id: taskId } = await made.send("ask: Which?");
  await made.clock.settle();
  const shown = {
    taskId,
    pushNotificationConfig: { id: taskId, url: hookUrl, authentication: { schemes: ["Bearer"] } },
  };
  const method = (name: string) => `tasks/pushNotificationConfig/${name}`;
  const params = { taskId, pushNotificationConfig: { url: hookUrl, ...secrets } };
  deepStrictEqual((await call(made, method("set"), params)).result, shown);
  deepStrictEqual((await call(made, method("get"), { id: taskId })).result, shown);
  deepStrictEqual((await call(made, method("list"), { id: taskId })).result, [shown]);
  strictEqual((await call(made, method("delete"), { id: taskId, pushNotificationConfigId: taskId })).result, null);
  strictEqual((await call(made, method("get"), { id: taskId })).error.code, -32001);
});

Deno.test("a webhook that is refused over 0.3 is refused by the names of 0.3 [§5.8 legacy-errors, §5.7 url-judged, case 31]", async () => {
  await using made = await startPushPeer();
  const { id: taskId } = await made.send("ask: Which?");
  await made.clock.settle();
  const url = "https://10.0.0.1/hook";
  const message = { kind: "message", messageId: "m1", role: "user", parts: [{ kind: "text", text: "hi" }] };
  const said = { message, configuration: { pushNotificationConfig: { url } } };
  const set = { taskId, pushNotificationConfig: { url } };
  const rows = [
    [await call(made, "message/send", said), "configuration.pushNotificationConfig.url"],
    [await call(made, "tasks/pushNotificationConfig/set", set), "pushNotificationConfig.url"],
    [{ error: await post(made, `a2a/v1/tasks/${taskId}/pushNotificationConfigs`, set) }, "pushNotificationConfig.url"],
  ] as const;
  for (const [{ error }, field] of rows) {
    const description = "is refused: it cannot be reached or is not allowed";
    deepStrictEqual([error.code, error.message], [-32602, `Cannot read the request: ${field} ${description}`]);
    const found = error.data.details.find(({ fieldViolations }: Json) => fieldViolations !== undefined);
    deepStrictEqual(found.fieldViolations, [{ field, description }]);
  }
  deepStrictEqual(made.outbound.requests, []);
});
