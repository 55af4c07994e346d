import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { createTestClock, type TestClock } from "@tests/fakes/test_clock.ts";
import { sseResponse } from "./sse_response.ts";

/** Events that a test hands over, and how often they were asked for and left. */
class Events implements AsyncIterableIterator<number> {
  readonly #given: (number | Error | "end")[] = [];
  #wake = () => {};
  asked = 0;
  left = 0;

  give(...events: readonly (number | Error | "end")[]): void {
    this.#given.push(...events);
    this.#wake();
  }

  async next(): Promise<IteratorResult<number>> {
    this.asked++;
    while (this.#given.length === 0 && this.left === 0) await new Promise<void>((resolve) => this.#wake = resolve);
    const event = this.left > 0 ? "end" : this.#given.shift()!;
    if (event instanceof Error) throw event;
    return event === "end" ? { done: true, value: undefined } : { done: false, value: event };
  }

  return(): Promise<IteratorResult<number>> {
    this.left++;
    this.#wake();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator]() {
    return this;
  }
}

async function startStream(clock: TestClock, events = new Events()) {
  events.give(1);
  const failures: unknown[] = [];
  const answer = await sseResponse<number>({
    ...{ events, clock, format: (event) => `{"n":${event}}` },
    failure: (error) => {
      failures.push(error);
      return `{"error":true}`;
    },
  });
  const reader = answer.body!.getReader();
  const piece = async () => {
    const { value } = await reader.read();
    return value === undefined ? undefined : new TextDecoder().decode(value);
  };
  return { answer, events, failures, reader, piece };
}

Deno.test("sseResponse() gives one event a data line, in order, with the headers of a stream [§5.5 stream-order]", async () => {
  const clock = createTestClock();
  const { answer, events, piece } = await startStream(clock);
  strictEqual(answer.status, 200);
  deepStrictEqual(["Content-Type", "Cache-Control"].map((name) => answer.headers.get(name)), [
    "text/event-stream",
    "no-cache",
  ]);
  events.give(2, 3, "end");
  const pieces = [await piece(), await piece(), await piece(), await piece()];
  deepStrictEqual(pieces, ['data: {"n":1}\n\n', 'data: {"n":2}\n\n', 'data: {"n":3}\n\n', undefined]);
  strictEqual(clock.pending, 0);
});

Deno.test("sseResponse() sends a comment after 15 s of silence, and again [§5.5 stream-comments, case 7]", async () => {
  const clock = createTestClock();
  const { events, piece, reader } = await startStream(clock);
  await piece();
  const seen: (string | undefined)[] = [];
  const reading = (async () => {
    while (seen.at(-1) !== 'data: {"n":2}\n\n') seen.push(await piece());
  })();
  const counts: number[] = [];
  for (let times = 0; times < 4; times++) {
    await clock.advance(7_500);
    counts.push(seen.length);
  }
  deepStrictEqual(counts, [0, 1, 1, 2]);
  await clock.advance(14_999);
  events.give(2);
  await reading;
  deepStrictEqual(seen, [": \n\n", ": \n\n", 'data: {"n":2}\n\n']);
  strictEqual(events.asked, 2); // the comment asks for nothing anew
  await reader.cancel();
  strictEqual(clock.pending, 0);
});

Deno.test("sseResponse() asks for an event when its reader does: a slow one costs nothing [§5.5 subscribers-are-cursors]", async () => {
  const clock = createTestClock();
  const events = new Events();
  events.give(1, 2, 3, 4, 5);
  const answer = await sseResponse<number>({ events, clock, format: String, failure: String });
  await clock.settle();
  strictEqual(events.asked, 1);
  await answer.body!.cancel();
});

Deno.test("sseResponse() cuts a reader that takes nothing for 2 minutes, and leaves the events [§5.5 stuck-reader-cut]", async () => {
  const clock = createTestClock();
  const events = new Events();
  events.give(1, 2);
  const answer = await sseResponse<number>({ events, clock, format: String, failure: String });
  const reader = answer.body!.getReader();
  await reader.read();
  await reader.read();
  await clock.advance(119_999);
  strictEqual(events.left, 0);
  await clock.advance(1);
  strictEqual(events.left > 0, true);
  await rejects(reader.read());
  strictEqual(clock.pending, 0);
});

Deno.test("sseResponse() cuts a reader that never takes anything at all [§5.5 stuck-reader-cut]", async () => {
  const clock = createTestClock();
  const events = new Events();
  events.give(1);
  await sseResponse<number>({ events, clock, format: String, failure: String });
  await clock.advance(120_000);
  strictEqual(events.left > 0, true);
  strictEqual(clock.pending, 0);
});

Deno.test("sseResponse() cuts nobody who waits for the next event [§5.5 stuck-reader-cut]", async () => {
  const clock = createTestClock();
  const { events, piece, reader } = await startStream(clock);
  await piece();
  const comments: (string | undefined)[] = [];
  const reading = (async () => {
    while (!comments.at(-1)?.startsWith("data")) comments.push(await piece());
  })();
  await clock.advance(600_000);
  events.give(2);
  await reading;
  strictEqual(comments.length, 41);
  strictEqual(events.left, 0);
  await reader.cancel();
});

Deno.test("sseResponse() leaves the events when its reader leaves, while it waits or not, and no timer is left [case 34]", async () => {
  for (const isWaiting of [true, false]) {
    const clock = createTestClock();
    const { events, piece, reader } = await startStream(clock);
    await piece();
    const waiting = isWaiting ? piece() : undefined;
    await clock.settle();
    await reader.cancel();
    await waiting;
    await clock.settle();
    strictEqual(events.left > 0, true);
    strictEqual(clock.pending, 0);
  }
});

Deno.test("sseResponse() tells of a failure after the first event as a last event [§5.5 stream-errors]", async () => {
  const clock = createTestClock();
  const { events, piece, failures } = await startStream(clock);
  const failure = new Error("broke");
  events.give(failure, 3);
  deepStrictEqual([await piece(), await piece(), await piece()], [
    'data: {"n":1}\n\n',
    'data: {"error":true}\n\n',
    undefined,
  ]);
  deepStrictEqual(failures, [failure]);
  deepStrictEqual([events.left, clock.pending], [1, 0]);
});

Deno.test("sseResponse() rejects when the first event fails: there is no stream yet [§5.5 stream-errors]", async () => {
  const clock = createTestClock();
  const events = new Events();
  events.give(new Error("broke"));
  await rejects(sseResponse<number>({ events, clock, format: String, failure: String }), /broke/);
  deepStrictEqual([events.left, clock.pending], [1, 0]);
});

Deno.test("sseResponse() of events that end at once is an empty stream", async () => {
  const clock = createTestClock();
  const events = new Events();
  events.give("end");
  const answer = await sseResponse<number>({ events, clock, format: String, failure: String });
  strictEqual(await answer.text(), "");
  strictEqual(clock.pending, 0);
});
