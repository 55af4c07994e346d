import { deepStrictEqual, ok, strictEqual, throws } from "node:assert/strict";
import type { AgentCardJson } from "./agent_card.ts";
import { A2AError } from "./errors.ts";
import type { TaskId } from "./ids.ts";
import { currentParams, type LegacyForm } from "./legacy_requests.ts";
import { legacyEvent, legacyResult } from "./legacy_results.ts";
import type { Method } from "./request_types.ts";
import { type MessageJson, type PartJson, states, type StreamJson, type TaskJson } from "./task.ts";

const forms: readonly LegacyForm[] = ["kinds", "proto"];
const id = "330de81c-72cd-45b4-a96d-30c772e5bf3f" as TaskId;
const timestamp = "2026-10-08T12:00:00.000Z";

const question: MessageJson = {
  messageId: "q",
  role: "ROLE_AGENT",
  parts: [{ text: "Which?" }],
  taskId: id,
  contextId: "c",
};
const asked: MessageJson = { messageId: "m", role: "ROLE_USER", parts: [{ text: "Hi" }], referenceTaskIds: ["r"] };
const task: TaskJson = {
  ...{ id, contextId: "c", metadata: { a: 1 }, history: [asked] },
  status: { state: "TASK_STATE_INPUT_REQUIRED", timestamp, message: question },
  artifacts: [{ artifactId: "response", name: "Answer", parts: [{ text: "So" }] }],
};

const kindsQuestion = {
  ...{ kind: "message", messageId: "q", role: "agent", parts: [{ kind: "text", text: "Which?" }] },
  ...{ taskId: id, contextId: "c" },
};
const kindsTask = {
  ...{ kind: "task", id, contextId: "c", metadata: { a: 1 } },
  status: { state: "input-required", timestamp, message: kindsQuestion },
  artifacts: [{ artifactId: "response", name: "Answer", parts: [{ kind: "text", text: "So" }] }],
  history: [{
    ...{ kind: "message", messageId: "m", role: "user", parts: [{ kind: "text", text: "Hi" }] },
    referenceTaskIds: ["r"],
  }],
};
const protoQuestion = { messageId: "q", role: "ROLE_AGENT", content: [{ text: "Which?" }], taskId: id, contextId: "c" };
const protoTask = {
  ...{ id, contextId: "c", metadata: { a: 1 } },
  status: { state: "TASK_STATE_INPUT_REQUIRED", timestamp, message: protoQuestion },
  artifacts: [{ artifactId: "response", name: "Answer", parts: [{ text: "So" }] }],
  history: [{ messageId: "m", role: "ROLE_USER", content: [{ text: "Hi" }] }],
};

const push = { taskId: id, id: "p", url: "https://e", token: "t", authentication: { scheme: "Bearer" } };
const pushNotificationConfig = { id: "p", url: "https://e", token: "t", authentication: { schemes: ["Bearer"] } };
const kindsPush = { taskId: id, pushNotificationConfig };
const protoPush = { name: `tasks/${id}/pushNotificationConfigs/p`, pushNotificationConfig };

const results: readonly { method: Method; value: unknown; kinds: unknown; proto: unknown }[] = [
  { method: "SendMessage", value: { task }, kinds: kindsTask, proto: { task: protoTask } },
  { method: "SendMessage", value: { message: question }, kinds: kindsQuestion, proto: { message: protoQuestion } },
  { method: "GetTask", value: task, kinds: kindsTask, proto: protoTask },
  { method: "CancelTask", value: task, kinds: kindsTask, proto: protoTask },
  { method: "CreateTaskPushNotificationConfig", value: push, kinds: kindsPush, proto: protoPush },
  { method: "GetTaskPushNotificationConfig", value: push, kinds: kindsPush, proto: protoPush },
  {
    method: "ListTaskPushNotificationConfigs",
    value: { configs: [push], nextPageToken: "" },
    kinds: [kindsPush],
    proto: { configs: [protoPush] },
  },
  { method: "DeleteTaskPushNotificationConfig", value: {}, kinds: null, proto: {} },
];

for (const { method, value, ...gives } of results) {
  for (const form of forms) {
    Deno.test(`legacyResult() says what ${method} gave in ${form}: ${Object.keys(value!)} [§5.8 legacy-results]`, () => {
      deepStrictEqual(JSON.parse(JSON.stringify(legacyResult(method, value, form))), gives[form]);
    });
  }
}

const parts: readonly { name: string; part: PartJson; kinds: unknown; proto: unknown }[] = [
  {
    name: "empty text with metadata",
    part: { text: "", metadata: { a: 1 } },
    kinds: { kind: "text", text: "", metadata: { a: 1 } },
    proto: { text: "", metadata: { a: 1 } },
  },
  {
    name: "bytes",
    part: { raw: "aGk=", filename: "a.txt", mediaType: "text/plain" },
    kinds: { kind: "file", file: { bytes: "aGk=", name: "a.txt", mimeType: "text/plain" } },
    proto: { file: { fileWithBytes: "aGk=", name: "a.txt", mimeType: "text/plain" } },
  },
  {
    name: "no bytes",
    part: { raw: "" },
    kinds: { kind: "file", file: { bytes: "" } },
    proto: { file: { fileWithBytes: "" } },
  },
  {
    name: "a URL",
    part: { url: "https://e/a" },
    kinds: { kind: "file", file: { uri: "https://e/a" } },
    proto: { file: { fileWithUri: "https://e/a" } },
  },
  {
    name: "data",
    part: { data: { value: 1 } },
    kinds: { kind: "data", data: { value: 1 } },
    proto: { data: { data: { value: 1 } } },
  },
  {
    name: "data that is an array",
    part: { data: [1], metadata: { a: 1 } },
    kinds: { kind: "data", data: { value: [1] }, metadata: { a: 1, data_part_compat: true } },
    proto: { data: { data: { value: [1] } }, metadata: { a: 1, data_part_compat: true } },
  },
  {
    name: "data that is null",
    part: { data: null },
    kinds: { kind: "data", data: { value: null }, metadata: { data_part_compat: true } },
    proto: { data: { data: { value: null } }, metadata: { data_part_compat: true } },
  },
];

/** How the part comes out of a message of `form`. */
function shownPart(part: PartJson, form: LegacyForm) {
  const value = { message: { messageId: "m", role: "ROLE_USER", parts: [part] } };
  const shown = legacyResult("SendMessage", value, form) as { parts: [unknown]; message: { content: [unknown] } };
  return form === "kinds" ? shown.parts[0] : shown.message.content[0];
}

for (const { name, part, ...gives } of parts) {
  for (const form of forms) {
    Deno.test(`legacyResult() says a part with ${name} in ${form} [§5.8 legacy-results]`, () => {
      deepStrictEqual(JSON.parse(JSON.stringify(shownPart(part, form))), gives[form]);
    });
    Deno.test(`currentParams() gives the part with ${name} back from ${form} [§5.8 legacy-requests]`, () => {
      const said = [shownPart(part, form)];
      const message = form === "kinds" ? { role: "user", parts: said } : { role: "ROLE_USER", content: said };
      const params = currentParams("SendMessage", { message }, form);
      deepStrictEqual(JSON.parse(JSON.stringify(params)).message.parts, [JSON.parse(JSON.stringify(part))]);
    });
  }
}

const kindsStates = ["submitted", "working", "input-required", "completed", "failed", "canceled", "rejected"];

for (const [at, state] of states.entries()) {
  const event: StreamJson = { statusUpdate: { taskId: id, contextId: "c", status: { state, timestamp } } };
  const isTerminal = at > 2;
  Deno.test(`legacyEvent() says that a task is ${state}, and whether that is the end [§5.8 legacy-streams]`, () => {
    const status = { state: kindsStates[at], timestamp };
    const kinds = { kind: "status-update", taskId: id, contextId: "c", status };
    deepStrictEqual(legacyEvent("SendStreamingMessage", event, "kinds"), { ...kinds, final: at >= 2 });
    deepStrictEqual(legacyEvent("SubscribeToTask", event, "kinds"), { ...kinds, final: isTerminal });
    const protoStatus = { state: state === "TASK_STATE_CANCELED" ? "TASK_STATE_CANCELLED" : state, timestamp };
    deepStrictEqual(legacyEvent("SubscribeToTask", event, "proto"), {
      statusUpdate: { taskId: id, contextId: "c", status: protoStatus, final: isTerminal },
    });
  });
}

Deno.test("legacyEvent() says tasks and artifacts [§5.8 legacy-streams]", () => {
  const artifactUpdate = {
    ...{ taskId: id, contextId: "c", append: true, lastChunk: false },
    artifact: { artifactId: "a", parts: [{ text: "So" }] },
  };
  const { artifact, ...rest } = artifactUpdate;
  deepStrictEqual(legacyEvent("SubscribeToTask", { artifactUpdate }, "kinds"), {
    ...{ kind: "artifact-update", ...rest },
    artifact: { ...artifact, parts: [{ kind: "text", text: "So" }] },
  });
  deepStrictEqual(legacyEvent("SubscribeToTask", { artifactUpdate }, "proto"), { artifactUpdate });
  deepStrictEqual(JSON.parse(JSON.stringify(legacyEvent("SubscribeToTask", { task }, "kinds"))), kindsTask);
  deepStrictEqual(JSON.parse(JSON.stringify(legacyEvent("SubscribeToTask", { task }, "proto"))), { task: protoTask });
});

const card: AgentCardJson = {
  ...{ name: "Bo", description: "Helps.", version: "1", skills: [] },
  supportedInterfaces: [{ url: "https://x/a2a", protocolBinding: "JSONRPC", protocolVersion: "0.3" }],
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: true },
  securitySchemes: { apiKey: { apiKeySecurityScheme: { location: "header", name: "X-API-Key" } } },
  securityRequirements: [{ schemes: { apiKey: { list: [] } } }],
  ...{ defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"] },
};

Deno.test("legacyResult() says a card with the keys of its form [§5.8 legacy-results]", () => {
  const kinds = legacyResult("GetExtendedAgentCard", card, "kinds") as Record<string, unknown>;
  deepStrictEqual(kinds.securitySchemes, { apiKey: { type: "apiKey", in: "header", name: "X-API-Key" } });
  deepStrictEqual(kinds.security, [{ apiKey: [] }]);
  deepStrictEqual(legacyResult("GetExtendedAgentCard", card, "proto"), {
    ...kinds,
    securitySchemes: card.securitySchemes,
    security: card.securityRequirements,
  });
});

Deno.test("legacyResult() refuses a card where 0.3 is not spoken [§5.8 legacy-results]", () => {
  const refused = legacyResult("GetExtendedAgentCard", { ...card, supportedInterfaces: [] }, "kinds");
  ok(refused instanceof A2AError);
  strictEqual(refused.reason, "VERSION_NOT_SUPPORTED");
});

Deno.test("legacyResult() of a method that 0.3 does not have is a bug", () => {
  throws(() => legacyResult("ListTasks", {}, "kinds"), RangeError);
});
