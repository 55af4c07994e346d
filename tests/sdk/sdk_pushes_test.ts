import { deepStrictEqual, ok, rejects, strictEqual, throws } from "node:assert/strict";
import type { TaskPushNotificationConfig } from "@a2a-js/sdk";
import { RequestMalformedError, TaskNotFoundError } from "@a2a-js/sdk/errors";
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from "a2a-sdk-03/client";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { type PushReceiver, type ReceivedPush, startPushReceiver } from "@tests/fakes/push_receiver.ts";
import { startProgram } from "@tests/fakes/serve_process.ts";
import { bindings } from "@tests/fakes/wire_request.ts";
import { atOnce, said, sdkKeys, type SdkSetting, startSdkSetting, stateOf, taskOf } from "./sdk_setting.ts";

interface PushSetting extends SdkSetting {
  readonly receiver: PushReceiver;
}

/** What the SDK's client is asked to do about pushes with the started program; each row has paths of its own. */
const rows: readonly { readonly name: string; readonly run: (setting: PushSetting) => Promise<void> }[] = [
  { name: "sends a webhook along and is pushed each status, signed [§5.7 inline, §5.7 signature]", run: sendsAlong },
  { name: "sets, reads, lists and deletes webhooks [§5.7 config-methods, §5.7 secrets-unseen]", run: keepsWebhooks },
  { name: "is pushed what became of its question [§5.7 config-methods]", run: answersQuestion },
  { name: "is refused what leads to a metadata server [§5.7 url-judged, case 31]", run: isRefused },
];

const loopback = ["--allow-private-push-urls", "true"];

for (const binding of bindings) {
  Deno.test(`the SDK's client of A2A 1.0 over ${binding} gets pushes of the started program`, async (test) => {
    await using receiver = startPushReceiver();
    await using setting = await startSdkSetting(binding, ...loopback);
    for (const { name, run } of rows) await test.step(name, () => run({ ...setting, receiver }));
    setting.serve.kill("SIGTERM");
    const { code, error } = await setting.serve.ended;
    strictEqual(code, 0);
    ok(!/"level":"(?:warning|error|fatal)"/.test(error), error);
  });
}

Deno.test("the SDK's client of A2A 0.3 gets pushes of the started program in its shapes [§5.7 legacy, §5.8 legacy-client]", async () => {
  await using receiver = startPushReceiver();
  await using setting = await startSdkSetting("JSONRPC", ...loopback);
  const fetchImpl: typeof fetch = (input, init) => {
    return fetch(input, { ...init, headers: [...new Headers(init?.headers), ["X-API-Key", sdkKeys.alice]] });
  };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  const client = await factory.createFromUrl(setting.address, "/.well-known/agent.json");
  const parts = [{ kind: "text" as const, text: "hi" }];
  const authentication = { schemes: ["Bearer"], credentials: "SECRET-credentials" };
  const pushNotificationConfig = { id: "p", url: `${receiver.url}/legacy`, token: "SECRET-token", authentication };
  const sent = await client.sendMessage({
    message: { kind: "message", messageId: "m1", role: "user", parts },
    configuration: { blocking: true, pushNotificationConfig },
  });
  ok(sent.kind === "task");
  const pushes = await receiver.arrived("/legacy", 3);
  const secret = await secretOf(setting);
  deepStrictEqual(pushes.map((push) => verified(push, secret).status.state), ["submitted", "working", "completed"]);
  for (const { headers } of pushes) {
    strictEqual(headers.get("Content-Type"), "application/json");
    strictEqual(headers.get("Authorization"), "Bearer SECRET-credentials");
    strictEqual(headers.get("X-A2A-Notification-Token"), "SECRET-token");
  }
  const { kind, id, artifacts } = verified(pushes[2]!, secret);
  deepStrictEqual([kind, id, artifacts[0].parts], ["task", sent.id, parts]);
  const one = { id: sent.id, pushNotificationConfigId: "p" };
  strictEqual((await client.getTaskPushNotificationConfig(one)).pushNotificationConfig.url, pushNotificationConfig.url);
  await client.deleteTaskPushNotificationConfig(one);
  deepStrictEqual(await client.listTaskPushNotificationConfig({ id: sent.id }), []);
});

async function sendsAlong(setting: PushSetting): Promise<void> {
  const { client, receiver } = setting;
  const taskPushNotificationConfig = webhook({
    ...{ id: "p", url: `${receiver.url}/along`, token: "SECRET-token" },
    authentication: { scheme: "Bearer", credentials: "SECRET-credentials" },
  });
  const task = await taskOf(client.sendMessage(said("hi", { configuration: { taskPushNotificationConfig } })));
  const pushes = await receiver.arrived("/along", 3);
  const secret = await secretOf(setting);
  const told = pushes.map((push) => verified(push, secret).task);
  deepStrictEqual(told.map(({ id, status }) => [id, status.state]), [
    [task.id, "TASK_STATE_SUBMITTED"],
    [task.id, "TASK_STATE_WORKING"],
    [task.id, "TASK_STATE_COMPLETED"],
  ]);
  deepStrictEqual(told[2].artifacts[0].parts, [{ text: "hi" }]);
  for (const { headers } of pushes) {
    strictEqual(headers.get("Content-Type"), "application/a2a+json");
    strictEqual(headers.get("Authorization"), "Bearer SECRET-credentials");
    strictEqual(headers.get("X-A2A-Notification-Token"), "SECRET-token");
  }
  const ids = pushes.map(({ headers }) => headers.get("webhook-id"));
  deepStrictEqual(ids, [1, 2, 3].map((seq) => `${task.id}_p_${seq}`));
  const another = await secretOf(setting, "bob");
  throws(() => verified(pushes[0]!, another), WebhookVerificationError);
}

async function keepsWebhooks({ client, bob, receiver }: PushSetting): Promise<void> {
  const { id: taskId } = await taskOf(client.sendMessage(said("hang", atOnce)));
  const config = webhook({ id: "a", taskId, url: `${receiver.url}/kept`, token: "SECRET-token" });
  const shown = { ...config, token: "" };
  deepStrictEqual(await client.createTaskPushNotificationConfig(config), shown);
  const made = await client.createTaskPushNotificationConfig({ ...config, id: "" });
  ok(made.id !== "" && made.id !== "a");
  deepStrictEqual(await client.getTaskPushNotificationConfig({ tenant: "", taskId, id: "a" }), shown);
  const all = { tenant: "", taskId, pageSize: 0, pageToken: "" }; // over HTTP+JSON this client does not send the others
  deepStrictEqual((await client.listTaskPushNotificationConfig(all)).configs, [shown, made]);
  await rejects(bob.getTaskPushNotificationConfig({ tenant: "", taskId, id: "a" }), isTaskNotFound);
  await receiver.arrived("/kept", 2);
  for (const id of ["a", "a", made.id]) await client.deleteTaskPushNotificationConfig({ tenant: "", taskId, id });
  await rejects(client.getTaskPushNotificationConfig({ tenant: "", taskId, id: "a" }), isTaskNotFound);
  deepStrictEqual((await client.listTaskPushNotificationConfig(all)).configs, []);
  strictEqual(stateOf(await client.cancelTask({ id: taskId, tenant: "", metadata: undefined })), "canceled");
  strictEqual(receiver.at("/kept").length, 2);
}

async function answersQuestion({ client, receiver }: PushSetting): Promise<void> {
  const { id: taskId } = await taskOf(client.sendMessage(said("ask: Which?")));
  await client.createTaskPushNotificationConfig(webhook({ id: "p", taskId, url: `${receiver.url}/asked` }));
  const [asked] = await receiver.arrived("/asked", 1);
  deepStrictEqual(JSON.parse(asked!.body).task.status.message.parts, [{ text: "Which?" }]);
  await client.sendMessage(said("Blue", { taskId }));
  const states = (await receiver.arrived("/asked", 3)).map(({ body }) => JSON.parse(body).task.status.state);
  deepStrictEqual(states, ["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]);
}

async function isRefused({ client }: PushSetting): Promise<void> {
  const { id: taskId } = await taskOf(client.sendMessage(said("hi")));
  const config = webhook({ id: "p", taskId, url: "http://169.254.169.254/latest" });
  await rejects(client.createTaskPushNotificationConfig(config), isMalformed);
  const sent = client.sendMessage(said("hi", { configuration: { taskPushNotificationConfig: config } }));
  await rejects(sent, isMalformed);
}

const isTaskNotFound = (error: unknown) => error instanceof TaskNotFoundError;
const isMalformed = (error: unknown) => error instanceof RequestMalformedError;

function webhook(set: Partial<TaskPushNotificationConfig> & { readonly url: string }): TaskPushNotificationConfig {
  return { ...{ tenant: "", id: "", taskId: "", token: "", authentication: undefined }, ...set };
}

/** What `callers secret` prints. */
async function secretOf({ paths }: SdkSetting, caller = "alice"): Promise<string> {
  await using command = startProgram(["callers", "secret", caller, "--workspace", paths.root]);
  const { code, out, error } = await command.ended;
  strictEqual(code, 0, error);
  return out.trim();
}

/** The body of a push that was signed with a secret, by the library that receivers use. */
// deno-lint-ignore no-explicit-any -- the JSON of two versions
function verified({ headers, body }: ReceivedPush, secret: string): any {
  return new Webhook(secret).verify(body, Object.fromEntries(headers));
}
