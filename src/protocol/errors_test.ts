import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import {
  A2AError,
  errorHeaders,
  errorTable,
  jsonRpcHttpStatus,
  type Reason,
  toHttpError,
  toJsonRpcError,
} from "./errors.ts";

/** Reason, JSON-RPC code, HTTP status, HTTP status of the JSON-RPC answer, status name, reason on the wire when it differs. */
const table: readonly (readonly [Reason, number, number, number, string, string?])[] = [
  ["TASK_NOT_FOUND", -32001, 404, 200, "NOT_FOUND"],
  ["TASK_NOT_CANCELABLE", -32002, 400, 200, "FAILED_PRECONDITION"],
  ["PUSH_NOTIFICATION_NOT_SUPPORTED", -32003, 400, 200, "FAILED_PRECONDITION"],
  ["UNSUPPORTED_OPERATION", -32004, 400, 200, "FAILED_PRECONDITION"],
  ["CONTENT_TYPE_NOT_SUPPORTED", -32005, 400, 200, "INVALID_ARGUMENT"],
  ["INVALID_AGENT_RESPONSE", -32006, 500, 200, "INTERNAL"],
  ["EXTENDED_AGENT_CARD_NOT_CONFIGURED", -32007, 400, 200, "FAILED_PRECONDITION"],
  ["EXTENSION_SUPPORT_REQUIRED", -32008, 400, 200, "FAILED_PRECONDITION"],
  ["VERSION_NOT_SUPPORTED", -32009, 400, 200, "FAILED_PRECONDITION"],
  ["PARSE_ERROR", -32700, 400, 200, "INVALID_ARGUMENT"],
  ["INVALID_REQUEST", -32600, 400, 200, "INVALID_ARGUMENT"],
  ["METHOD_NOT_FOUND", -32601, 404, 200, "NOT_FOUND"],
  ["INVALID_PARAMS", -32602, 400, 200, "INVALID_ARGUMENT"],
  ["INTERNAL", -32603, 500, 500, "INTERNAL"],
  ["UNAUTHENTICATED", -32000, 401, 401, "UNAUTHENTICATED"],
  ["FORBIDDEN", -32000, 403, 403, "PERMISSION_DENIED"],
  ["PAYLOAD_TOO_LARGE", -32000, 413, 413, "RESOURCE_EXHAUSTED"],
  ["TOO_MANY_REQUESTS", -32000, 429, 429, "RESOURCE_EXHAUSTED"],
  ["QUEUE_FULL", -32000, 503, 503, "UNAVAILABLE"],
  ["STORAGE_FULL", -32603, 503, 503, "UNAVAILABLE"],
  ["SHUTTING_DOWN", -32000, 503, 503, "UNAVAILABLE"],
  ["INDEX_NOT_READY", -32000, 503, 503, "UNAVAILABLE"],
  ["ROUTE_NOT_FOUND", -32000, 404, 404, "NOT_FOUND"],
  ["METHOD_NOT_ALLOWED", -32000, 405, 405, "UNIMPLEMENTED"],
  ["UNSUPPORTED_MEDIA_TYPE", -32005, 415, 415, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED"],
];

for (const [reason, code, http, rpcHttp, status, wireReason = reason] of table) {
  Deno.test(`errorTable gives ${reason} its codes on both bindings [§5.10 one-table]`, () => {
    const error = new A2AError(reason);
    const isA2A = code <= -32001 && code >= -32099;
    const info = {
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      reason: wireReason,
      domain: isA2A ? "a2a-protocol.org" : "volcanic-a2a",
    };
    deepStrictEqual(toJsonRpcError(error), { code, message: error.message, data: [info] });
    deepStrictEqual(toHttpError(error), {
      status: http,
      body: { error: { code: http, status, message: error.message, details: [info] } },
    });
    strictEqual(jsonRpcHttpStatus(error), rpcHttp);
    ok(error.message.length > 0 && !/busy/i.test(error.message)); // clients act on the word
  });
}

Deno.test("errorTable has the rows of this test and no others [§5.10 one-table]", () => {
  deepStrictEqual(Object.keys(errorTable).sort(), table.map(([reason]) => reason).sort());
});

Deno.test("errorTable keeps our own codes out of A2A's range", () => {
  for (const { code, domain } of Object.values(errorTable)) {
    strictEqual(code <= -32001 && code >= -32099, domain === "a2a-protocol.org");
  }
});

Deno.test("toJsonRpcError() adds metadata, violations and the wait as details with a type [§5.10 one-table]", () => {
  const error = new A2AError("INVALID_PARAMS", {
    message: "Cannot read the request: id is required",
    fieldViolations: [{ field: "id", description: "is required" }],
    metadata: { limit: "256" },
    retryAfterSeconds: 1.2,
  });
  const details = [
    {
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      reason: "INVALID_PARAMS",
      domain: "volcanic-a2a",
      metadata: { limit: "256" },
    },
    {
      "@type": "type.googleapis.com/google.rpc.BadRequest",
      fieldViolations: [{ field: "id", description: "is required" }],
    },
    { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "2s" },
  ];
  deepStrictEqual(toJsonRpcError(error), {
    code: -32602,
    message: "Cannot read the request: id is required",
    data: details,
  });
  deepStrictEqual(toHttpError(error).body.error.details, details);
  deepStrictEqual(errorHeaders(error), { "Retry-After": "2" });
});

Deno.test("errorHeaders() has no Retry-After where trying again makes no sense, and at least one second where it does", () => {
  deepStrictEqual(errorHeaders(new A2AError("FORBIDDEN")), {});
  deepStrictEqual(errorHeaders(new A2AError("QUEUE_FULL", { retryAfterSeconds: 0 })), { "Retry-After": "1" });
});

Deno.test("toJsonRpcError() and toHttpError() never show a cause or a stack", () => {
  const error = new A2AError("INTERNAL");
  error.cause = new Error("secret=/etc/passwd");
  for (const shown of [toJsonRpcError(error), toHttpError(error)]) {
    ok(!/secret|stack|cause|\.ts/.test(JSON.stringify(shown)));
  }
});
