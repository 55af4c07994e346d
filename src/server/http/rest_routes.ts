import { type RestDialect, restDialects } from "@/protocol/dialects.ts";
import { A2AError } from "@/protocol/errors.ts";
import { answerMediaType } from "@/protocol/content_types.ts";
import { parseJson } from "@/protocol/json_body.ts";
import { protocolVersion } from "@/protocol/protocol_version.ts";
import type { Method } from "@/protocol/request_types.ts";
import type { StreamJson } from "@/protocol/task.ts";
import type { Outcome } from "@/server/operations/call.ts";
import { type Answer, jsonAnswer, lateAnswer, restErrorAnswer } from "./answers.ts";
import { answerExtendedCard } from "./card_routes.ts";
import { internalError, type RouteOptions, type UnreadCall } from "./route_options.ts";
import { sseResponse } from "./sse_response.ts";

/** What a request over HTTP+JSON asks for: a method with the fields of its path, or why there is none. */
export type RestMatch =
  | { readonly kind: "method"; readonly method: Method; readonly path: Readonly<Record<string, string>> }
  | { readonly kind: "wrong verb"; readonly allow: readonly string[] }
  | { readonly kind: "no route" };

interface RestRoute {
  readonly verb: string;
  readonly pattern: RegExp;
  readonly method: Method;
}

const id = "(?<id>[^/]+?)";
const taskId = "(?<taskId>[^/]+)";

/** The paths of A2A 1.0 §5.3, §11.3, below the interface's address; the card at 000's path too. */
const routes: readonly RestRoute[] = [
  route("POST", "message:send", "SendMessage"),
  route("POST", "message:stream", "SendStreamingMessage"),
  route("GET", "tasks", "ListTasks"),
  route("POST", `tasks/${id}:cancel`, "CancelTask"),
  // The specification says POST, its protobuf GET; clients do both (protocol.md C1).
  route("POST", `tasks/${id}:subscribe`, "SubscribeToTask"),
  route("GET", `tasks/${id}:subscribe`, "SubscribeToTask"),
  route("POST", `tasks/${taskId}/pushNotificationConfigs`, "CreateTaskPushNotificationConfig"),
  route("GET", `tasks/${taskId}/pushNotificationConfigs`, "ListTaskPushNotificationConfigs"),
  route("GET", `tasks/${taskId}/pushNotificationConfigs/${id}`, "GetTaskPushNotificationConfig"),
  route("DELETE", `tasks/${taskId}/pushNotificationConfigs/${id}`, "DeleteTaskPushNotificationConfig"),
  route("GET", "extendedAgentCard", "GetExtendedAgentCard"),
  route("GET", "card", "GetExtendedAgentCard"),
  route("GET", "tasks/(?<id>[^/:]+)", "GetTask"),
];

/** Finds what a verb and a path below `/a2a/v1/` ask for. HEAD is GET, but for a stream: nobody would read it. */
export function matchRest(verb: string, path: string): RestMatch {
  const allow = new Set<string>();
  for (const { verb: expected, pattern, method } of routes) {
    const match = pattern.exec(path);
    if (match === null) continue;
    const isHead = verb === "HEAD" && expected === "GET" && method !== "SubscribeToTask";
    if (verb !== expected && !isHead) {
      allow.add(expected);
      continue;
    }
    const fields = decoded(match.groups ?? {});
    if (fields !== undefined) return { kind: "method", method, path: fields };
  }
  return allow.size > 0 ? { kind: "wrong verb", allow: [...allow] } : { kind: "no route" };
}

/** Answers a request over HTTP+JSON of an authenticated caller, given its body (A2A 1.0 §11, and the same in 0.3). Never throws. */
export async function answerRest(
  request: Request,
  { bytes, call, match, options }: {
    bytes: Uint8Array;
    call: UnreadCall;
    match: RestMatch & { kind: "method" };
    options: RouteOptions;
  },
): Promise<Answer> {
  const contentType = answerType(request);
  const query = new URL(request.url).searchParams;
  const version = protocolVersion({
    header: request.headers.get("A2A-Version"),
    query: query.get("A2A-Version"),
    strict: options.strictVersion,
  });
  if (version instanceof A2AError) return restErrorAnswer(version, contentType);
  const dialect = restDialects[version];
  const refuse = (error: A2AError) => restErrorAnswer(error, contentType, dialect);
  const { method, path } = match;
  const body = bytes.length === 0 ? undefined : parseJson(bytes);
  if (body instanceof A2AError) return refuse(body);
  const parsed = dialect.read(method, { path, query, body: body?.value });
  if (parsed instanceof A2AError) return refuse(parsed);
  try {
    const outcome = await options.operate(method, parsed, { ...call, version });
    if (outcome instanceof A2AError) return refuse(dialect.refusal(method, outcome));
    if (method !== "GetExtendedAgentCard" || outcome.kind !== "value") {
      return await answered(outcome, { method, contentType, dialect, options });
    }
    const card = dialect.result(method, outcome.value);
    if (card instanceof A2AError) return refuse(card);
    const { answers } = options;
    return answerExtendedCard(request, { card, version, contentType, caller: call.caller, answers });
  } catch (error) {
    return refuse(internalError(method, error));
  }
}

/** The media type that a request over HTTP+JSON is answered with (protocol.md C2). */
export function answerType(request: Request): string {
  return answerMediaType({ accept: request.headers.get("Accept"), contentType: request.headers.get("Content-Type") });
}

interface Asked {
  readonly method: Method;
  readonly contentType: string;
  readonly dialect: RestDialect;
  readonly options: RouteOptions;
}

async function answered(outcome: Outcome, { method, contentType, dialect, options }: Asked): Promise<Answer> {
  const { clock } = options;
  const valueAnswer = (value: unknown) => {
    const result = dialect.result(method, value);
    if (result instanceof A2AError) return restErrorAnswer(result, contentType, dialect);
    return jsonAnswer(JSON.stringify(result), { contentType });
  };
  switch (outcome.kind) {
    case "value":
      return valueAnswer(outcome.value);
    case "later": {
      const broken = (error: unknown) => restErrorAnswer(internalError(method, error), contentType, dialect);
      return { later: lateAnswer(outcome.value.then(valueAnswer).catch(broken), { clock, contentType }) };
    }
    case "stream":
      return await sseResponse<StreamJson>({
        events: outcome.events,
        format: (event) => JSON.stringify(dialect.event(method, event)),
        failure: (error) => JSON.stringify(dialect.error(internalError(method, error)).body),
        clock,
      });
    default:
      return outcome satisfies never;
  }
}

function route(verb: string, path: string, method: Method): RestRoute {
  return { verb, pattern: new RegExp(`^${path}$`), method };
}

function decoded(groups: Readonly<Record<string, string>>): Record<string, string> | undefined {
  try {
    return Object.fromEntries(Object.entries(groups).map(([name, text]) => [name, decodeURIComponent(text)]));
  } catch {
    return undefined; // a broken percent sequence is no path of ours
  }
}
