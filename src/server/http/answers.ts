import { type RestDialect, restDialects, type RpcDialect, rpcDialects } from "@/protocol/dialects.ts";
import { type A2AError, errorHeaders, jsonRpcHttpStatus, type Reason } from "@/protocol/errors.ts";
import { failure, type JsonRpcId, nullId } from "@/protocol/json_rpc.ts";
import type { Clock } from "@/time/clock.ts";
import { notNeeded } from "@/time/not_needed.ts";

/** Proxies cut a request that answers nothing for a minute; leading white space is valid JSON (product.md §5.5). */
const heartbeatMs = 15_000;

/** An answer with a JSON body, given as text. */
export function jsonAnswer(text: string, options: { status?: number; contentType?: string } = {}): Response {
  const { status = 200, contentType = "application/json" } = options;
  const bytes = new TextEncoder().encode(text);
  const headers = { "Content-Type": contentType, "Content-Length": `${bytes.length}`, "Cache-Control": "no-store" };
  return new Response(bytes, { status, headers });
}

/** An error over JSON-RPC. Without an id that could be read it is null. */
export function rpcErrorAnswer(
  error: A2AError,
  id: JsonRpcId = nullId,
  dialect: Pick<RpcDialect, "error"> = rpcDialects["1.0"],
): Response {
  return withErrorHeaders(jsonAnswer(failure(id, error, dialect.error), { status: jsonRpcHttpStatus(error) }), error);
}

/** An error over HTTP+JSON. */
export function restErrorAnswer(
  error: A2AError,
  contentType?: string,
  dialect: Pick<RestDialect, "error"> = restDialects["1.0"],
): Response {
  const { status, body } = dialect.error(error);
  return withErrorHeaders(jsonAnswer(JSON.stringify(body), { status, contentType }), error);
}

/** What a request is answered with: a response, or one that is still being waited for and needs its body no more. */
export type Answer = Response | { readonly later: Promise<Response> };

/**
 * An answer that may take long: as it is when it comes within 15 s, else status 200 and a space every 15 s until it comes.
 *
 * `answer` must not reject. Leaving it ends the waiting only. What comes late shows an error in its body alone.
 */
export async function lateAnswer(
  answer: Promise<Response>,
  { clock, contentType = "application/json" }: { clock: Clock; contentType?: string },
): Promise<Response> {
  const left = new AbortController();
  const inTime = await orHeartbeat(answer, clock, left.signal);
  if (inTime !== undefined) return inTime;
  const space = new TextEncoder().encode(" ");
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(space),
    async pull(controller) {
      const late = await orHeartbeat(answer, clock, left.signal);
      if (left.signal.aborted) return;
      controller.enqueue(late === undefined ? space : await late.bytes());
      if (late !== undefined) controller.close();
    },
    cancel: () => left.abort(),
  });
  return new Response(body, { headers: { "Content-Type": contentType, "Cache-Control": "no-store" } });
}

/** The answer, or undefined when it takes longer than a heartbeat or its reader left. */
async function orHeartbeat(
  answer: Promise<Response>,
  clock: Clock,
  left: AbortSignal,
): Promise<Response | undefined> {
  const here = new AbortController();
  const over = AbortSignal.any([here.signal, left]);
  try {
    return await Promise.race([answer, clock.sleep(heartbeatMs, over).then(() => undefined, () => undefined)]);
  } finally {
    here.abort(notNeeded);
  }
}

/** Why an answer that was made here is a refusal; undefined for any other. */
export function refusalOf(answer: Response): Reason | undefined {
  return refusals.get(answer);
}

const refusals = new WeakMap<Response, Reason>();

function withErrorHeaders(answer: Response, error: A2AError): Response {
  refusals.set(answer, error.reason);
  for (const [name, value] of Object.entries(errorHeaders(error))) answer.headers.set(name, value);
  if (error.reason === "UNAUTHENTICATED") {
    answer.headers.set("WWW-Authenticate", 'Bearer realm="a2a", ApiKey realm="a2a"');
  }
  return answer;
}
