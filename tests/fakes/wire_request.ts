import type { Method } from "@/protocol/request_types.ts";

/** The two bindings of A2A 1.0, by their names on the card. */
export type Binding = "JSONRPC" | "HTTP+JSON";

/** Both. */
export const bindings: readonly Binding[] = ["JSONRPC", "HTTP+JSON"];

export interface WireRequestOptions {
  readonly key?: string;
  /** Instead of or beside the usual ones; "" leaves one out. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The id of a JSON-RPC call. */
  readonly id?: unknown;
  /** Goes behind the address, such as `?A2A-Version=1.0`. */
  readonly query?: string;
  /** The whole body, instead of the one that is made. */
  readonly body?: BodyInit;
}

/** Where the endpoints are, for a request that is made by hand. */
export const origin = "http://127.0.0.1:5099";

/** The request that calls a method with these JSON-RPC `params`, in either binding (A2A 1.0 §5.3). */
export function wireRequest(
  binding: Binding,
  { method, params = {} }: { readonly method: Method; readonly params?: unknown },
  options: WireRequestOptions = {},
): Request {
  const { key, headers = {}, query = "", id = 1 } = options;
  const made = binding === "JSONRPC"
    ? { verb: "POST", path: "/a2a", body: JSON.stringify({ jsonrpc: "2.0", id, method, params }) }
    : restRequest(method, params);
  const url = new URL(made.path + query, origin);
  const body = options.body ?? made.body;
  const all: Record<string, string> = {
    "A2A-Version": "1.0",
    ...(body !== undefined && { "Content-Type": "application/json" }),
    ...(key !== undefined && { "X-API-Key": key }),
    ...headers,
  };
  const kept = Object.entries(all).filter(([, value]) => value !== "");
  return new Request(url, { method: made.verb, headers: kept, body });
}

interface RestRequest {
  readonly verb: string;
  readonly path: string;
  readonly body?: string;
}

/** Params that are no object are a body of that kind. */
function restRequest(method: Method, params: unknown): RestRequest {
  const { id, taskId, ...rest } = (typeof params === "object" ? params : {}) as Record<string, unknown>;
  const task = `tasks/${encodeURIComponent(String(id ?? ""))}`;
  const pushes = `tasks/${encodeURIComponent(String(taskId ?? ""))}/pushNotificationConfigs`;
  const at = (verb: string, path: string, body?: unknown) => ({
    ...{ verb, path: `/a2a/v1/${path}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  switch (method) {
    case "SendMessage":
      return at("POST", "message:send", params);
    case "SendStreamingMessage":
      return at("POST", "message:stream", params);
    case "GetTask":
      return at("GET", task + queryOf(rest));
    case "ListTasks":
      return at("GET", `tasks${queryOf(params)}`);
    case "CancelTask":
      return at("POST", `${task}:cancel`, rest);
    case "SubscribeToTask":
      return at("POST", `${task}:subscribe`, rest);
    case "CreateTaskPushNotificationConfig":
      return at("POST", pushes, id === undefined ? rest : { id, ...rest });
    case "ListTaskPushNotificationConfigs":
      return at("GET", pushes + queryOf(rest));
    case "GetTaskPushNotificationConfig":
      return at("GET", `${pushes}/${encodeURIComponent(String(id))}`);
    case "DeleteTaskPushNotificationConfig":
      return at("DELETE", `${pushes}/${encodeURIComponent(String(id))}`);
    case "GetExtendedAgentCard":
      return at("GET", "extendedAgentCard");
    default:
      return method satisfies never;
  }
}

function queryOf(fields: unknown): string {
  const pairs = Object.entries(fields as object).map(([name, value]) => [name, String(value)]);
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs)}`;
}
