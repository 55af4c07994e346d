import { deepStrictEqual, ok } from "node:assert/strict";
import { createSeededRandom, type SeededRandom } from "@tests/fakes/seeded_random.ts";
import { A2AError, toHttpError, toJsonRpcError } from "./errors.ts";
import { parseJson } from "./json_body.ts";
import { failure, parseEnvelope, success } from "./json_rpc.ts";
import { methods } from "./methods.ts";
import { parseParams, parseRest } from "./requests.ts";
import { SseReader } from "./sse.ts";

const id = "0a6e7e0c-7c38-4f25-8a6b-3a1c2b0d9e11";
const push = {
  id: "c",
  url: "https://hooks.example/",
  token: "t",
  authentication: { scheme: "Bearer", credentials: "x" },
};
const params: Readonly<Record<string, unknown>> = {
  SendMessage: {
    message: {
      messageId: "m1",
      role: "ROLE_USER",
      contextId: "c-1",
      taskId: id,
      parts: [{ text: "hi" }, { raw: "aGk=" }, { url: "data:text/plain,hi" }, { data: { a: [1, null] } }],
      metadata: { "volcanic.hops": 1, "volcanic.dedupe": true },
      referenceTaskIds: [id],
      extensions: ["https://example.com/ext"],
    },
    configuration: {
      acceptedOutputModes: ["text/plain"],
      historyLength: 3,
      returnImmediately: true,
      taskPushNotificationConfig: push,
    },
    metadata: { "volcanic.hops": 0 },
    tenant: "x",
  },
  GetTask: { id, historyLength: 1 },
  ListTasks: {
    contextId: "c",
    status: 3,
    pageSize: 5,
    statusTimestampAfter: "2026-10-08T12:00:00Z",
    includeArtifacts: true,
  },
  CancelTask: { id, metadata: { a: 1 } },
  CreateTaskPushNotificationConfig: { taskId: id, ...push },
};
const calls = Object.entries(params).map(([method, value]) => ({ jsonrpc: "2.0", id: 1, method, params: value }));
const junk: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    1.5,
    2 ** 53,
    "",
    " ",
    "x",
    "\0",
    "\ud800",
    "data:;base64,*",
    "__proto__",
    "a".repeat(300),
  ],
  ...[[], {}, [[]], [null], { "": 1 }, { text: "x" }, { __proto__: null, toString: 1, valueOf: null, length: -1 }],
];

/** The same value with one place changed: a member removed, renamed, doubled in the other spelling, or replaced by junk. */
function mutateValue(value: unknown, random: SeededRandom): unknown {
  if (typeof value !== "object" || value === null || random.chance(0.15)) return random.pick(junk);
  const entries = Object.entries(value);
  if (entries.length === 0) return random.pick(junk);
  const place = random.below(entries.length);
  const [name, inner] = entries[place]!;
  if (Array.isArray(value)) return value.map((item, at) => at === place ? mutateValue(item, random) : item);
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const changed = random.weighted<[string, unknown][]>([
    [6, [[name, mutateValue(inner, random)]]],
    [1, []],
    [1, [[snake, inner]]],
    [1, [[name, inner], [snake, random.pick(junk)]]],
    [1, [[random.pick(["constructor", "parts", "x", ""]), inner]]],
  ]);
  return Object.fromEntries([...entries.slice(0, place), ...changed, ...entries.slice(place + 1)]);
}

/** The same bytes with some flipped, cut out, doubled or put in. */
function mutateBytes(bytes: Uint8Array, random: SeededRandom): Uint8Array {
  const mutated = [...bytes];
  for (let n = 1 + random.below(4); n > 0; n--) {
    const at = random.below(mutated.length + 1);
    const piece = random.pick([[0x22], [0x5c], [0x7b], [0x5b, 0x5d], [0], [0xff], [0xed, 0xa0, 0x80], [0x65, 0x39], [
      random.below(256),
    ]]);
    random.weighted<() => void>([
      [2, () => mutated.splice(at, 1, ...piece)],
      [1, () => mutated.splice(at, random.below(9))],
      [1, () => mutated.splice(at, 0, ...mutated.slice(at, at + random.below(30)))],
      [1, () => mutated.splice(at, 0, ...piece)],
    ])();
  }
  return Uint8Array.from(mutated);
}

/** Everything that reads a body reads it; what they give must be a value of the promised shape, or an error. */
function readEverywhere(bytes: Uint8Array): "value" | "error" {
  const envelope = parseEnvelope(bytes);
  JSON.parse(envelope.kind === "call" ? success(envelope.id, {}) : failure(envelope.id, envelope.error));
  const body = parseJson(bytes);
  if (!(body instanceof A2AError)) parseRest("SendMessage", { body: body.value });
  if (envelope.kind !== "call") return checked(envelope.error);
  const method = methods.find((name) => name === envelope.method) ?? "SendMessage";
  return checked(parseParams(method, envelope.params));
}

function checked(result: unknown): "value" | "error" {
  ok(typeof result === "object" && result !== null);
  if (!(result instanceof A2AError)) {
    JSON.stringify(result);
    return "value";
  }
  ok(["PARSE_ERROR", "INVALID_REQUEST", "INVALID_PARAMS"].includes(result.reason));
  JSON.stringify([toJsonRpcError(result), toHttpError(result)]);
  return "error";
}

for (const seed of [1, 2, 3, 4]) {
  Deno.test(`parseEnvelope() and parseParams() give a value or an A2AError for 5,000 mutated calls, seed ${seed}`, () => {
    const random = createSeededRandom(seed);
    const seen = { value: 0, error: 0 };
    const before = performance.now();
    for (let n = 0; n < 5000; n++) {
      let call: unknown = random.pick(calls);
      const isText = random.chance(0.4);
      for (let times = isText ? 0 : 1 + random.below(3); times > 0; times--) call = mutateValue(call, random);
      const bytes = new TextEncoder().encode(JSON.stringify(call));
      seen[readEverywhere(isText ? mutateBytes(bytes, random) : bytes)]++;
    }
    ok(seen.value > 200 && seen.error > 200, JSON.stringify(seen)); // else the mutations prove nothing
    ok(performance.now() - before < 60_000);
  });
}

Deno.test("parseRest() gives a value or an A2AError for 5,000 mutated queries", () => {
  const random = createSeededRandom(9);
  const names = [
    "pageSize",
    "page_size",
    "status",
    "includeArtifacts",
    "historyLength",
    "statusTimestampAfter",
    "__proto__",
    "id",
  ];
  const values = [
    "",
    "1",
    "-1",
    "true",
    "TASK_STATE_WORKING",
    "2026-10-08T12:00:00Z",
    "%00",
    "\0",
    "1e3",
    "x".repeat(300),
  ];
  for (let n = 0; n < 5000; n++) {
    const pairs = Array.from({ length: random.below(6) }, () => [random.pick(names), random.pick(values)]);
    checked(
      parseRest(random.pick(methods), {
        query: new URLSearchParams(pairs),
        path: random.pick<Record<string, string>>([{}, { id }, { taskId: id, id: "c" }]),
      }),
    );
  }
});

Deno.test("parseParams() of what it gave gives the same: what is stored can be served and sent again", () => {
  const random = createSeededRandom(11);
  for (let n = 0; n < 2000; n++) {
    const first = parseParams("SendMessage", mutateValue(params.SendMessage, random));
    if (first instanceof A2AError) continue;
    const again = parseParams("SendMessage", {
      message: JSON.parse(JSON.stringify(first.message)),
      metadata: { "volcanic.hops": first.hops, "volcanic.dedupe": first.dedupe }, // it hides what is broken in the message's
    });
    ok(!(again instanceof A2AError));
    deepStrictEqual(JSON.stringify(again.message), JSON.stringify(first.message));
  }
});

Deno.test("SseReader gives texts and never throws for 2,000 streams of random bytes", () => {
  const random = createSeededRandom(12);
  for (let n = 0; n < 2000; n++) {
    const reader = new SseReader({ eventBytesMax: 100 });
    const stream = mutateBytes(new TextEncoder().encode(`: x\n\ndata: {"a":1}\r\n\r\ndata:b\rdata: c\n\n`), random);
    for (const byte of stream) {
      ok(reader.push(new Uint8Array([byte])).events.every((event) => typeof event === "string"));
    }
  }
});
