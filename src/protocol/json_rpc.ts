import { A2AError, toJsonRpcError } from "./errors.ts";
import { isJsonObject, typeNameOf } from "./field_reader.ts";
import type { Brand } from "./ids.ts";
import { parseJson } from "./json_body.ts";

/** The id of a JSON-RPC call as JSON text, digits as they were sent: `"1"`, `9007199254740993`, `null`. */
export type JsonRpcId = Brand<string, "JsonRpcId">;

/** The id of an answer to what had none that could be read. */
export const nullId = "null" as JsonRpcId;

/** A JSON-RPC call, or why the body is none. Either way `id` is what the answer carries. */
export type JsonRpcEnvelope =
  | { readonly kind: "call"; readonly id: JsonRpcId; readonly method: string; readonly params: unknown }
  | { readonly kind: "refused"; readonly id: JsonRpcId; readonly error: A2AError };

/**
 * Parses the body of a JSON-RPC call (JSON-RPC 2.0 §4, protocol.md 1.3). Never throws.
 *
 * What is no JSON is `PARSE_ERROR`; an array, so a batch too, and what has no `jsonrpc: "2.0"`, no text as `method` or no fit id
 * is `INVALID_REQUEST`. An id is a string, a number or null; in the answer to a bad request it is echoed where it was fit. A call
 * without an id, a notification, is refused as well: every method of A2A has an answer, and nothing may run whose outcome
 * nobody is told. `params` is handed on unread: an unknown method comes before bad parameters.
 */
export function parseEnvelope(bytes: Uint8Array): JsonRpcEnvelope {
  const body = parseJson(bytes);
  if (body instanceof A2AError) return { kind: "refused", id: nullId, error: body };
  const { value } = body;
  if (!isJsonObject(value)) {
    const what = Array.isArray(value) ? "a batch is not supported, send one call" : `got ${typeNameOf(value)}`;
    return refused(nullId, `expected an object; ${what}`);
  }
  if (!Object.hasOwn(value, "id")) return refused(nullId, `"id" is required`);
  const id = idText(value.id, body.text);
  if (id === undefined) {
    return refused(nullId, `"id" must be a string, a number or null, of at most ${idCharsMax} characters`);
  }
  const [version, method] = ["jsonrpc", "method"].map((name) => Object.hasOwn(value, name) ? value[name] : undefined);
  if (version !== "2.0") return refused(id, `"jsonrpc" must be "2.0"`);
  if (typeof method !== "string") return refused(id, `"method" must be a string`);
  return { kind: "call", id, method, params: Object.hasOwn(value, "params") ? value.params : undefined };
}

/** The JSON text of an answer with a result, in one line; undefined is null. */
export function success(id: JsonRpcId, result: unknown): string {
  return `{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(result) ?? "null"}}`;
}

/** The JSON text of an answer with an error, in one line; `toJson` gives the `error` member, by default that of 1.0. */
export function failure(
  id: JsonRpcId,
  error: A2AError,
  toJson: (error: A2AError) => unknown = toJsonRpcError,
): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(toJson(error))}}`;
}

/** The error for a method that is not one of A2A 1.0. */
export function methodNotFound(method: string): A2AError {
  return new A2AError("METHOD_NOT_FOUND", { message: `Method ${JSON.stringify(method.slice(0, 60))} is not known` });
}

/** Each event of a stream repeats the id. */
const idCharsMax = 1000;

function idText(id: unknown, body: string): JsonRpcId | undefined {
  if (id !== null && typeof id !== "string" && typeof id !== "number") return undefined;
  const isExact = typeof id !== "number" || Number.isSafeInteger(id);
  const text = isExact ? JSON.stringify(id) : idSource(body);
  return text.length <= idCharsMax ? text as JsonRpcId : undefined;
}

/** The text of the number at `id` of the outermost object: digits that a number of JavaScript cannot hold. */
function idSource(body: string): string {
  const sources = new Map<unknown, string>();
  let source = "";
  function visit(this: unknown, key: string, value: unknown, context?: { readonly source?: string }): unknown {
    if (key === "id" && context?.source !== undefined) sources.set(this, context.source);
    if (key === "") source = sources.get(value) ?? source;
    return value;
  }
  JSON.parse(body, visit);
  return source;
}

function refused(id: JsonRpcId, why: string): JsonRpcEnvelope {
  return { kind: "refused", id, error: new A2AError("INVALID_REQUEST", { message: `Cannot read the call: ${why}` }) };
}
