import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { A2AError } from "./errors.ts";
import { readRequest } from "./field_reader.ts";
import type { SendMessageRequest } from "./request_types.ts";
import { readSendMessage } from "./send_request.ts";

const message = { messageId: "m1", role: "ROLE_USER", parts: [{ text: "hi" }] };

function parse(params: unknown): SendMessageRequest {
  const value = readRequest(params, readSendMessage);
  if (value instanceof A2AError) throw value;
  return value;
}

function fieldsOf(params: unknown): readonly string[] {
  const error = readRequest(params, readSendMessage);
  ok(error instanceof A2AError);
  return error.fieldViolations.map(({ field }) => field);
}

Deno.test("readSendMessage() fills in the defaults", () => {
  const defaults = { message, configuration: { returnImmediately: false }, hops: 0, dedupe: false };
  deepStrictEqual(parse({ message }), defaults);
  deepStrictEqual(parse({ message, configuration: null, metadata: null, tenant: "" }), defaults);
  deepStrictEqual(parse({ message, configuration: { acceptedOutputModes: [], returnImmediately: null } }), defaults);
});

Deno.test("readSendMessage() reads the whole request", () => {
  const push = { id: "c", url: "https://hooks.example/", token: "t" };
  const request = {
    message,
    tenant: "x",
    configuration: {
      acceptedOutputModes: ["text/plain"],
      historyLength: 0,
      returnImmediately: true,
      taskPushNotificationConfig: push,
    },
    metadata: { a: 1 },
  };
  const { taskPushNotificationConfig: _, ...configuration } = request.configuration;
  deepStrictEqual(parse(request), {
    message,
    configuration: { ...configuration, push },
    hops: 0,
    dedupe: false,
    metadata: { a: 1 },
    tenant: "x",
  });
  const snake = {
    accepted_output_modes: ["text/plain"],
    history_length: "0",
    return_immediately: true,
    task_push_notification_config: { ...push, task_id: "" },
  };
  deepStrictEqual(parse({ ...request, configuration: snake }), parse(request));
});

const bad: readonly (readonly [params: unknown, fields: readonly string[]])[] = [
  [{}, ["message"]],
  [{ message: null }, ["message"]],
  [{ message: "hi" }, ["message"]],
  [{ message: [] }, ["message"]],
  [{ message: { role: "ROLE_USER" } }, ["message.messageId", "message.parts"]],
  [{ message: { ...message, parts: [{ text: "a" }, {}] } }, ["message.parts[1]"]],
  [{ message, configuration: { historyLength: -1 } }, ["configuration.historyLength"]],
  [{ message, configuration: { historyLength: 1.5 } }, ["configuration.historyLength"]],
  [{ message, configuration: { historyLength: "abc" } }, ["configuration.historyLength"]],
  [{ message, configuration: { returnImmediately: "false" } }, ["configuration.returnImmediately"]],
  [{ message, configuration: { acceptedOutputModes: "text/plain" } }, ["configuration.acceptedOutputModes"]],
  [{ message, configuration: { taskPushNotificationConfig: {} } }, ["configuration.taskPushNotificationConfig.url"]],
  [{ message, configuration: [] }, ["configuration"]],
  [{ message, metadata: 1 }, ["metadata"]],
  [{ message, tenant: 1 }, ["tenant"]],
];
for (const [params, fields] of bad) {
  Deno.test(`readSendMessage() refuses ${JSON.stringify(params)} [S5, S6]`, () =>
    deepStrictEqual(fieldsOf(params), fields));
}

const hopsName = "volcanic.hops";
const withHops = (hops: unknown, own?: unknown) => ({
  message: own === undefined ? message : { ...message, metadata: { [hopsName]: own } },
  ...(hops !== undefined && { metadata: { [hopsName]: hops } }),
});
const hops: readonly (readonly [name: string, request: unknown, inMessage: unknown, gives: number])[] = [
  ["none", undefined, undefined, 0],
  ["the request's", 2, undefined, 2],
  ["the message's", undefined, 3, 3],
  ["the request's before the message's", 1, 3, 1],
  ["the request's though the message's is broken", 0, "x", 0],
  ["zero written as 0.0", 0.0, undefined, 0],
];
for (const [name, request, inMessage, gives] of hops) {
  Deno.test(`readSendMessage() takes ${name} hops [§5.9 hops]`, () =>
    strictEqual(parse(withHops(request, inMessage)).hops, gives));
}
for (const value of [-1, 1.5, "1", null, true, [], {}, 2 ** 53, Infinity]) {
  Deno.test(`readSendMessage() refuses ${JSON.stringify(value)} (${String(value)}) as hops [§5.9 hops]`, () => {
    deepStrictEqual(fieldsOf(withHops(value)), [`metadata["volcanic.hops"]`]);
    deepStrictEqual(fieldsOf(withHops(undefined, value)), [`message.metadata["volcanic.hops"]`]);
  });
}

Deno.test("readSendMessage() reads the wish to dedupe from the request before the message [§5.5 dedupe]", () => {
  const dedupe = (request: unknown, own: unknown) =>
    readRequest({
      message: { ...message, metadata: own === undefined ? {} : { "volcanic.dedupe": own } },
      metadata: request === undefined ? {} : { "volcanic.dedupe": request },
    }, readSendMessage);
  const cases = [[undefined, undefined], [true, undefined], [undefined, true], [false, true]] as const;
  deepStrictEqual(cases.map(([request, own]) => (dedupe(request, own) as SendMessageRequest).dedupe), [
    false,
    true,
    true,
    false,
  ]);
  for (const value of ["true", 1, null, {}]) ok(dedupe(value, undefined) instanceof A2AError);
});
