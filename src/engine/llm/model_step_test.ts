import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { APICallError } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { modelStep, type StepDelta, type StepEnd } from "./model_step.ts";

type StreamParts = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>["stream"];
type StreamPart = StreamParts extends ReadableStream<infer Part> ? Part : never;

const text: readonly StreamPart[] = [
  { type: "stream-start", warnings: [] },
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: "Well" },
];

/** Plays a step of a model whose stream has these parts and then does `after`. */
async function step(
  parts: readonly StreamPart[],
  after: (controller: ReadableStreamDefaultController<StreamPart>) => void | Promise<void>,
  cancel?: AbortController,
): Promise<{ readonly deltas: readonly StepDelta[]; readonly end: StepEnd }> {
  const stream = new ReadableStream<StreamPart>({
    pull(controller) {
      const part = left.shift();
      if (part === undefined) return after(controller);
      else controller.enqueue(part);
    },
  }, { highWaterMark: 0 });
  const left = [...parts];
  const { signal } = cancel ?? new AbortController();
  const model = new MockLanguageModelV4({ doStream: { stream } });
  const request = { model, signal, clock: createTestClock(), silenceMs: 1_000, scrub: (text: string) => text };
  const playing = modelStep({ ...request, instructions: "", messages: [{ role: "user", content: "hi" }], tools: {} });
  const deltas: StepDelta[] = [];
  while (true) {
    const next = await playing.next();
    if (next.done) return { deltas, end: next.value };
    deltas.push(next.value);
    cancel?.abort();
  }
}

const said = [{ kind: "text", text: "Well" }];

Deno.test("modelStep() ends as aborted when its signal aborts, with what was said [§8 llm-abort]", async () => {
  const { deltas, end } = await step(text, () => new Promise(() => {}), new AbortController());
  deepStrictEqual([deltas, end], [said, { kind: "aborted", said: "Well" }]);
});

const breaks: readonly (readonly [
  name: string,
  after: (controller: ReadableStreamDefaultController<StreamPart>) => void,
  message: string,
])[] = [
  ["its stream throws", (controller) => controller.error(new TypeError("reset")), "The model's answer broke off"],
  ["its stream ends without a finish", (controller) => controller.close(), "The model's answer broke off"],
  ["an error is in its stream", (controller) => {
    controller.enqueue({ type: "error", error: { type: "overloaded_error" } });
    controller.close();
  }, "The model's answer broke off"],
];

for (const [name, after, message] of breaks) {
  Deno.test(`modelStep() fails when ${name}, with what was said [§8 llm-failures]`, async () => {
    const { deltas, end } = await step(text, after);
    deepStrictEqual(deltas, said);
    ok(end.kind === "failed", JSON.stringify(end));
    deepStrictEqual([end.said, end.failure.message, end.failure.retry], ["Well", message, {}]);
  });
}

Deno.test("modelStep() fails when the call itself does [§8 llm-failures]", async () => {
  const call = { url: "http://x", requestBodyValues: {}, statusCode: 404, responseBody: "gone", message: "no model" };
  const error = new APICallError(call);
  const model = new MockLanguageModelV4({ doStream: () => Promise.reject(error) });
  const request = { model, clock: createTestClock(), silenceMs: Infinity, scrub: (text: string) => text };
  const { signal } = new AbortController();
  const messages = [{ role: "user" as const, content: "hi" }];
  const end = (await modelStep({ ...request, signal, messages, instructions: "", tools: {} }).next()).value as StepEnd;
  ok(end.kind === "failed");
  strictEqual(end.failure.message, "The model's server does not know the model (HTTP 404)");
  strictEqual(end.failure.cause.message, "HTTP 404: no model (gone)");
});
