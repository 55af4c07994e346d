import type { A2AError } from "./errors.ts";
import { type FieldReader, isJsonObject, type JsonObject, readRequest } from "./field_reader.ts";
import { isTaskId } from "./ids.ts";
import { messageLimits } from "./message_wire.ts";
import type { Method } from "./request_types.ts";

/**
 * How 0.3 is written: `kinds` over JSON-RPC, where `kind` says what an object is, `proto` over HTTP+JSON, which is the ProtoJSON of
 * its protobuf. Only there an absent `blocking` is false, since ProtoJSON leaves out what is false.
 */
export type LegacyForm = "kinds" | "proto";

/**
 * Gives the params of A2A 1.0 that stand for params of 0.3, or `INVALID_PARAMS` in the words of 0.3. Pure, never throws.
 *
 * Only what 0.3 writes otherwise is read: all else is handed on as it is, to be judged by the reader of 1.0 as any request.
 */
export function currentParams(method: Method, params: unknown, form: LegacyForm): JsonObject | A2AError {
  return readRequest(params ?? {}, (fields) => readers[form][method]?.(fields) ?? params as JsonObject ?? {});
}

/** The flag by which 0.3 marks `data` that is no object there: `{ value }` stands for the value. The SDKs' own. */
export const wrappedDataFlag = "data_part_compat";

type Reader = (fields: FieldReader) => JsonObject;

/** Over HTTP+JSON the ids stand in the path, under the names of 1.0. */
const readers: Readonly<Record<LegacyForm, Partial<Record<Method, Reader>>>> = {
  kinds: {
    SendMessage: (fields) => send(fields, "kinds"),
    SendStreamingMessage: (fields) => send(fields, "kinds"),
    CreateTaskPushNotificationConfig: createPush,
    GetTaskPushNotificationConfig: pushId,
    ListTaskPushNotificationConfigs: (fields) => given({ taskId: fields.value("id"), pageSize: pushesMax }),
    DeleteTaskPushNotificationConfig: pushId,
  },
  proto: {
    SendMessage: (fields) => send(fields, "proto"),
    SendStreamingMessage: (fields) => send(fields, "proto"),
    CreateTaskPushNotificationConfig: createPush,
  },
};

/** 0.3 has no pages: the most that a page may have. */
const pushesMax = 100;

function send(fields: FieldReader, form: LegacyForm): JsonObject {
  const message = fields.nested("message");
  const configuration = fields.nested("configuration");
  return given({
    message: message && messageOf(message, form),
    configuration: configuration && configurationOf(configuration, form),
    metadata: fields.value("metadata"),
  });
}

function messageOf(fields: FieldReader, form: LegacyForm): JsonObject {
  const role = fields.value("role");
  const expected = form === "kinds" ? "user" : "ROLE_USER";
  if (role !== undefined && role !== expected) fields.refuse("role", `must be "${expected}"`);
  const isContent = form === "proto" && fields.value("content") !== undefined;
  const parts = fields.nestedItems(isContent ? "content" : "parts", messageLimits.parts);
  return given({
    ...asGiven(fields, ["messageId", "contextId", "taskId", "referenceTaskIds", "extensions", "metadata"]),
    role: role && "ROLE_USER",
    parts: parts?.map((part) => partOf(part, form)),
  });
}

function partOf(fields: FieldReader, form: LegacyForm): JsonObject {
  const named = ["text", "file", "data"].filter((name) => fields.value(name) !== undefined);
  const kind = fields.value("kind") ?? (form === "proto" && named.length === 1 ? named[0] : undefined);
  const metadata = fields.value("metadata");
  switch (kind) {
    case "text":
      return given({ text: required(fields, "text"), metadata });
    case "file":
      required(fields, "file");
      return given({ ...fileOf(fields.nested("file")), metadata });
    case "data":
      return dataOf(fields, metadata);
    default:
      fields.refuse(form === "kinds" ? "kind" : "", "must be text, file or data");
      return {};
  }
}

const fileMembers = [["bytes", "raw"], ["fileWithBytes", "raw"], ["uri", "url"], ["fileWithUri", "url"]] as const;

function fileOf(fields: FieldReader | undefined): JsonObject {
  if (fields === undefined) return {};
  const contents = fileMembers.filter(([name]) => fields.value(name) !== undefined);
  if (contents.length !== 1) {
    fields.refuse("", `must have exactly one of bytes and uri, and has ${contents.length === 0 ? "none" : "several"}`);
    return {};
  }
  const [[from, to]] = contents as [typeof fileMembers[number]];
  return { [to]: fields.value(from), filename: fields.value("name"), mediaType: fields.value("mimeType") };
}

/** With `kind` it is the data itself, in ProtoJSON one level further down. */
function dataOf(fields: FieldReader, metadata: unknown): JsonObject {
  const isNested = fields.value("kind") === undefined;
  const data = isNested ? fields.nested("data")?.value("data") : required(fields, "data");
  if (isNested && data === undefined) fields.refuse("data.data", "is required");
  const { [wrappedDataFlag]: flag, ...rest } = isJsonObject(metadata) ? metadata : {};
  if (flag !== true || !isJsonObject(data) || !Object.hasOwn(data, "value")) return given({ data, metadata });
  return given({ data: data.value, metadata: Object.keys(rest).length > 0 ? rest : undefined });
}

function configurationOf(fields: FieldReader, form: LegacyForm): JsonObject {
  const push = fields.nested("pushNotificationConfig") ?? fields.nested("pushNotification");
  const blocking = fields.flag("blocking") ?? (form === "proto" ? false : undefined);
  return given({
    ...asGiven(fields, ["acceptedOutputModes", "historyLength"]),
    returnImmediately: blocking === undefined ? undefined : !blocking,
    taskPushNotificationConfig: push && pushOf(push),
  });
}

/** Without an id of its own a webhook has that of its task, as with 0.3's SDKs: by it 0.3 reads it back. */
function createPush(fields: FieldReader): JsonObject {
  const taskId = fields.value("taskId");
  const holder = fields.nested("config") ?? fields;
  if (holder.value("pushNotificationConfig") === undefined) holder.refuse("pushNotificationConfig", "is required");
  const push = holder.nested("pushNotificationConfig");
  const ownId = fields.value("configId") ?? (isTaskId(taskId) ? taskId : undefined);
  return given({ id: ownId, ...push && pushOf(push), taskId });
}

function pushOf(fields: FieldReader): JsonObject {
  const authentication = fields.nested("authentication");
  const asked = asGiven(fields, ["id", "url", "token"]);
  const named = asked.id === "" ? given({ ...asked, id: undefined }) : asked;
  return given({ ...named, authentication: authentication && authenticationOf(authentication) });
}

/** Without credentials it only names schemes, and there is nothing that could be sent. Of several schemes we take the first. */
function authenticationOf(fields: FieldReader): JsonObject | undefined {
  const credentials = fields.value("credentials");
  const schemes = fields.texts("schemes", { charsMax: 64, itemsMax: messageLimits.listItems });
  if (credentials === undefined || credentials === "") return undefined;
  return given({ scheme: schemes?.[0], credentials });
}

function pushId(fields: FieldReader): JsonObject {
  const taskId = fields.value("id");
  return given({ taskId, id: fields.value("pushNotificationConfigId") ?? taskId });
}

function required(fields: FieldReader, name: string): unknown {
  const value = fields.value(name);
  if (value === undefined) fields.refuse(name, "is required");
  return value;
}

function asGiven(fields: FieldReader, names: readonly string[]): JsonObject {
  return given(Object.fromEntries(names.map((name) => [name, fields.value(name)])));
}

/** Without the members that are undefined. */
function given(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
