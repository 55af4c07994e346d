import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { createTestClock, type TestClock } from "@tests/fakes/test_clock.ts";
import { A2AError } from "@/protocol/errors.ts";
import type { JsonRpcId } from "@/protocol/json_rpc.ts";
import { jsonAnswer, lateAnswer, restErrorAnswer, rpcErrorAnswer } from "./answers.ts";

/** What came so far of an answer that is read all the time. */
function watch(answer: Response) {
  const seen = { text: "", isOver: false };
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  const reading = (async () => {
    for (let next = await reader.read(); !next.done; next = await reader.read()) seen.text += next.value;
    seen.isOver = true;
  })();
  return { seen, reading, leave: () => reader.cancel() };
}

async function started(clock: TestClock, contentType?: string) {
  const coming = Promise.withResolvers<Response>();
  const answering = lateAnswer(coming.promise, { clock, contentType });
  await clock.advance(15_000);
  return { coming, answer: await answering };
}

Deno.test("lateAnswer() is the answer itself when it comes within 15 s, an error's status too [§5.5 heartbeat]", async () => {
  const clock = createTestClock();
  for (const given of [jsonAnswer("{}"), restErrorAnswer(new A2AError("INTERNAL"))]) {
    const coming = Promise.withResolvers<Response>();
    const answering = lateAnswer(coming.promise, { clock });
    await clock.advance(14_999);
    coming.resolve(given);
    strictEqual(await answering, given);
    strictEqual(clock.pending, 0);
  }
});

Deno.test("lateAnswer() sends a space every 15 s, then the answer: valid JSON with status 200 [§5.5 heartbeat, case 36]", async () => {
  const clock = createTestClock();
  const { coming, answer } = await started(clock, "application/a2a+json");
  deepStrictEqual([answer.status, answer.headers.get("Content-Type"), answer.headers.get("Cache-Control")], [
    200,
    "application/a2a+json",
    "no-store",
  ]);
  const { seen, reading } = watch(answer);
  const lengths: number[] = [];
  for (let times = 0; times < 4; times++) {
    await clock.advance(7_500);
    lengths.push(seen.text.length);
  }
  deepStrictEqual(lengths, [1, 2, 2, 3]);
  coming.resolve(jsonAnswer('{"a":1}'));
  await reading;
  strictEqual(seen.text, '   {"a":1}');
  deepStrictEqual(JSON.parse(seen.text), { a: 1 });
  strictEqual(clock.pending, 0);
});

Deno.test("lateAnswer() goes on for hours, and shows a late error in its body [§5.5 heartbeat]", async () => {
  const clock = createTestClock();
  const { coming, answer } = await started(clock);
  const { seen, reading } = watch(answer);
  await clock.advance(2 * 3_600_000);
  strictEqual(seen.text, " ".repeat(1 + 2 * 240));
  coming.resolve(restErrorAnswer(new A2AError("INTERNAL")));
  await reading;
  strictEqual(JSON.parse(seen.text).error.code, 500);
});

Deno.test("lateAnswer() sends nothing more than is read [§5.5 heartbeat]", async () => {
  const clock = createTestClock();
  const { coming, answer } = await started(clock);
  await clock.advance(600_000);
  strictEqual(clock.pending, 0);
  coming.resolve(jsonAnswer("{}"));
  strictEqual(await answer.text(), " {}");
});

Deno.test("lateAnswer() ends its waiting when the client leaves, and no timer is left [§5.5 leaving-does-not-cancel]", async () => {
  const clock = createTestClock();
  const { coming, answer } = await started(clock);
  const { leave } = watch(answer);
  await clock.settle();
  strictEqual(clock.pending, 1);
  await leave();
  await clock.settle();
  strictEqual(clock.pending, 0);
  coming.resolve(jsonAnswer("{}"));
  await clock.settle();
});

Deno.test("rpcErrorAnswer() and restErrorAnswer() have the headers of their error [§5.10 retry-after, §5.2 challenge]", async () => {
  const error = new A2AError("QUEUE_FULL", { retryAfterSeconds: 29.2 });
  for (const answer of [rpcErrorAnswer(error), restErrorAnswer(error)]) {
    deepStrictEqual([answer.status, answer.headers.get("Retry-After"), answer.headers.get("WWW-Authenticate")], [
      503,
      "30",
      null,
    ]);
  }
  const refused = rpcErrorAnswer(new A2AError("UNAUTHENTICATED"), "7" as JsonRpcId);
  strictEqual(refused.status, 401);
  strictEqual(refused.headers.get("WWW-Authenticate"), 'Bearer realm="a2a", ApiKey realm="a2a"');
  const { id, error: { code } } = await refused.json();
  deepStrictEqual([id, code], [7, -32000]);
});
