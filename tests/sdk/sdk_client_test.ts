import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { ListTasksRequest, StreamResponse } from "@a2a-js/sdk";
import { TaskState } from "@a2a-js/sdk";
import { createAuthenticatingFetchWithRetry, DefaultAgentCardResolver } from "@a2a-js/sdk/client";
import { bindings } from "@tests/fakes/wire_request.ts";
import {
  atOnce,
  briefOf,
  filePart,
  partOf,
  responseOf,
  said,
  sdkKeys,
  type SdkSetting,
  startSdkSetting,
  stateOf,
  taskOf,
  textOf,
} from "./sdk_setting.ts";

/** What the SDK's client is asked to do with the started program. Each row stands alone: contexts are its own. */
const rows: readonly { readonly name: string; readonly run: (setting: SdkSetting) => Promise<void> }[] = [
  {
    name: "reads the card and chooses the transport by it [§5.1 sdk-client, §5.3 public-card, §5.3 legacy-card]",
    run: readsCard,
  },
  { name: "is given the caller's card with a key [§5.1 sdk-client, §5.3 extended-card]", run: readsExtendedCard },
  { name: "sends and waits for the end [§5.1 sdk-client, §5.5 blocking]", run: sends },
  { name: "is answered at once when it asks for that [§5.1 sdk-client, §5.5 blocking]", run: sendsAtOnce },
  { name: "is told of a run that failed [§5.1 sdk-client]", run: sendsWhatFails },
  { name: "streams [§5.1 sdk-client, §5.5 stream-order]", run: streams },
  { name: "leaves a stream, and the work goes on [§5.1 sdk-client, case 34]", run: leavesStream },
  { name: "reads a task, with as much history as it wants [§5.1 sdk-client, §5.1 history-length]", run: readsTask },
  { name: "lists its tasks in pages, filtered [§5.1 sdk-client, §5.1 list-tasks]", run: lists },
  { name: "sees nothing of another caller [§5.1 sdk-client, §5.2 not-found-alike]", run: listsAsOther },
  { name: "subscribes twice and cancels [§5.1 sdk-client, §5.5 same-order, §5.5 cancel-idempotent]", run: cancels },
  { name: "subscribes to a question, which stays open [§5.1 sdk-client, §5.5 subscribe-stays-open]", run: watches },
  { name: "answers a question [§5.1 sdk-client]", run: answersQuestion },
  { name: "goes on in a conversation [§5.1 sdk-client]", run: goesOn },
  { name: "sends files and data [§5.1 sdk-client, §5.6 parts-in-order]", run: sendsFiles },
  { name: "gets files, byte for byte [§5.1 sdk-client, §5.6 blobs-in-place]", run: getsFiles },
  { name: "is stopped by the limit of hops [§5.1 sdk-client, §5.9 hops]", run: hops },
  { name: "comes with a bearer, too [§5.1 sdk-client, §5.2 one-key-in-two-headers]", run: bearer },
];

for (const binding of bindings) {
  Deno.test(`the SDK's client of A2A 1.0 over ${binding} works with the started program`, async (test) => {
    await using setting = await startSdkSetting(binding);
    for (const { name, run } of rows) await test.step(name, () => run(setting));
    setting.serve.kill("SIGTERM");
    const { code, error } = await setting.serve.ended;
    strictEqual(code, 0);
    ok(!/"level":"(?:warning|error|fatal)"/.test(error), error);
  });
}

async function readsCard({ client, binding, address }: SdkSetting): Promise<void> {
  deepStrictEqual([client.transport.protocolName, client.protocolVersion], [binding, "1.0"]);
  const card = await new DefaultAgentCardResolver().resolve(address);
  const interfaces = card.supportedInterfaces.map((
    { url, ...offered },
  ) => [url, offered.protocolBinding, offered.protocolVersion]);
  deepStrictEqual(interfaces.slice(0, 2), [[`${address}/a2a`, "JSONRPC", "1.0"], [
    `${address}/a2a/v1`,
    "HTTP+JSON",
    "1.0",
  ]]);
  const { streaming, pushNotifications, extendedAgentCard } = card.capabilities!;
  deepStrictEqual([streaming, pushNotifications, extendedAgentCard], [true, true, true]);
  const schemes = Object.entries(card.securitySchemes).map(([name, { scheme }]) => [name, scheme?.$case]);
  deepStrictEqual(schemes, [["apiKey", "apiKeySecurityScheme"], ["bearer", "httpAuthSecurityScheme"]]);
  deepStrictEqual(card.skills.map(({ id, tags }) => [id, tags]), [["chat", ["chat"]]]);
  const legacy = new DefaultAgentCardResolver({ legacyCompat: { enabled: true } });
  const { supportedInterfaces: [first] } = await legacy.resolve(address, "/.well-known/agent.json");
  deepStrictEqual([first?.url, first?.protocolVersion], [`${address}/a2a`, "0.3.0"]);
}

async function readsExtendedCard({ clientWith, paths }: SdkSetting): Promise<void> {
  await Deno.writeTextFile(paths.cardFile, JSON.stringify({ name: "Home", description: "Knows the house" }));
  const client = await clientWith({ "X-API-Key": sdkKeys.alice }); // a client asks for it once
  const { name, description } = await client.getAgentCard();
  deepStrictEqual([name, description], ["Home", "Knows the house"]);
}

async function sends({ client }: SdkSetting): Promise<void> {
  const task = await taskOf(client.sendMessage(said("wait: 50ms\nThere you are")));
  strictEqual(stateOf(task), "completed");
  deepStrictEqual(task.artifacts.map((artifact) => [artifact.artifactId, textOf(artifact)]), [[
    "response",
    "There you are",
  ]]);
  ok(task.contextId !== "" && Number.isFinite(Date.parse(task.status!.timestamp!)));
}

async function sendsAtOnce({ client }: SdkSetting): Promise<void> {
  const task = await taskOf(client.sendMessage(said("hang", atOnce)));
  ok(["submitted", "working"].includes(stateOf(task)));
  strictEqual(stateOf(await client.cancelTask({ id: task.id, tenant: "", metadata: undefined })), "canceled");
}

async function sendsWhatFails({ client }: SdkSetting): Promise<void> {
  const task = await taskOf(client.sendMessage(said("fail: the model said no")));
  deepStrictEqual([stateOf(task), textOf(task.status!.message!)], ["failed", "the model said no"]);
}

async function streams({ client }: SdkSetting): Promise<void> {
  const events = await Array.fromAsync(client.sendMessageStream(said("stream: 1000 x 12")));
  const brief = events.map(briefOf);
  deepStrictEqual([brief[0], brief.at(-1)], ["task working", "status completed"]);
  ok(brief.slice(1, -1).every((event) => event === "response"));
  const [last] = events.slice(-2);
  ok(last?.payload?.$case === "artifactUpdate" && last.payload.value.lastChunk);
  const text = responseOf(events);
  deepStrictEqual(text.trim().split(" ").map(parseFloat), Array.from({ length: 1000 }, (_, index) => index + 1));
  const { taskId } = last.payload.value;
  strictEqual(textOf((await client.getTask({ id: taskId, tenant: "" })).artifacts[0]!), text);
}

async function leavesStream({ client }: SdkSetting): Promise<void> {
  const leaving = new AbortController();
  const stream = client.sendMessageStream(said("wait: 300ms\nIt is done"), { signal: leaving.signal });
  const { value } = await stream.next();
  ok(value?.payload?.$case === "task");
  const { id } = value.payload.value;
  leaving.abort();
  await stream.next().catch(() => {});
  const events = await Array.fromAsync(client.resubscribeTask({ id, tenant: "" }));
  deepStrictEqual([briefOf(events.at(-1)!), responseOf(events)], ["status completed", "It is done"]);
}

async function readsTask({ client }: SdkSetting): Promise<void> {
  const asked = await taskOf(client.sendMessage(said("ask: Which?")));
  const { id } = await taskOf(client.sendMessage(said("Blue", { taskId: asked.id })));
  for (
    const [historyLength, texts] of [[0, []], [1, ["Blue"]], [undefined, ["ask: Which?", "Which?", "Blue"]]] as const
  ) {
    const { history } = await client.getTask({ id, tenant: "", historyLength });
    deepStrictEqual(history.map(textOf), texts);
  }
}

const everything: ListTasksRequest = {
  ...{ tenant: "", contextId: "", status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: "" },
  statusTimestampAfter: undefined,
};

async function lists({ client }: SdkSetting): Promise<void> {
  const contextId = crypto.randomUUID();
  const sent: string[] = [];
  for (const text of ["One", "Two", "Three", "Four", "ask: Five?"]) {
    sent.unshift((await taskOf(client.sendMessage(said(text, { contextId })))).id);
  }
  const listed: string[] = [];
  let pages = 0;
  for (let pageToken: string | undefined = ""; pageToken !== undefined; pages++) {
    const page = await client.listTasks({ ...everything, contextId, pageSize: 2, pageToken });
    deepStrictEqual([page.totalSize, page.pageSize], [5, 2]);
    ok(page.tasks.every(({ artifacts }) => artifacts.length === 0));
    listed.push(...page.tasks.map(({ id }) => id));
    pageToken = page.nextPageToken === "" ? undefined : page.nextPageToken;
  }
  deepStrictEqual([pages, listed], [3, sent]);
  const waiting = { ...everything, contextId, status: TaskState.TASK_STATE_INPUT_REQUIRED };
  deepStrictEqual((await client.listTasks(waiting)).tasks.map(({ id }) => id), sent.slice(0, 1));
  const whole = await client.listTasks({ ...everything, contextId, includeArtifacts: true });
  deepStrictEqual(whole.tasks.slice(1).map(({ artifacts }) => textOf(artifacts[0]!)), ["Four", "Three", "Two", "One"]);
  const [newest] = whole.tasks;
  const later = { ...everything, contextId, statusTimestampAfter: newest!.status!.timestamp };
  deepStrictEqual((await client.listTasks(later)).tasks.map(({ id }) => id), sent.slice(0, 1));
}

async function listsAsOther({ client, clientWith, paths }: SdkSetting): Promise<void> {
  const callers = JSON.parse(await Deno.readTextFile(paths.callersFile));
  const key = "k_carol_0123456789";
  await Deno.writeTextFile(paths.callersFile, JSON.stringify([...callers, { name: "carol", key }]));
  const { contextId } = await taskOf(client.sendMessage(said("Mine")));
  const carol = await clientWith({ "X-API-Key": key });
  for (const request of [everything, { ...everything, contextId }]) {
    const { tasks, totalSize } = await carol.listTasks(request);
    deepStrictEqual([tasks, totalSize], [[], 0]);
  }
}

async function cancels({ client }: SdkSetting): Promise<void> {
  const { id } = await taskOf(client.sendMessage(said("stream: 3\nhang", atOnce)));
  const subscribers = [client.resubscribeTask({ id, tenant: "" }), client.resubscribeTask({ id, tenant: "" })];
  const firsts = await Promise.all(subscribers.map((events) => events.next()));
  deepStrictEqual(firsts.map(({ value }) => briefOf(value!)), ["task working", "task working"]);
  const canceled = await client.cancelTask({ id, tenant: "", metadata: undefined });
  strictEqual(stateOf(canceled), "canceled");
  for (const events of subscribers) strictEqual(briefOf((await Array.fromAsync(events)).at(-1)!), "status canceled");
  const again = await client.cancelTask({ id, tenant: "", metadata: undefined });
  deepStrictEqual([stateOf(again), again.status!.timestamp], ["canceled", canceled.status!.timestamp]);
}

async function watches({ client }: SdkSetting): Promise<void> {
  const { id } = await taskOf(client.sendMessage(said("ask: Which?")));
  const events = client.resubscribeTask({ id, tenant: "" });
  strictEqual(briefOf((await events.next()).value!), "task input-required");
  const answered = await taskOf(client.sendMessage(said("stream: 2", { taskId: id })));
  const rest: StreamResponse[] = await Array.fromAsync(events);
  const brief = rest.map(briefOf).filter((event) => event !== "response");
  deepStrictEqual([stateOf(answered), brief], ["completed", ["status working", "status completed"]]);
  strictEqual(responseOf(rest), textOf(answered.artifacts[0]!));
}

async function answersQuestion({ client }: SdkSetting): Promise<void> {
  const events = await Array.fromAsync(client.sendMessageStream(said("ask: Which colour?")));
  const last = events.at(-1)?.payload;
  ok(last?.$case === "statusUpdate");
  const { taskId, contextId, status } = last.value;
  deepStrictEqual([briefOf(events.at(-1)!), textOf(status!.message!)], ["status input-required", "Which colour?"]);
  const task = await taskOf(client.sendMessage(said("Blue", { taskId, contextId })));
  deepStrictEqual([task.id, stateOf(task), textOf(task.artifacts[0]!)], [taskId, "completed", "Blue"]);
}

async function goesOn({ client }: SdkSetting): Promise<void> {
  const { contextId } = await taskOf(client.sendMessage(said("The house is blue")));
  const task = await taskOf(client.sendMessage(said("recall", { contextId })));
  strictEqual(task.contextId, contextId);
  ok(textOf(task.artifacts[0]!).includes("The house is blue"));
}

async function sendsFiles({ client, paths }: SdkSetting): Promise<void> {
  const bytes = crypto.getRandomValues(new Uint8Array(40_000));
  const data = partOf({ $case: "data", value: { rooms: [1, null, "two"] } });
  const parts = [filePart(bytes, "photo.bin"), data, filePart(new Uint8Array(), "empty.bin")];
  const task = await taskOf(client.sendMessage(said("show prompt", { parts })));
  strictEqual(stateOf(task), "completed");
  const prompt = textOf(task.artifacts[0]!);
  for (const named of ["photo.bin", "empty.bin", `{"rooms":[1,null,"two"]}`]) ok(prompt.includes(named), prompt);
  deepStrictEqual(await Deno.readFile(`${paths.inbox}/alice/${task.id}/photo.bin`), bytes);
  ok(task.history[0]!.parts.every(({ content }) => content?.$case !== "raw"));
}

async function getsFiles({ client }: SdkSetting): Promise<void> {
  const text = "file: report.txt all is well\nfile: large.bin 300000 bytes\nHere they are";
  const events = await Array.fromAsync(client.sendMessageStream(said(text)));
  const streamed = new Map<string, Uint8Array>();
  let taskId = "";
  for (const { payload } of events) {
    if (payload?.$case !== "artifactUpdate") continue;
    ({ taskId } = payload.value);
    for (const { content, filename } of payload.value.artifact!.parts) {
      if (content?.$case === "raw") streamed.set(filename, new Uint8Array(content.value));
    }
  }
  const task = await client.getTask({ id: taskId, tenant: "" });
  const stored = new Map(
    task.artifacts.flatMap(({ parts }) => parts).flatMap(({ content, filename }) =>
      content?.$case === "raw" ? [[filename, new Uint8Array(content.value)] as const] : []
    ),
  );
  deepStrictEqual(streamed, stored);
  strictEqual(new TextDecoder().decode(stored.get("report.txt")), "all is well");
  strictEqual(stored.get("large.bin")?.length, 300_000);
}

async function hops({ client }: SdkSetting): Promise<void> {
  const near = await taskOf(client.sendMessage(said("hi", { metadata: { "volcanic.hops": 1 } })));
  const far = await taskOf(client.sendMessage(said("hi", { metadata: { "volcanic.hops": 99 } })));
  deepStrictEqual([stateOf(near), stateOf(far)], ["completed", "failed"]);
  ok(textOf(far.status!.message!).startsWith("hop limit: "));
}

async function bearer({ address, clientWith }: SdkSetting): Promise<void> {
  const client = await clientWith({ Authorization: `Bearer ${sdkKeys.bob}` });
  strictEqual(stateOf(await taskOf(client.sendMessage(said("hi")))), "completed");
  // A client that has no key until it is refused and asked for one.
  const asking = createAuthenticatingFetchWithRetry(fetch, {
    headers: () => Promise.resolve({}),
    shouldRetryWithHeaders: (_, { status, headers }) => {
      const isAsked = status === 401 && headers.get("WWW-Authenticate")!.includes("Bearer");
      return Promise.resolve(isAsked ? { Authorization: `Bearer ${sdkKeys.bob}` } : undefined);
    },
  });
  const answer = await asking(`${address}/a2a/v1/tasks?pageSize=1`, { headers: { "A2A-Version": "1.0" } });
  strictEqual(answer.status, 200);
  await answer.body?.cancel();
}
