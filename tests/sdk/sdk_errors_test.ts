import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import type { TaskPushNotificationConfig } from "@a2a-js/sdk";
import {
  type A2AError,
  isJsonRpcError,
  isRestError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from "@a2a-js/sdk/errors";
import { bindings } from "@tests/fakes/wire_request.ts";
import { atOnce, said, sdkKeys, type SdkSetting, startSdkSetting, stateOf, taskOf } from "./sdk_setting.ts";

const unknownId = "330de81c-72cd-45b4-a96d-30c772e5bf3f";
const none = { tenant: "", metadata: undefined };

type Calls = readonly (() => Promise<unknown>)[];

/** What makes an error, the class that the SDK makes of it, and its codes over JSON-RPC and HTTP+JSON. */
interface Row {
  readonly name: string;
  readonly error: new (...args: never[]) => A2AError;
  readonly code: number;
  readonly http: number;
  readonly message: RegExp;
  /** All of these are answered alike. */
  readonly calls: (setting: SdkSetting) => Calls | Promise<Calls>;
}

const rows: readonly Row[] = [
  {
    name: "an unknown task [§5.1 sdk-errors, §5.2 not-found-alike]",
    ...{ error: TaskNotFoundError, code: -32001, http: 404, message: /^Task not found$/ },
    calls: ({ client }) => allOfTask(client, unknownId),
  },
  {
    name: "another caller's task [§5.1 sdk-errors, §5.2 not-found-alike]",
    ...{ error: TaskNotFoundError, code: -32001, http: 404, message: /^Task not found$/ },
    calls: async ({ client, bob }) => allOfTask(bob, (await taskOf(client.sendMessage(said("ask: Which?")))).id),
  },
  {
    name: "a cancel of what is over [§5.1 sdk-errors]",
    ...{ error: TaskNotCancelableError, code: -32002, http: 400, message: /over/ },
    calls: async ({ client }) => {
      const { id } = await taskOf(client.sendMessage(said("hi")));
      return [() => client.cancelTask({ ...none, id })];
    },
  },
  {
    name: "a webhook of an unknown task [§5.1 sdk-errors, §5.2 not-found-alike]",
    ...{ error: TaskNotFoundError, code: -32001, http: 404, message: /^Task not found$/ },
    calls: ({ client }) => webhookCalls(client, unknownId),
  },
  {
    name: "a webhook of another caller's task [§5.1 sdk-errors, §5.2 not-found-alike]",
    ...{ error: TaskNotFoundError, code: -32001, http: 404, message: /^Task not found$/ },
    calls: async ({ client, bob }) => webhookCalls(bob, (await taskOf(client.sendMessage(said("ask: Which?")))).id),
  },
  {
    name: "a webhook that leads inside [§5.1 sdk-errors, §5.7 url-judged]",
    ...{ error: RequestMalformedError, code: -32602, http: 400, message: /url is refused: it cannot be reached/ },
    calls: async ({ client }) => {
      const { id: taskId } = await taskOf(client.sendMessage(said("hi")));
      const taskPushNotificationConfig = webhook(taskId, "https://127.0.0.1/hook");
      return [
        () => client.createTaskPushNotificationConfig(taskPushNotificationConfig),
        () => client.sendMessage(said("hi", { configuration: { taskPushNotificationConfig } })),
      ];
    },
  },
  {
    name: "a message to what is over, and a subscription [§5.1 sdk-errors, §5.5 subscribe-task-first]",
    ...{ error: UnsupportedOperationError, code: -32004, http: 400, message: /./ },
    calls: async ({ client }) => {
      const { id } = await taskOf(client.sendMessage(said("hi")));
      return [
        () => client.sendMessage(said("more", { taskId: id })),
        () => client.sendMessageStream(said("more", { taskId: id })).next(),
        () => client.resubscribeTask({ tenant: "", id }).next(),
      ];
    },
  },
  {
    name: "a context at work [§5.1 sdk-errors, §5.10 busy-is-the-contexts]",
    ...{ error: UnsupportedOperationError, code: -32004, http: 400, message: /^context busy, / },
    calls: async ({ client }) => {
      const { contextId } = await taskOf(client.sendMessage(said("wait: 30s", atOnce)));
      return [() => client.sendMessage(said("hi", { contextId }))];
    },
  },
  {
    name:
      "a message that says nothing, a task of another context, hops that are no number [§5.1 sdk-errors, §5.1 bad-input]",
    ...{ error: RequestMalformedError, code: -32602, http: 400, message: /./ },
    calls: async ({ client }) => {
      const { id } = await taskOf(client.sendMessage(said("ask: Which?")));
      const empty = said("");
      empty.message!.parts = [];
      return [
        () => client.sendMessage(empty),
        () => client.sendMessageStream(empty).next(),
        () => client.sendMessage(said("Blue", { taskId: id, contextId: "another" })),
        () => client.sendMessage(said("hi", { metadata: { "volcanic.hops": -1 } })),
      ];
    },
  },
  {
    name: "a version that is not spoken [§5.1 sdk-errors, §5.8 every-method]",
    ...{ error: VersionNotSupportedError, code: -32009, http: 400, message: /version/i },
    calls: async ({ clientWith }) => {
      const client = await clientWith({ "X-API-Key": sdkKeys.alice, "A2A-Version": "2.0" });
      return [...allOfTask(client, unknownId), () => client.sendMessage(said("hi"))];
    },
  },
];

for (const binding of bindings) {
  Deno.test(`the SDK's client of A2A 1.0 over ${binding} makes its own errors of ours`, async (test) => {
    await using setting = await startSdkSetting(binding);
    for (const { name, error, code, http, message, calls } of rows) {
      await test.step(name, async () => {
        for (const call of await calls(setting)) {
          await rejects(call, (found: A2AError) => {
            ok(found instanceof error, `${found.name}: ${found.message}`);
            ok(message.test(found.message), found.message);
            if (binding === "JSONRPC") strictEqual(isJsonRpcError(found) && found.envelopeCode, code);
            else strictEqual(isRestError(found) && found.statusCode, http);
            return true;
          });
        }
      });
    }
    await test.step("no key, and a wrong one [§5.1 sdk-errors, §5.2 challenge]", () => withoutKey(setting));
    await test.step("and none of it left anything at work [§5.1 bad-input]", () => nothingLeft(setting));
  });
}

function webhook(taskId: string, url: string): TaskPushNotificationConfig {
  return { tenant: "", id: "p", taskId, url, token: "", authentication: undefined };
}

function webhookCalls(client: SdkSetting["client"], taskId: string): Calls {
  const one = { tenant: "", taskId, id: "p" };
  return [
    () => client.createTaskPushNotificationConfig(webhook(taskId, "https://example.com/hook")),
    () => client.getTaskPushNotificationConfig(one),
    () => client.listTaskPushNotificationConfig({ tenant: "", taskId, pageSize: 0, pageToken: "" }),
    () => client.deleteTaskPushNotificationConfig(one),
  ];
}

function allOfTask(client: SdkSetting["client"], id: string): Calls {
  return [
    () => client.getTask({ tenant: "", id }),
    () => client.cancelTask({ ...none, id }),
    () => client.resubscribeTask({ tenant: "", id }).next(),
    () => client.sendMessage(said("Blue", { taskId: id })),
    () => client.sendMessageStream(said("Blue", { taskId: id })).next(),
  ];
}

/** The SDK has no class for it: over JSON-RPC there is our text, or the status when it asked for a stream. */
async function withoutKey({ clientWith, binding }: SdkSetting): Promise<void> {
  const clients = [await clientWith({}), await clientWith({ "X-API-Key": "k_nobody_0123456789" })];
  for (const client of clients) {
    const calls: readonly (() => Promise<unknown>)[] = [
      () => client.sendMessage(said("hi")),
      () => client.getTask({ tenant: "", id: unknownId }),
      () => client.sendMessageStream(said("hi")).next(),
      () => client.getAgentCard(),
    ];
    for (const call of calls) {
      await rejects(call, (found: Error) => {
        if (binding === "HTTP+JSON") strictEqual(isRestError(found) && found.statusCode, 401);
        else ok(/^A valid key is required$|\b401\b/.test(found.message), found.message);
        return true;
      });
    }
  }
}

async function nothingLeft({ client }: SdkSetting): Promise<void> {
  const everything = { tenant: "", contextId: "", status: 0, pageToken: "", statusTimestampAfter: undefined };
  const { tasks } = await client.listTasks({ ...everything, pageSize: 100 });
  const states = tasks.map(stateOf).sort();
  const waiting = Array(3).fill("input-required");
  deepStrictEqual(states, ["completed", "completed", "completed", ...waiting, "working"]);
}
