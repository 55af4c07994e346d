import type { AgentCardJson } from "./agent_card.ts";
import { A2AError } from "./errors.ts";
import { isJsonObject, type JsonObject } from "./field_reader.ts";
import { legacyCard } from "./legacy_card.ts";
import { type LegacyForm, wrappedDataFlag } from "./legacy_requests.ts";
import type { Method } from "./request_types.ts";
import {
  type ArtifactJson,
  isSettled,
  isTerminal,
  type MessageJson,
  type PartJson,
  type State,
  type StatusJson,
  type StreamJson,
  type TaskJson,
} from "./task.ts";

/** Says in 0.3 what a method gave; a card where 0.3 is not spoken is a refusal. Pure. */
export function legacyResult(method: Method, value: unknown, form: LegacyForm): unknown {
  switch (method) {
    case "SendMessage":
      return sent(value as SentJson, form);
    case "GetTask":
    case "CancelTask":
      return taskOf(value as TaskJson, form);
    case "CreateTaskPushNotificationConfig":
    case "GetTaskPushNotificationConfig":
      return pushOf(value as PushJson, form);
    case "ListTaskPushNotificationConfigs": {
      const configs = (value as { readonly configs?: readonly PushJson[] }).configs ?? [];
      const pushes = configs.map((push) => pushOf(push, form));
      return form === "kinds" ? pushes : { configs: pushes };
    }
    case "DeleteTaskPushNotificationConfig":
      return form === "kinds" ? null : {};
    case "GetExtendedAgentCard":
      return cardOf(value as AgentCardJson, form);
    default:
      throw new RangeError(`Cannot say in A2A 0.3 what ${method} gave`);
  }
}

/**
 * Says in 0.3 what an event of a stream says. `final` is true on the status that ends the stream of that method: a subscription
 * goes on when the task asks its caller something. Pure.
 */
export function legacyEvent(method: Method, event: StreamJson, form: LegacyForm): unknown {
  if ("task" in event) return sent(event, form);
  if ("statusUpdate" in event) {
    const { status, ...rest } = event.statusUpdate;
    const isLast = method === "SubscribeToTask" ? isTerminal : isSettled;
    const update = { ...rest, status: statusOf(status, form), final: isLast(status.state) };
    return form === "kinds" ? { kind: "status-update", ...update } : { statusUpdate: update };
  }
  const { artifact, ...rest } = event.artifactUpdate;
  const update = { ...rest, artifact: artifactOf(artifact, form) };
  return form === "kinds" ? { kind: "artifact-update", ...update } : { artifactUpdate: update };
}

type SentJson = { readonly task: TaskJson } | { readonly message: MessageJson };

function sent(value: SentJson, form: LegacyForm): unknown {
  if (form === "kinds") return "task" in value ? taskOf(value.task, form) : messageOf(value.message, form);
  return "task" in value ? { task: taskOf(value.task, form) } : { message: messageOf(value.message, form) };
}

function taskOf({ status, history, artifacts, ...rest }: TaskJson, form: LegacyForm) {
  return {
    ...(form === "kinds" && { kind: "task" }),
    ...rest,
    status: statusOf(status, form),
    ...(artifacts && { artifacts: artifacts.map((artifact) => artifactOf(artifact, form)) }),
    ...(history && { history: history.map((message) => messageOf(message, form)) }),
  };
}

function statusOf({ state, timestamp, message }: StatusJson, form: LegacyForm) {
  return {
    state: form === "kinds" ? kindsStates[state] : state === "TASK_STATE_CANCELED" ? "TASK_STATE_CANCELLED" : state,
    timestamp,
    ...(message && { message: messageOf(message, form) }),
  };
}

const kindsStates: Readonly<Record<State, string>> = {
  TASK_STATE_SUBMITTED: "submitted",
  TASK_STATE_WORKING: "working",
  TASK_STATE_INPUT_REQUIRED: "input-required",
  TASK_STATE_COMPLETED: "completed",
  TASK_STATE_FAILED: "failed",
  TASK_STATE_CANCELED: "canceled",
  TASK_STATE_REJECTED: "rejected",
};

/** The protobuf of 0.3 has no tasks to refer to. */
function messageOf({ role, parts, referenceTaskIds, ...rest }: MessageJson, form: LegacyForm) {
  const said = parts.map((part) => partOf(part, form));
  if (form === "proto") return { ...rest, role, content: said };
  return {
    ...{ kind: "message", ...rest, role: role === "ROLE_USER" ? "user" : "agent", parts: said },
    ...(referenceTaskIds && { referenceTaskIds }),
  };
}

function artifactOf({ parts, ...rest }: ArtifactJson, form: LegacyForm) {
  return { ...rest, parts: parts.map((part) => partOf(part, form)) };
}

function partOf(part: PartJson, form: LegacyForm): JsonObject {
  const { text, raw, url, metadata } = part;
  const more = metadata && { metadata };
  if (text !== undefined) return form === "kinds" ? { kind: "text", text, ...more } : { text, ...more };
  if (raw === undefined && url === undefined) return dataPartOf(part, form);
  const file = fileOf(part, form);
  return form === "kinds" ? { kind: "file", file, ...more } : { file, ...more };
}

/** What is served has its bytes in place. */
function fileOf({ raw, url, filename, mediaType }: PartJson, form: LegacyForm): JsonObject {
  const [bytes, uri] = form === "kinds" ? ["bytes", "uri"] : ["fileWithBytes", "fileWithUri"];
  return {
    ...(raw === undefined ? { [uri!]: url } : { [bytes!]: raw }),
    ...(filename !== undefined && { name: filename }),
    ...(mediaType !== undefined && { mimeType: mediaType }),
  };
}

/** The data of 0.3 is an object: another value is wrapped into one, and marked. */
function dataPartOf({ data, metadata }: PartJson, form: LegacyForm): JsonObject {
  const isObject = isJsonObject(data);
  const object = isObject ? data : { value: data ?? null };
  const marked = isObject ? metadata : { ...metadata, [wrappedDataFlag]: true };
  return {
    ...(form === "kinds" ? { kind: "data", data: object } : { data: { data: object } }),
    ...(marked && { metadata: marked }),
  };
}

/** A webhook as 1.0 shows it. */
interface PushJson {
  readonly taskId: string;
  readonly id?: string;
  readonly url: string;
  readonly token?: string;
  readonly authentication?: { readonly scheme: string; readonly credentials?: string };
}

function pushOf({ taskId, id, url, token, authentication }: PushJson, form: LegacyForm) {
  const pushNotificationConfig = {
    ...(id !== undefined && { id }),
    url,
    ...(token !== undefined && { token }),
    ...(authentication && { authentication: authenticationOf(authentication) }),
  };
  if (form === "kinds") return { taskId, pushNotificationConfig };
  return { name: `tasks/${taskId}/pushNotificationConfigs/${id ?? taskId}`, pushNotificationConfig };
}

function authenticationOf({ scheme, credentials }: NonNullable<PushJson["authentication"]>) {
  return { schemes: [scheme], ...(credentials !== undefined && { credentials }) };
}

/** The protobuf of 0.3 writes the keys of a card as 1.0 does. */
function cardOf(card: AgentCardJson, form: LegacyForm) {
  const legacy = legacyCard(card);
  if (legacy === undefined) return new A2AError("VERSION_NOT_SUPPORTED");
  if (form === "kinds") return legacy;
  return { ...legacy, securitySchemes: card.securitySchemes, security: card.securityRequirements };
}
