import { type RpcDialect, rpcDialects } from "@/protocol/dialects.ts";
import { A2AError } from "@/protocol/errors.ts";
import { failure, type JsonRpcId, parseEnvelope, success } from "@/protocol/json_rpc.ts";
import { protocolVersion } from "@/protocol/protocol_version.ts";
import type { Method } from "@/protocol/request_types.ts";
import type { StreamJson } from "@/protocol/task.ts";
import type { Outcome } from "@/server/operations/call.ts";
import { type Answer, jsonAnswer, lateAnswer, rpcErrorAnswer } from "./answers.ts";
import { internalError, type RouteOptions, type UnreadCall } from "./route_options.ts";
import { sseResponse } from "./sse_response.ts";

/** Answers a JSON-RPC call of an authenticated caller, given its body (A2A 1.0 §9, and the same in 0.3). Never throws. */
export async function answerJsonRpc(
  request: Request,
  { bytes, call, options }: { bytes: Uint8Array; call: UnreadCall; options: RouteOptions },
): Promise<Answer> {
  const envelope = parseEnvelope(bytes);
  if (envelope.kind === "refused") return rpcErrorAnswer(envelope.error, envelope.id);
  const { id, method: name, params } = envelope;
  const version = protocolVersion({
    header: request.headers.get("A2A-Version"),
    query: new URL(request.url).searchParams.get("A2A-Version"),
    method: name,
    strict: options.strictVersion,
  });
  if (version instanceof A2AError) return rpcErrorAnswer(version, id);
  const dialect = rpcDialects[version];
  const refuse = (error: A2AError) => rpcErrorAnswer(error, id, dialect);
  const asked = dialect.read(name, params);
  if (asked instanceof A2AError) return refuse(asked);
  const { method } = asked;
  try {
    const outcome = await options.operate(method, asked.request, { ...call, version });
    if (outcome instanceof A2AError) return refuse(dialect.refusal(method, outcome));
    return await answered(outcome, { id, method, dialect, options });
  } catch (error) {
    return refuse(internalError(method, error));
  }
}

interface Asked {
  readonly id: JsonRpcId;
  readonly method: Method;
  readonly dialect: RpcDialect;
  readonly options: RouteOptions;
}

async function answered(outcome: Outcome, { id, method, dialect, options }: Asked): Promise<Answer> {
  const { clock } = options;
  const valueAnswer = (value: unknown) => {
    const result = dialect.result(method, value);
    return result instanceof A2AError ? rpcErrorAnswer(result, id, dialect) : jsonAnswer(success(id, result));
  };
  switch (outcome.kind) {
    case "value":
      return valueAnswer(outcome.value);
    case "later": {
      const broken = (error: unknown) => rpcErrorAnswer(internalError(method, error), id, dialect);
      return { later: lateAnswer(outcome.value.then(valueAnswer).catch(broken), { clock }) };
    }
    case "stream":
      return await sseResponse<StreamJson>({
        events: outcome.events,
        format: (event) => success(id, dialect.event(method, event)),
        failure: (error) => failure(id, internalError(method, error), dialect.error),
        clock,
      });
    default:
      return outcome satisfies never;
  }
}
