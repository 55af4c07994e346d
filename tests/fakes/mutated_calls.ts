import type { SeededRandom } from "@tests/fakes/seeded_random.ts";

const id = "0a6e7e0c-7c38-4f25-8a6b-3a1c2b0d9e11";
const push = {
  id: "c",
  url: "https://hooks.example/",
  token: "t",
  authentication: { scheme: "Bearer", credentials: "x" },
};
/** Params that are right, with many fields, by method. */
export const goodParams: Readonly<Record<string, unknown>> = {
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
/** Calls of JSON-RPC that are right. */
export const goodCalls = Object.entries(goodParams).map(([method, value]) => ({
  jsonrpc: "2.0",
  id: 1,
  method,
  params: value,
}));
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
export function mutateValue(value: unknown, random: SeededRandom): unknown {
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
export function mutateBytes(bytes: Uint8Array, random: SeededRandom): Uint8Array<ArrayBuffer> {
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

/** The bytes of a call that went wrong, in its values or in its text. */
export function mutateCall(call: unknown, random: SeededRandom): Uint8Array<ArrayBuffer> {
  const isText = random.chance(0.4);
  let mutated = call;
  for (let times = isText ? 0 : 1 + random.below(3); times > 0; times--) mutated = mutateValue(mutated, random);
  const bytes = new TextEncoder().encode(JSON.stringify(mutated));
  return isText ? mutateBytes(bytes, random) : bytes;
}
