import { deepStrictEqual, ok } from "node:assert/strict";
import { goodCalls, goodParams, mutateBytes, mutateCall, mutateValue } from "@tests/fakes/mutated_calls.ts";
import { createSeededRandom } from "@tests/fakes/seeded_random.ts";
import { A2AError, toHttpError, toJsonRpcError } from "./errors.ts";
import { parseJson } from "./json_body.ts";
import { failure, parseEnvelope, success } from "./json_rpc.ts";
import { methods } from "./methods.ts";
import { parseParams, parseRest } from "./requests.ts";
import { SseReader } from "./sse.ts";

const id = "0a6e7e0c-7c38-4f25-8a6b-3a1c2b0d9e11";

/** Everything that reads a body reads it; what they give must be a value of the promised shape, or an error. */
function readEverywhere(bytes: Uint8Array): "value" | "error" {
  const envelope = parseEnvelope(bytes);
  JSON.parse(envelope.kind === "call" ? success(envelope.id, {}) : failure(envelope.id, envelope.error));
  const body = parseJson(bytes);
  if (!(body instanceof A2AError)) parseRest("SendMessage", { body: body.value });
  if (envelope.kind !== "call") return checked(envelope.error);
  const method = methods.find((name) => name === envelope.method) ?? "SendMessage";
  return checked(parseParams(method, envelope.params));
}

function checked(result: unknown): "value" | "error" {
  ok(typeof result === "object" && result !== null);
  if (!(result instanceof A2AError)) {
    JSON.stringify(result);
    return "value";
  }
  ok(["PARSE_ERROR", "INVALID_REQUEST", "INVALID_PARAMS"].includes(result.reason));
  JSON.stringify([toJsonRpcError(result), toHttpError(result)]);
  return "error";
}

for (const seed of [1, 2, 3, 4]) {
  Deno.test(`parseEnvelope() and parseParams() give a value or an A2AError for 5,000 mutated calls, seed ${seed}`, () => {
    const random = createSeededRandom(seed);
    const seen = { value: 0, error: 0 };
    const before = performance.now();
    for (let n = 0; n < 5000; n++) {
      seen[readEverywhere(mutateCall(random.pick(goodCalls), random))]++;
    }
    ok(seen.value > 200 && seen.error > 200, JSON.stringify(seen)); // else the mutations prove nothing
    ok(performance.now() - before < 60_000);
  });
}

Deno.test("parseRest() gives a value or an A2AError for 5,000 mutated queries", () => {
  const random = createSeededRandom(9);
  const names = [
    "pageSize",
    "page_size",
    "status",
    "includeArtifacts",
    "historyLength",
    "statusTimestampAfter",
    "__proto__",
    "id",
  ];
  const values = [
    "",
    "1",
    "-1",
    "true",
    "TASK_STATE_WORKING",
    "2026-10-08T12:00:00Z",
    "%00",
    "\0",
    "1e3",
    "x".repeat(300),
  ];
  for (let n = 0; n < 5000; n++) {
    const pairs = Array.from({ length: random.below(6) }, () => [random.pick(names), random.pick(values)]);
    checked(
      parseRest(random.pick(methods), {
        query: new URLSearchParams(pairs),
        path: random.pick<Record<string, string>>([{}, { id }, { taskId: id, id: "c" }]),
      }),
    );
  }
});

Deno.test("parseParams() of what it gave gives the same: what is stored can be served and sent again", () => {
  const random = createSeededRandom(11);
  for (let n = 0; n < 2000; n++) {
    const first = parseParams("SendMessage", mutateValue(goodParams.SendMessage, random));
    if (first instanceof A2AError) continue;
    const again = parseParams("SendMessage", {
      message: JSON.parse(JSON.stringify(first.message)),
      metadata: { "volcanic.hops": first.hops, "volcanic.dedupe": first.dedupe }, // it hides what is broken in the message's
    });
    ok(!(again instanceof A2AError));
    deepStrictEqual(JSON.stringify(again.message), JSON.stringify(first.message));
  }
});

Deno.test("SseReader gives texts and never throws for 2,000 streams of random bytes", () => {
  const random = createSeededRandom(12);
  for (let n = 0; n < 2000; n++) {
    const reader = new SseReader({ eventBytesMax: 100 });
    const stream = mutateBytes(new TextEncoder().encode(`: x\n\ndata: {"a":1}\r\n\r\ndata:b\rdata: c\n\n`), random);
    for (const byte of stream) {
      ok(reader.push(new Uint8Array([byte])).events.every((event) => typeof event === "string"));
    }
  }
});
