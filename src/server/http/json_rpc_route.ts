import { A2AError } from "@/protocol/errors.ts";
import { failure, type JsonRpcId, methodNotFound, parseEnvelope, success } from "@/protocol/json_rpc.ts";
import { isMethod } from "@/protocol/methods.ts";
import { protocolVersion } from "@/protocol/protocol_version.ts";
import type { Method } from "@/protocol/request_types.ts";
import { parseParams } from "@/protocol/requests.ts";
import type { StreamJson } from "@/protocol/task.ts";
import type { Call, Outcome } from "@/server/operations/call.ts";
import { type Answer, jsonAnswer, lateAnswer, rpcErrorAnswer } from "./answers.ts";
import { internalError, type RouteOptions } from "./route_options.ts";
import { sseResponse } from "./sse_response.ts";

/** Answers a JSON-RPC call of an authenticated caller, given its body (A2A 1.0 §9). Never throws. */
export async function answerJsonRpc(
  request: Request,
  { bytes, call, options }: { bytes: Uint8Array; call: Call; options: RouteOptions },
): Promise<Answer> {
  const envelope = parseEnvelope(bytes);
  if (envelope.kind === "refused") return rpcErrorAnswer(envelope.error, envelope.id);
  const { id, method, params } = envelope;
  const version = protocolVersion({
    header: request.headers.get("A2A-Version"),
    query: new URL(request.url).searchParams.get("A2A-Version"),
    method,
    strict: options.strictVersion,
  });
  if (version instanceof A2AError) return rpcErrorAnswer(version, id);
  if (version === "0.3") return rpcErrorAnswer(new A2AError("VERSION_NOT_SUPPORTED"), id);
  if (!isMethod(method)) return rpcErrorAnswer(methodNotFound(method), id);
  const parsed = parseParams(method, params);
  if (parsed instanceof A2AError) return rpcErrorAnswer(parsed, id);
  try {
    const outcome = await options.operate(method, parsed, call);
    return outcome instanceof A2AError ? rpcErrorAnswer(outcome, id) : await answered(outcome, { id, method, options });
  } catch (error) {
    return rpcErrorAnswer(internalError(method, error), id);
  }
}

async function answered(
  outcome: Outcome,
  { id, method, options }: { id: JsonRpcId; method: Method; options: RouteOptions },
): Promise<Answer> {
  const { clock } = options;
  switch (outcome.kind) {
    case "value":
      return jsonAnswer(success(id, outcome.value));
    case "later": {
      const answer = outcome.value.then(
        (value) => jsonAnswer(success(id, value)),
        (error) => rpcErrorAnswer(internalError(method, error), id),
      );
      return { later: lateAnswer(answer, { clock }) };
    }
    case "stream":
      return await sseResponse<StreamJson>({
        events: outcome.events,
        format: (event) => success(id, event),
        failure: (error) => failure(id, internalError(method, error)),
        clock,
      });
    default:
      return outcome satisfies never;
  }
}
