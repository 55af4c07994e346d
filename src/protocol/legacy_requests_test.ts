import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { A2AError } from "./errors.ts";
import { currentParams, type LegacyForm } from "./legacy_requests.ts";
import type { Method } from "./request_types.ts";

const taskId = "330de81c-72cd-45b4-a96d-30c772e5bf3f";

/** A message of 0.3 with one part. */
function message(part: unknown, form: LegacyForm = "kinds"): unknown {
  if (form === "proto") return { messageId: "m", role: "ROLE_USER", content: [part] };
  return { kind: "message", messageId: "m", role: "user", parts: [part] };
}

const parts: readonly { name: string; form: LegacyForm; part: unknown; gives: unknown }[] = [
  { name: "text", form: "kinds", part: { kind: "text", text: "Hi" }, gives: { text: "Hi" } },
  { name: "empty text", form: "kinds", part: { kind: "text", text: "" }, gives: { text: "" } },
  {
    name: "text with metadata",
    form: "kinds",
    part: { kind: "text", text: "Hi", metadata: { a: 1 } },
    gives: { text: "Hi", metadata: { a: 1 } },
  },
  {
    name: "bytes",
    form: "kinds",
    part: { kind: "file", file: { bytes: "aGk=", name: "a.txt", mimeType: "text/plain" } },
    gives: { raw: "aGk=", filename: "a.txt", mediaType: "text/plain" },
  },
  {
    name: "a URI beside null bytes",
    form: "kinds",
    part: { kind: "file", file: { uri: "https://e/a", bytes: null } },
    gives: { url: "https://e/a" },
  },
  {
    name: "data",
    form: "kinds",
    part: { kind: "data", data: { data: { a: 1 } } },
    gives: { data: { data: { a: 1 } } },
  },
  {
    name: "data that was wrapped",
    form: "kinds",
    part: { kind: "data", data: { value: [1] }, metadata: { data_part_compat: true, a: 1 } },
    gives: { data: [1], metadata: { a: 1 } },
  },
  {
    name: "null that was wrapped",
    form: "kinds",
    part: { kind: "data", data: { value: null }, metadata: { data_part_compat: true } },
    gives: { data: null },
  },
  { name: "text", form: "proto", part: { text: "Hi" }, gives: { text: "Hi" } },
  {
    name: "bytes",
    form: "proto",
    part: { file: { fileWithBytes: "aGk=", mimeType: "text/plain", name: "a" } },
    gives: { raw: "aGk=", filename: "a", mediaType: "text/plain" },
  },
  { name: "a URI", form: "proto", part: { file: { file_with_uri: "https://e/a" } }, gives: { url: "https://e/a" } },
  { name: "data", form: "proto", part: { data: { data: { a: 1 } } }, gives: { data: { a: 1 } } },
  { name: "a part with kind", form: "proto", part: { kind: "data", data: { a: 1 } }, gives: { data: { a: 1 } } },
];

for (const { name, form, part, gives } of parts) {
  Deno.test(`currentParams() reads ${name} of ${form} [§5.8 legacy-requests]`, () => {
    const params = currentParams("SendMessage", { message: message(part, form) }, form);
    const flat = JSON.parse(JSON.stringify(params));
    deepStrictEqual(flat, { message: { messageId: "m", role: "ROLE_USER", parts: [flat.message.parts[0]] } });
    deepStrictEqual(flat.message.parts, [gives]);
  });
}

const push = { url: "https://e/hook", token: "t", authentication: { schemes: ["Bearer", "Basic"], credentials: "c" } };
const currentPush = { url: "https://e/hook", token: "t", authentication: { scheme: "Bearer", credentials: "c" } };

const requests: readonly { name: string; method: Method; form?: LegacyForm; params: unknown; gives: unknown }[] = [
  {
    name: "all that a message may have",
    method: "SendStreamingMessage",
    params: {
      message: {
        ...{ kind: "message", messageId: "m", role: "user", parts: [], contextId: "c", taskId, extra: 1 },
        ...{ referenceTaskIds: ["r"], extensions: ["urn:x"], metadata: { "volcanic.hops": 1 } },
      },
      metadata: { b: 2 },
    },
    gives: {
      message: {
        ...{ messageId: "m", role: "ROLE_USER", parts: [], contextId: "c", taskId },
        ...{ referenceTaskIds: ["r"], extensions: ["urn:x"], metadata: { "volcanic.hops": 1 } },
      },
      metadata: { b: 2 },
    },
  },
  {
    name: "a configuration",
    method: "SendMessage",
    params: {
      configuration: { acceptedOutputModes: ["a/b"], historyLength: 2, blocking: false, pushNotificationConfig: push },
    },
    gives: {
      configuration: {
        ...{ acceptedOutputModes: ["a/b"], historyLength: 2, returnImmediately: true },
        taskPushNotificationConfig: currentPush,
      },
    },
  },
  {
    name: "blocking",
    method: "SendMessage",
    params: { configuration: { blocking: true } },
    gives: { configuration: { returnImmediately: false } },
  },
  {
    name: "blocking that is not said",
    method: "SendMessage",
    params: { configuration: {} },
    gives: { configuration: {} },
  },
  {
    name: "blocking that ProtoJSON left out",
    method: "SendMessage",
    form: "proto",
    params: { configuration: { pushNotification: push } },
    gives: { configuration: { returnImmediately: true, taskPushNotificationConfig: currentPush } },
  },
  {
    name: "schemes without credentials",
    method: "CreateTaskPushNotificationConfig",
    params: { taskId, pushNotificationConfig: { id: "p", url: "https://e", authentication: { schemes: ["Bearer"] } } },
    gives: { id: "p", url: "https://e", taskId },
  },
  {
    name: "a webhook without an id",
    method: "CreateTaskPushNotificationConfig",
    params: { taskId, pushNotificationConfig: push },
    gives: { id: taskId, ...currentPush, taskId },
  },
  {
    name: "a webhook of ProtoJSON",
    method: "CreateTaskPushNotificationConfig",
    form: "proto",
    params: { taskId, configId: "p", config: { name: "n", pushNotificationConfig: push } },
    gives: { id: "p", ...currentPush, taskId },
  },
  {
    name: "the webhook of a task",
    method: "GetTaskPushNotificationConfig",
    params: { id: taskId },
    gives: { taskId, id: taskId },
  },
  {
    name: "a webhook by its id",
    method: "DeleteTaskPushNotificationConfig",
    params: { id: taskId, pushNotificationConfigId: "p" },
    gives: { taskId, id: "p" },
  },
  {
    name: "all webhooks",
    method: "ListTaskPushNotificationConfigs",
    params: { id: taskId },
    gives: { taskId, pageSize: 100 },
  },
  { name: "a task", method: "GetTask", params: { id: "x", historyLength: 3 }, gives: { id: "x", historyLength: 3 } },
  { name: "a task to cancel", method: "CancelTask", params: { id: "x" }, gives: { id: "x" } },
  { name: "a task to follow", method: "SubscribeToTask", params: { id: "x" }, gives: { id: "x" } },
  { name: "nothing", method: "GetExtendedAgentCard", params: undefined, gives: {} },
];

for (const { name, method, form = "kinds", params, gives } of requests) {
  Deno.test(`currentParams() of ${method} reads ${name} [§5.8 legacy-requests]`, () => {
    deepStrictEqual(JSON.parse(JSON.stringify(currentParams(method, params, form))), gives);
  });
}

const refused: readonly { name: string; params: unknown; fields: readonly string[]; form?: LegacyForm }[] = [
  { name: "an array", params: [], fields: [""] },
  { name: "a message that is a text", params: { message: "x" }, fields: ["message"] },
  { name: "a part that is a text", params: { message: message("x") }, fields: ["message.parts[0]"] },
  { name: "a part without kind", params: { message: message({ text: "x" }) }, fields: ["message.parts[0].kind"] },
  { name: "an unknown kind", params: { message: message({ kind: "video" }) }, fields: ["message.parts[0].kind"] },
  { name: "text without text", params: { message: message({ kind: "text" }) }, fields: ["message.parts[0].text"] },
  { name: "a file without file", params: { message: message({ kind: "file" }) }, fields: ["message.parts[0].file"] },
  {
    name: "a file that is a text",
    params: { message: message({ kind: "file", file: "x" }) },
    fields: ["message.parts[0].file"],
  },
  {
    name: "a file with bytes and URI",
    params: { message: message({ kind: "file", file: { bytes: "", uri: "https://e" } }) },
    fields: ["message.parts[0].file"],
  },
  {
    name: "a file without content",
    params: { message: message({ kind: "file", file: { name: "x" } }) },
    fields: ["message.parts[0].file"],
  },
  { name: "data without data", params: { message: message({ kind: "data" }) }, fields: ["message.parts[0].data"] },
  {
    name: "the role of an agent",
    params: { message: { messageId: "m", role: "agent", parts: [] } },
    fields: ["message.role"],
  },
  {
    name: "a role of 1.0",
    params: { message: { messageId: "m", role: "ROLE_USER", parts: [] } },
    fields: ["message.role"],
  },
  {
    name: "both spellings of a field",
    params: { message: { messageId: "m", message_id: "n", role: "user", parts: [] } },
    fields: ["message.messageId"],
  },
  {
    name: "blocking that is a text",
    params: { configuration: { blocking: "no" } },
    fields: ["configuration.blocking"],
  },
  {
    name: "two kinds in one part of ProtoJSON",
    params: { message: message({ text: "x", file: {} }, "proto") },
    fields: ["message.content[0]"],
    form: "proto",
  },
  {
    name: "data of ProtoJSON that is not nested",
    params: { message: message({ data: { a: 1 } }, "proto") },
    fields: ["message.content[0].data.data"],
    form: "proto",
  },
];

for (const { name, params, fields, form = "kinds" } of refused) {
  Deno.test(`currentParams() refuses ${name} in the words of 0.3 [§5.8 legacy-errors]`, () => {
    const error = currentParams("SendMessage", params, form);
    ok(error instanceof A2AError);
    strictEqual(error.reason, "INVALID_PARAMS");
    deepStrictEqual(error.fieldViolations.map(({ field }) => field), fields);
  });
}

Deno.test("currentParams() refuses a webhook that is not given [§5.8 legacy-errors]", () => {
  const error = currentParams("CreateTaskPushNotificationConfig", { taskId }, "kinds");
  ok(error instanceof A2AError);
  deepStrictEqual(error.fieldViolations.map(({ field }) => field), ["pushNotificationConfig"]);
});
