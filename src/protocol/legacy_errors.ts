import { A2AError, toHttpError, toJsonRpcError } from "./errors.ts";
import type { JsonObject } from "./field_reader.ts";
import type { Method } from "./request_types.ts";

/**
 * An error of 0.3: the `error` of a JSON-RPC answer, or the whole body over HTTP+JSON. The codes are those of 1.0.
 *
 * `data` is an object, with the details of 1.0 in it: SDKs of 0.3 read it into a map, and fail on an array.
 */
export interface LegacyErrorJson {
  readonly code: number;
  readonly message: string;
  readonly data: { readonly details: readonly JsonObject[] };
}

/** Says an error in 0.3. */
export function legacyError(error: A2AError): LegacyErrorJson {
  const { code, message, data } = toJsonRpcError(error);
  return { code, message, data: { details: data } };
}

/** Gives status and body of an error of 0.3 over HTTP+JSON. */
export function legacyHttpError(error: A2AError): { readonly status: number; readonly body: LegacyErrorJson } {
  return { status: toHttpError(error).status, body: legacyError(error) };
}

/** Gives an error that names the fields of 1.0 with the names that its caller wrote, those of 0.3. */
export function inLegacyNames(error: A2AError, method: Method): A2AError {
  const [first] = error.fieldViolations;
  if (first === undefined) return error;
  const fieldViolations = error.fieldViolations.map(({ field, description }) => ({
    field: legacyName(field, method),
    description,
  }));
  const renamed = legacyName(first.field, method);
  const message = first.field === "" ? error.message : error.message.replace(` ${first.field} `, () => ` ${renamed} `);
  return new A2AError(error.reason, { message, fieldViolations });
}

const names: readonly (readonly [current: RegExp, legacy: string])[] = [
  [/^(message\.parts\[\d+\])\.raw$/, "$1.file.bytes"],
  [/^(message\.parts\[\d+\])\.url$/, "$1.file.uri"],
  [/^(message\.parts\[\d+\])\.filename$/, "$1.file.name"],
  [/^(message\.parts\[\d+\])\.mediaType$/, "$1.file.mimeType"],
  [/^configuration\.taskPushNotificationConfig\b/, "configuration.pushNotificationConfig"],
];

function legacyName(field: string, method: Method): string {
  const isPush = method === "CreateTaskPushNotificationConfig" && /^(?:id|url|token|authentication)\b/.test(field);
  const placed = isPush
    ? `pushNotificationConfig.${field}`
    : names.reduce((name, pair) => name.replace(...pair), field);
  return placed.replace(/authentication\.scheme$/, "authentication.schemes");
}
