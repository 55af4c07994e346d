import { A2AError } from "./errors.ts";
import { type FieldReader, type JsonObject, readRequest } from "./field_reader.ts";
import { messageLimits } from "./message_wire.ts";
import { readPushConfig } from "./push_config_wire.ts";
import { historyLength, pageToken, pushPageSize, taskIdRule, taskPageSize, tenant } from "./request_fields.ts";
import type { ListTasksRequest, Method, PushConfigRequest, RequestOf } from "./request_types.ts";
import { type RestInput, restJson } from "./rest_input.ts";
import { readSendMessage } from "./send_request.ts";

/**
 * Parses the `params` of a JSON-RPC call. Absent and null are no parameters; anything but an object is `INVALID_PARAMS`, an
 * array too: A2A has parameters by name only.
 */
export function parseParams<M extends Method>(method: M, params: unknown): RequestOf[M] | A2AError {
  return readRequest<RequestOf[M]>(params ?? {}, readers[method]);
}

/** Parses a request over HTTP+JSON into the same value as `parseParams` (A2A 1.0 §5.1, §11.3). */
export function parseRest<M extends Method>(method: M, input: RestInput): RequestOf[M] | A2AError {
  const json = restParams(method, input);
  return json instanceof A2AError ? json : readRequest<RequestOf[M]>(json, readers[method]);
}

/** Gives the params of JSON-RPC that a request over HTTP+JSON stands for, unread. */
export function restParams(method: Method, input: RestInput): JsonObject | A2AError {
  return restJson(methodsWithBody.has(method) ? "body" : "query", input);
}

const methodsWithBody: ReadonlySet<Method> = new Set<Method>([
  "SendMessage",
  "SendStreamingMessage",
  "CancelTask",
  "CreateTaskPushNotificationConfig",
]);

const readers: { readonly [M in Method]: (fields: FieldReader) => RequestOf[M] } = {
  SendMessage: readSendMessage,
  SendStreamingMessage: readSendMessage,
  GetTask: (fields) => ({ id: fields.requiredText("id", taskIdRule), ...historyLength(fields), ...tenant(fields) }),
  ListTasks: readListTasks,
  CancelTask(fields) {
    const metadata = fields.struct("metadata", messageLimits.metadataChars);
    return {
      id: fields.requiredText("id", taskIdRule),
      ...(metadata !== undefined && { metadata }),
      ...tenant(fields),
    };
  },
  SubscribeToTask: (fields) => ({ id: fields.requiredText("id", taskIdRule), ...tenant(fields) }),
  CreateTaskPushNotificationConfig: (fields) => ({
    taskId: fields.requiredText("taskId", taskIdRule),
    push: readPushConfig(fields),
    ...tenant(fields),
  }),
  GetTaskPushNotificationConfig: readPushConfigId,
  ListTaskPushNotificationConfigs: (fields) => ({
    taskId: fields.requiredText("taskId", taskIdRule),
    ...pushPageSize(fields),
    ...pageToken(fields),
    ...tenant(fields),
  }),
  DeleteTaskPushNotificationConfig: readPushConfigId,
  GetExtendedAgentCard: tenant,
};

function readPushConfigId(fields: FieldReader): PushConfigRequest {
  return {
    taskId: fields.requiredText("taskId", taskIdRule),
    id: fields.requiredText("id", taskIdRule),
    ...tenant(fields),
  };
}

/** The states of A2A by their numbers. */
const listedStates = [
  "TASK_STATE_UNSPECIFIED",
  "TASK_STATE_SUBMITTED",
  "TASK_STATE_WORKING",
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_CANCELED",
  "TASK_STATE_INPUT_REQUIRED",
  "TASK_STATE_REJECTED",
  "TASK_STATE_AUTH_REQUIRED",
] as const;

function readListTasks(fields: FieldReader): ListTasksRequest {
  const contextId = fields.text("contextId", { charsMax: 256, mayBeBlank: true });
  const status = fields.enumName("status", listedStates);
  const statusAfterMs = fields.instantMs("statusTimestampAfter");
  return {
    ...(contextId && { contextId }),
    ...(status !== undefined && { status }),
    ...taskPageSize(fields),
    ...pageToken(fields),
    ...historyLength(fields),
    ...(statusAfterMs !== undefined && { statusAfterMs }),
    includeArtifacts: fields.flag("includeArtifacts") ?? false,
    ...tenant(fields),
  };
}
