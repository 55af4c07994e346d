import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransport,
  JsonRpcTransportFactory,
  RestTransport,
  RestTransportFactory,
  TaskNotCancelableError,
  TaskNotFoundError,
} from "a2a-sdk-03/client";
import { keys, startWireHost, type WireHost } from "@tests/fakes/wire_host.ts";

const unknownId = "330de81c-72cd-45b4-a96d-30c772e5bf3f";

/** A host behind a socket, and the SDK of A2A 0.3 as it is published, at both of its transports. */
interface ClientSetting extends AsyncDisposable {
  readonly host: WireHost;
  /** Made from our card alone. */
  readonly client: Client;
  readonly rpc: JsonRpcTransport;
  /** Sends the version that this SDK does not know of: without it our addresses speak 1.0. */
  readonly rest: RestTransport;
}

async function startSetting(): Promise<ClientSetting> {
  const host = await startWireHost();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => host.fetch(request));
  const base = `http://127.0.0.1:${server.addr.port}`;
  const fetchWith = (more: Readonly<Record<string, string>>): typeof fetch => (input, init) => {
    const headers = new Headers(init?.headers);
    for (const [name, value] of Object.entries(more)) headers.set(name, value);
    return fetch(input, { ...init, headers });
  };
  const fetchImpl = fetchWith({ "X-API-Key": keys.alice });
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  const restFetch = fetchWith({ "X-API-Key": keys.alice, "A2A-Version": "0.3" });
  return {
    host,
    client: await factory.createFromUrl(base, "/.well-known/agent.json"),
    rpc: new JsonRpcTransport({ endpoint: `${base}/a2a`, fetchImpl }),
    rest: new RestTransport({ endpoint: `${base}/a2a`, fetchImpl: restFetch }),
    async [Symbol.asyncDispose]() {
      await server.shutdown();
      await host[Symbol.asyncDispose]();
    },
  };
}

let messages = 0;

/** What the SDK sends for this text. */
function said(text: string, more: { readonly taskId?: string; readonly contextId?: string } = {}) {
  const parts = [{ kind: "text" as const, text }];
  return { message: { kind: "message" as const, messageId: `m${++messages}`, role: "user" as const, parts, ...more } };
}

type Sent = Awaited<ReturnType<Client["sendMessage"]>>;

function taskOf(sent: Sent): Sent & { kind: "task" } {
  ok(sent.kind === "task");
  return sent;
}

Deno.test("a client of 0.3 works from our card: send, get, cancel, the extended card [§5.8 legacy-client]", async () => {
  await using setting = await startSetting();
  const { client } = setting;
  const task = taskOf(await client.sendMessage(said("hello")));
  deepStrictEqual([task.status.state, task.artifacts?.[0]?.parts], ["completed", [{ kind: "text", text: "hello" }]]);
  const read = await client.getTask({ id: task.id, historyLength: 1 });
  deepStrictEqual([read.status.state, read.history?.map(({ role }) => role)], ["completed", ["user"]]);
  const asked = taskOf(await client.sendMessage(said("ask: Which?")));
  strictEqual((await client.cancelTask({ id: asked.id })).status.state, "canceled");
  await rejects(client.cancelTask({ id: task.id }), TaskNotCancelableError);
  await rejects(client.getTask({ id: unknownId }), TaskNotFoundError);
  const card = await client.getAgentCard();
  deepStrictEqual([card.protocolVersion, card.supportsAuthenticatedExtendedCard], ["0.3.0", true]);
});

Deno.test("a client of 0.3 sends and gets files and data [§5.8 legacy-client]", async () => {
  await using setting = await startSetting();
  const { message } = said("file: report.txt all is well");
  const task = taskOf(
    await setting.client.sendMessage({
      message: {
        ...message,
        parts: [
          ...message.parts,
          { kind: "file", file: { bytes: btoa("hi"), name: "in.txt", mimeType: "text/plain" } },
          { kind: "data", data: { a: 1 } },
        ],
      },
    }),
  );
  strictEqual(task.status.state, "completed");
  const files = (task.artifacts ?? []).flatMap(({ parts }) => parts).flatMap((part) =>
    part.kind === "file" ? [part] : []
  );
  deepStrictEqual(files.map(({ file }) => [file.name, "bytes" in file && atob(file.bytes)]), [[
    "report.txt",
    "all is well",
  ]]);
});

Deno.test("a client of 0.3 streams, answers a question, and subscribes again [§5.8 legacy-client]", async () => {
  await using setting = await startSetting();
  const { client } = setting;
  const events = await Array.fromAsync(client.sendMessageStream(said("ask: Which?")));
  const asked = events.at(-1);
  ok(asked?.kind === "status-update");
  deepStrictEqual([asked.status.state, asked.final], ["input-required", true]);
  const { taskId, contextId } = asked;
  const heard = client.resubscribeTask({ id: taskId });
  strictEqual((await heard.next()).value?.kind, "task");
  strictEqual(taskOf(await client.sendMessage(said("stream: 3 x 8", { taskId, contextId }))).status.state, "completed");
  const rest = await Array.fromAsync(heard);
  ok(rest.some(({ kind }) => kind === "artifact-update"));
  const last = rest.at(-1);
  deepStrictEqual(last?.kind === "status-update" && [last.status.state, last.final], ["completed", true]);
});

Deno.test("a client of 0.3 over HTTP+JSON works when it names its version [§5.8 legacy-client, §5.8 legacy-rest]", async () => {
  await using setting = await startSetting();
  const { rest } = setting;
  const task = taskOf(await rest.sendMessage({ ...said("hello"), configuration: { blocking: true } }));
  deepStrictEqual([task.status.state, task.artifacts?.[0]?.parts], ["completed", [{ kind: "text", text: "hello" }]]);
  strictEqual((await rest.getTask({ id: task.id })).status.state, "completed");
  const events = await Array.fromAsync(rest.sendMessageStream(said("ask: Which?")));
  const asked = events.at(-1);
  ok(asked?.kind === "status-update");
  deepStrictEqual([asked.status.state, asked.final], ["input-required", true]);
  const heard = rest.resubscribeTask({ id: asked.taskId });
  strictEqual((await heard.next()).value?.kind, "task");
  strictEqual((await rest.cancelTask({ id: asked.taskId })).status.state, "canceled");
  strictEqual((await Array.fromAsync(heard)).length, 1);
  await rejects(rest.getTask({ id: unknownId }), TaskNotFoundError);
  deepStrictEqual((await rest.getExtendedAgentCard()).security, [{ apiKey: [] }, { bearer: [] }]);
});

Deno.test("a client of 0.3 that polls is answered at once, on both transports [§5.8 legacy-client]", async () => {
  await using setting = await startSetting();
  for (const transport of [setting.rpc, setting.rest]) {
    const task = taskOf(await transport.sendMessage({ ...said("hang"), configuration: { blocking: false } }));
    ok(task.status.state === "submitted" || task.status.state === "working");
    strictEqual((await transport.cancelTask({ id: task.id })).status.state, "canceled");
  }
});

Deno.test("a client of 0.3 sets, reads, lists and deletes webhooks, on both transports [§5.8 legacy-client, §5.7 config-methods]", async () => {
  await using setting = await startSetting();
  for (const transport of [setting.rpc, setting.rest]) {
    const { id } = taskOf(await transport.sendMessage({ ...said("ask: Which?"), configuration: { blocking: true } }));
    const url = "https://hooks.example.com/a";
    const authentication = { schemes: ["Bearer"], credentials: "SECRET-credentials" };
    const pushNotificationConfig = { id: "p", url, token: "SECRET-token", authentication };
    const set = await transport.setTaskPushNotificationConfig({ taskId: id, pushNotificationConfig });
    const one = { id, pushNotificationConfigId: "p" };
    const read = await transport.getTaskPushNotificationConfig(one);
    const [listed, ...more] = await transport.listTaskPushNotificationConfig({ id });
    deepStrictEqual(more, []);
    for (const shown of [set, read, listed!]) {
      strictEqual(shown.taskId, id);
      const { authentication, token, ...rest } = shown.pushNotificationConfig;
      deepStrictEqual(rest, { id: "p", url });
      deepStrictEqual([authentication?.schemes, authentication?.credentials || undefined], [["Bearer"], undefined]);
      strictEqual(token || undefined, undefined);
    }
    await transport.deleteTaskPushNotificationConfig(one);
    await rejects(transport.getTaskPushNotificationConfig(one), TaskNotFoundError);
    deepStrictEqual(await transport.listTaskPushNotificationConfig({ id }), []);
  }
});

Deno.test("a client of 0.3 is told what is wrong with a webhook, on both transports [§5.8 legacy-client, §5.7 url-judged]", async () => {
  await using setting = await startSetting();
  for (const transport of [setting.rpc, setting.rest]) {
    const pushNotificationConfig = { id: "p", url: "https://10.0.0.1/hook" };
    const unknown = transport.setTaskPushNotificationConfig({ taskId: unknownId, pushNotificationConfig });
    await rejects(unknown, TaskNotFoundError);
    await rejects(transport.listTaskPushNotificationConfig({ id: unknownId }), TaskNotFoundError);
    const one = { id: unknownId, pushNotificationConfigId: "p" };
    await rejects(transport.getTaskPushNotificationConfig(one), TaskNotFoundError);
    await rejects(transport.deleteTaskPushNotificationConfig(one), TaskNotFoundError);
    const { id } = taskOf(await transport.sendMessage({ ...said("hello"), configuration: { blocking: true } }));
    const refused = transport.setTaskPushNotificationConfig({ taskId: id, pushNotificationConfig });
    await rejects(refused, /pushNotificationConfig\.url is refused: it cannot be reached or is not allowed/);
  }
});
