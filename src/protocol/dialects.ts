import { A2AError, type HttpErrorJson, type JsonRpcErrorJson, toHttpError, toJsonRpcError } from "./errors.ts";
import { methodNotFound } from "./json_rpc.ts";
import { inLegacyNames, legacyError, type LegacyErrorJson, legacyHttpError } from "./legacy_errors.ts";
import { currentParams, type LegacyForm } from "./legacy_requests.ts";
import { legacyEvent, legacyResult } from "./legacy_results.ts";
import { isMethod, legacyMethods } from "./methods.ts";
import type { ProtocolVersion } from "./protocol_version.ts";
import type { Method, RequestOf } from "./request_types.ts";
import { parseParams, parseRest, restParams } from "./requests.ts";
import type { RestInput } from "./rest_input.ts";
import type { StreamJson } from "./task.ts";

/** What a version of A2A says about the one table of operations, whichever binding it is said over. Pure. */
interface AnyDialect {
  /** The JSON of what an operation gave; a refusal when this version cannot say it. */
  result(method: Method, value: unknown): unknown;
  /** The JSON of an event of the stream that an operation gave. */
  event(method: Method, event: StreamJson): unknown;
  /** What an operation refused, with its fields named as the caller wrote them. */
  refusal(method: Method, error: A2AError): A2AError;
}

/** One version of A2A over JSON-RPC. */
export interface RpcDialect extends AnyDialect {
  /** Finds the method that `name` stands for, and reads its params; what is refused is in the words of this version. */
  read(name: string, params: unknown): ReadCall | A2AError;
  /** The `error` member of an answer. */
  error(error: A2AError): JsonRpcErrorJson | LegacyErrorJson;
}

/** A method with its request. */
export interface ReadCall {
  readonly method: Method;
  readonly request: RequestOf[Method];
}

/** One version of A2A over HTTP+JSON. The paths are the same in all. */
export interface RestDialect extends AnyDialect {
  read(method: Method, input: RestInput): RequestOf[Method] | A2AError;
  /** Status and body of an error. */
  error(error: A2AError): { readonly status: number; readonly body: HttpErrorJson | LegacyErrorJson };
}

/** The one place where versions differ over JSON-RPC (product.md §5.8). What is refused before its version is known is said in 1.0. */
export const rpcDialects: Readonly<Record<ProtocolVersion, RpcDialect>> = {
  "1.0": {
    read(name, params) {
      if (!isMethod(name)) return methodNotFound(name);
      const request = parseParams(name, params);
      return request instanceof A2AError ? request : { method: name, request };
    },
    result: (_, value) => value,
    event: (_, event) => event,
    refusal: (_, error) => error,
    error: toJsonRpcError,
  },
  "0.3": {
    read(name, params) {
      const method = legacyMethods.get(name);
      if (method === undefined) return methodNotFound(name);
      const request = readLegacy(method, params, "kinds");
      return request instanceof A2AError ? request : { method, request };
    },
    result: (method, value) => legacyResult(method, value, "kinds"),
    event: (method, event) => legacyEvent(method, event, "kinds"),
    refusal: (method, error) => inLegacyNames(error, method),
    error: legacyError,
  },
};

/** The same over HTTP+JSON, where only the header or the query tells 0.3 from 1.0. */
export const restDialects: Readonly<Record<ProtocolVersion, RestDialect>> = {
  "1.0": {
    read: parseRest,
    result: (_, value) => value,
    event: (_, event) => event,
    refusal: (_, error) => error,
    error: toHttpError,
  },
  "0.3": {
    read(method, input) {
      if (method === "ListTasks") return new A2AError("ROUTE_NOT_FOUND", { message: "A2A 0.3 has no list of tasks" });
      const params = restParams(method, input);
      return params instanceof A2AError ? params : readLegacy(method, params, "proto");
    },
    result: (method, value) => legacyResult(method, value, "proto"),
    event: (method, event) => legacyEvent(method, event, "proto"),
    refusal: (method, error) => inLegacyNames(error, method),
    error: legacyHttpError,
  },
};

/** Translated, then read by the one reader there is: what 1.0 refuses is refused here, too. */
function readLegacy(method: Method, params: unknown, form: LegacyForm): RequestOf[Method] | A2AError {
  const current = currentParams(method, params, form);
  if (current instanceof A2AError) return current;
  const request = parseParams(method, current);
  return request instanceof A2AError ? inLegacyNames(request, method) : request;
}
