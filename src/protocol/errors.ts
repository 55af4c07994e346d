/** One broken field of a request: `field` is its path in camelCase, such as `message.parts[0].raw`; "" is the whole request. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** What an error of the table says to each binding. */
export interface ErrorRow {
  /** The `code` of a JSON-RPC error. */
  readonly code: number;
  /** The HTTP status over HTTP+JSON. */
  readonly http: number;
  /** The HTTP status that a JSON-RPC answer travels under. */
  readonly rpcHttp: number;
  /** The name of `google.rpc.Code`. */
  readonly status: string;
  /** The `reason` and `domain` of the `ErrorInfo`. */
  readonly reason: string;
  readonly domain: string;
  /** The message when the place that refuses has no better one. */
  readonly text: string;
}

/** The name of a row: why a request is refused. */
export type Reason = keyof typeof rows;

/**
 * What a caller is told when its request is refused: a row of the one error table, with what this case adds (product.md §5.10).
 *
 * It can be returned or thrown. It never holds a cause: what went wrong inside goes to the log, not here.
 */
export class A2AError extends Error {
  override readonly name = "A2AError";
  readonly reason: Reason;
  readonly fieldViolations: readonly FieldViolation[];
  readonly metadata: Readonly<Record<string, string>>;
  /** Whole seconds, at least 1, after which trying again makes sense; undefined when it does not. */
  readonly retryAfterSeconds: number | undefined;

  constructor(reason: Reason, options: A2AErrorOptions = {}) {
    super(options.message ?? rows[reason].text);
    const { fieldViolations = [], metadata = {}, retryAfterSeconds } = options;
    this.reason = reason;
    this.fieldViolations = fieldViolations;
    this.metadata = metadata;
    this.retryAfterSeconds = retryAfterSeconds === undefined ? undefined : Math.max(1, Math.ceil(retryAfterSeconds));
  }
}

/** What one refusal adds to its row. */
export interface A2AErrorOptions {
  /** Instead of the row's text. Only what the caller may know. */
  readonly message?: string;
  readonly fieldViolations?: readonly FieldViolation[];
  /** Goes into the `ErrorInfo`; values are strings on the wire. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Rounded up to whole seconds. */
  readonly retryAfterSeconds?: number;
}

const rows = {
  TASK_NOT_FOUND: a2a(-32001, [404, "NOT_FOUND"], "TASK_NOT_FOUND", "Task not found"),
  TASK_NOT_CANCELABLE: a2a(
    -32002,
    [400, "FAILED_PRECONDITION"],
    "TASK_NOT_CANCELABLE",
    "The task is over and cannot be canceled",
  ),
  PUSH_NOTIFICATION_NOT_SUPPORTED: a2a(
    -32003,
    [400, "FAILED_PRECONDITION"],
    "PUSH_NOTIFICATION_NOT_SUPPORTED",
    "Push notifications are not supported",
  ),
  UNSUPPORTED_OPERATION: a2a(
    -32004,
    [400, "FAILED_PRECONDITION"],
    "UNSUPPORTED_OPERATION",
    "This operation is not supported",
  ),
  CONTENT_TYPE_NOT_SUPPORTED: a2a(
    -32005,
    [400, "INVALID_ARGUMENT"],
    "CONTENT_TYPE_NOT_SUPPORTED",
    "The media type of a part is not supported",
  ),
  INVALID_AGENT_RESPONSE: a2a(
    -32006,
    [500, "INTERNAL"],
    "INVALID_AGENT_RESPONSE",
    "The agent gave an answer that does not conform",
  ),
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: a2a(
    -32007,
    [400, "FAILED_PRECONDITION"],
    "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
    "No extended agent card is configured",
  ),
  EXTENSION_SUPPORT_REQUIRED: a2a(
    -32008,
    [400, "FAILED_PRECONDITION"],
    "EXTENSION_SUPPORT_REQUIRED",
    "An extension that is required was not asked for",
  ),
  VERSION_NOT_SUPPORTED: a2a(
    -32009,
    [400, "FAILED_PRECONDITION"],
    "VERSION_NOT_SUPPORTED",
    "This version of A2A is not supported",
  ),

  PARSE_ERROR: rpc(-32700, [400, "INVALID_ARGUMENT"], "PARSE_ERROR", "The body is not JSON in UTF-8"),
  INVALID_REQUEST: rpc(-32600, [400, "INVALID_ARGUMENT"], "INVALID_REQUEST", "The body is not a JSON-RPC 2.0 request"),
  METHOD_NOT_FOUND: rpc(-32601, [404, "NOT_FOUND"], "METHOD_NOT_FOUND", "The method is not known"),
  INVALID_PARAMS: rpc(-32602, [400, "INVALID_ARGUMENT"], "INVALID_PARAMS", "The parameters are not valid"),
  INTERNAL: ours([500, "INTERNAL"], "INTERNAL", "The server failed unexpectedly", -32603),

  UNAUTHENTICATED: ours([401, "UNAUTHENTICATED"], "UNAUTHENTICATED", "A valid key is required"),
  FORBIDDEN: ours([403, "PERMISSION_DENIED"], "FORBIDDEN", "This is not allowed"),
  PAYLOAD_TOO_LARGE: ours([413, "RESOURCE_EXHAUSTED"], "PAYLOAD_TOO_LARGE", "The body is too large"),
  TOO_MANY_REQUESTS: ours([429, "RESOURCE_EXHAUSTED"], "TOO_MANY_REQUESTS", "Too many requests, retry later"),
  QUEUE_FULL: ours([503, "UNAVAILABLE"], "QUEUE_FULL", "Too many messages wait already, retry later"),
  STORAGE_FULL: ours([503, "UNAVAILABLE"], "STORAGE_FULL", "No room is left to store this, retry later", -32603),
  SHUTTING_DOWN: ours([503, "UNAVAILABLE"], "SHUTTING_DOWN", "The server is shutting down, retry later"),
  INDEX_NOT_READY: ours([503, "UNAVAILABLE"], "INDEX_NOT_READY", "The list of tasks is not ready yet, retry later"),
  ROUTE_NOT_FOUND: ours([404, "NOT_FOUND"], "ROUTE_NOT_FOUND", "There is nothing at this address"),
  METHOD_NOT_ALLOWED: ours([405, "UNIMPLEMENTED"], "METHOD_NOT_ALLOWED", "This verb is not allowed here"),
  // The header of the request, not a part: ordinary HTTP asks for 415, and JSON-RPC clients for -32005 (protocol.md P3, P9).
  UNSUPPORTED_MEDIA_TYPE: {
    ...a2a(
      -32005,
      [415, "INVALID_ARGUMENT"],
      "CONTENT_TYPE_NOT_SUPPORTED",
      "The Content-Type must be application/json",
    ),
    rpcHttp: 415,
  },
} satisfies Record<string, ErrorRow>;

/**
 * The error table: one row a reason (protocol.md 1.3, product.md §5.10).
 *
 * A2A's own nine have its domain and its codes; ours have our domain and, unless JSON-RPC has a code for it, -32000.
 */
export const errorTable: Readonly<Record<Reason, ErrorRow>> = rows;

function a2a(code: number, [http, status]: [number, string], reason: string, text: string): ErrorRow {
  return { code, http, rpcHttp: 200, status, reason, domain: "a2a-protocol.org", text };
}

function rpc(code: number, [http, status]: [number, string], reason: string, text: string): ErrorRow {
  return { code, http, rpcHttp: 200, status, reason, domain: "volcanic-a2a", text };
}

function ours([http, status]: [number, string], reason: string, text: string, code = -32000): ErrorRow {
  return { code, http, rpcHttp: http, status, reason, domain: "volcanic-a2a", text };
}

/** An entry of `error.data` or `error.details`: a message of `google.rpc` with its type. */
export type ErrorDetail = { readonly "@type": string } & Readonly<Record<string, unknown>>;

/** The `error` member of a JSON-RPC answer (A2A 1.0 §9.5). */
export interface JsonRpcErrorJson {
  readonly code: number;
  readonly message: string;
  readonly data: readonly ErrorDetail[];
}

/** Gives the `error` member of a JSON-RPC answer. The `ErrorInfo` is always there, first. */
export function toJsonRpcError(error: A2AError): JsonRpcErrorJson {
  return { code: errorTable[error.reason].code, message: error.message, data: detailsOf(error) };
}

/** The HTTP status that a JSON-RPC error is answered with: 200 for what A2A and JSON-RPC define, else that of the refusal. */
export function jsonRpcHttpStatus(error: A2AError): number {
  return errorTable[error.reason].rpcHttp;
}

/** The body of an error over HTTP+JSON: a `google.rpc.Status` whose `code` is the HTTP status (A2A 1.0 §11.6). */
export interface HttpErrorJson {
  readonly error: {
    readonly code: number;
    readonly status: string;
    readonly message: string;
    readonly details: readonly ErrorDetail[];
  };
}

/** Gives status and body of an error over HTTP+JSON. The `ErrorInfo` is always there, first. */
export function toHttpError(error: A2AError): { readonly status: number; readonly body: HttpErrorJson } {
  const { http, status } = errorTable[error.reason];
  return {
    status: http,
    body: { error: { code: http, status, message: error.message, details: detailsOf(error) } },
  };
}

/** The headers that go with an error on either binding: `Retry-After` where trying again makes sense. */
export function errorHeaders({ retryAfterSeconds }: A2AError): Readonly<Record<string, string>> {
  return retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) };
}

function detailsOf({ reason, metadata, fieldViolations, retryAfterSeconds }: A2AError): readonly ErrorDetail[] {
  const { domain, reason: sent } = errorTable[reason];
  const hasMetadata = Object.keys(metadata).length > 0;
  const details: ErrorDetail[] = [
    detail("ErrorInfo", { reason: sent, domain, ...(hasMetadata && { metadata }) }),
  ];
  if (fieldViolations.length > 0) details.push(detail("BadRequest", { fieldViolations }));
  if (retryAfterSeconds !== undefined) details.push(detail("RetryInfo", { retryDelay: `${retryAfterSeconds}s` }));
  return details;
}

function detail(type: string, fields: Readonly<Record<string, unknown>>): ErrorDetail {
  return { "@type": `type.googleapis.com/google.rpc.${type}`, ...fields };
}
