import { type A2AError, errorHeaders, jsonRpcHttpStatus, toHttpError } from "@/protocol/errors.ts";
import { failure, type JsonRpcId, nullId } from "@/protocol/json_rpc.ts";
import type { Clock } from "@/time/clock.ts";

/** Proxies cut a request that answers nothing for a minute; leading white space is valid JSON (product.md §5.5). */
const heartbeatMs = 15_000;

/** An answer with a JSON body, given as text. */
export function jsonAnswer(text: string, options: { status?: number; contentType?: string } = {}): Response {
  const { status = 200, contentType = "application/json" } = options;
  return new Response(text, { status, headers: { "Content-Type": contentType, "Cache-Control": "no-store" } });
}

/** An error over JSON-RPC. Without an id that could be read it is null. */
export function rpcErrorAnswer(error: A2AError, id: JsonRpcId = nullId): Response {
  return withErrorHeaders(jsonAnswer(failure(id, error), { status: jsonRpcHttpStatus(error) }), error);
}

/** An error over HTTP+JSON. */
export function restErrorAnswer(error: A2AError, contentType?: string): Response {
  const { status, body } = toHttpError(error);
  return withErrorHeaders(jsonAnswer(JSON.stringify(body), { status, contentType }), error);
}

/**
 * An answer that may take long: as usual when it comes within 15 s, else status 200 and a space every 15 s until it comes.
 *
 * `text` must not reject. Leaving the answer ends the waiting only.
 */
export async function lateAnswer(
  text: Promise<string>,
  { clock, contentType }: { clock: Clock; contentType?: string },
): Promise<Response> {
  const first = await orHeartbeat(text, clock);
  if (first !== undefined) return jsonAnswer(first, { contentType });
  const encoder = new TextEncoder();
  let isOver = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(" ")),
    async pull(controller) {
      const answer = await orHeartbeat(text, clock);
      if (isOver) return;
      controller.enqueue(encoder.encode(answer ?? " "));
      if (answer !== undefined) controller.close();
    },
    cancel() {
      isOver = true;
    },
  });
  const headers = { "Content-Type": contentType ?? "application/json", "Cache-Control": "no-store" };
  return new Response(body, { headers });
}

/** The text, or undefined when it takes longer than a heartbeat. */
async function orHeartbeat(text: Promise<string>, clock: Clock): Promise<string | undefined> {
  const here = new AbortController();
  try {
    return await Promise.race([text, clock.sleep(heartbeatMs, here.signal).then(() => undefined, () => undefined)]);
  } finally {
    here.abort();
  }
}

function withErrorHeaders(answer: Response, error: A2AError): Response {
  for (const [name, value] of Object.entries(errorHeaders(error))) answer.headers.set(name, value);
  if (error.reason === "UNAUTHENTICATED") {
    answer.headers.set("WWW-Authenticate", 'Bearer realm="a2a", ApiKey realm="a2a"');
  }
  return answer;
}
