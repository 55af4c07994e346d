import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { A2AError } from "@/protocol/errors.ts";
import type { CallerName } from "@/protocol/ids.ts";
import { OpenStreams } from "./open_streams.ts";

const alice = { workspace: "home", caller: "alice" as CallerName };
const comment = { kind: "comment", text: "bye" } as const;

/** Events that a test gives one by one. */
function source() {
  const log: string[] = [];
  let give = (_: IteratorResult<number>) => {};
  let fail = (_: Error) => {};
  const events: AsyncIterableIterator<number> = {
    next: () =>
      new Promise((resolve, reject) => {
        log.push("next");
        give = resolve;
        fail = reject;
      }),
    return: () => Promise.resolve(void log.push("return")).then(() => ({ done: true, value: undefined })),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
  return { log, events, give: (result: IteratorResult<number>) => give(result), fail: (error: Error) => fail(error) };
}

Deno.test("OpenStreams gives events on, and forgets a stream that is over, fails or is left [SM7 streams-end]", async () => {
  const streams = new OpenStreams();
  const [over, fails, left] = [source(), source(), source()];
  const [a, b, c] = [over, fails, left].map(({ events }) => streams.add(alice, events)) as [
    AsyncIterableIterator<number>,
    AsyncIterableIterator<number>,
    AsyncIterableIterator<number>,
  ];
  const first = a.next();
  over.give({ done: false, value: 1 });
  deepStrictEqual(await first, { done: false, value: 1 });
  strictEqual(streams.count, 3);
  const last = a.next();
  over.give({ done: true, value: undefined });
  deepStrictEqual(await last, { done: true, value: undefined });
  const failing = b.next();
  fails.fail(new Error("broken"));
  await rejects(failing, /broken/);
  await c.return!();
  deepStrictEqual(left.log, ["return"]);
  strictEqual(streams.count, 0);
});

Deno.test("OpenStreams ends a stream while it waits and while it does not, once, and leaves its events [SM7 streams-end]", async () => {
  const streams = new OpenStreams();
  const [waiting, resting] = [source(), source()];
  const a = streams.add(alice, waiting.events);
  const b = streams.add(alice, resting.events);
  const next = a.next();
  streams.end(comment);
  streams.end({ kind: "error", error: new A2AError("UNAUTHENTICATED") });
  for (const end of [await next, await a.next(), await b.next()]) deepStrictEqual(end, { done: true, value: "bye" });
  deepStrictEqual([waiting.log, resting.log], [["next", "return"], ["return"]]);
  strictEqual(streams.count, 0);
});

Deno.test("OpenStreams ends the streams of one caller of one workspace with an error, and no others [§5.2 expired-while-running]", async () => {
  const streams = new OpenStreams();
  const owners = [alice, { ...alice, workspace: "work" }, { ...alice, caller: "bob" as CallerName }];
  const [theirs] = owners.map((owner) => streams.add(owner, source().events)) as [AsyncIterableIterator<number>];
  const next = theirs.next();
  streams.end({ kind: "error", error: new A2AError("UNAUTHENTICATED") }, alice);
  await rejects(next, A2AError);
  strictEqual(streams.count, 2);
});
