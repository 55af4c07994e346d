import { deepStrictEqual, rejects } from "node:assert/strict";
import { type FakeExchange, startExchange } from "@tests/fakes/fake_exchange.ts";
import { OutboundError } from "./outbound_error.ts";

const answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const begun = Promise.resolve();

/** How an exchange of TLS ends, and whose fault it is that a socket is left. */
const rows: readonly {
  readonly how: string;
  readonly isShaken?: boolean;
  readonly isStuck?: boolean;
  readonly end: (made: FakeExchange) => unknown;
  readonly left: readonly ("host" | "caller" | undefined)[];
}[] = [
  { how: "by its caller in the handshake", end: ({ stop }) => stop.abort(), left: ["caller"] },
  { how: "by its time in the handshake", end: ({ clock }) => clock.advance(60_000), left: ["caller"] },
  {
    how: "with the host in the handshake",
    end: ({ exchange }) => exchange.end("CLOSED", { message: "" }),
    left: ["caller"],
  },
  {
    how: "by the time of its handshake",
    end: ({ exchange }) => exchange.end("TLS_TIMEOUT", { message: "" }),
    left: ["host"],
  },
  {
    how: "without an answer, its request unwritten",
    ...{ isShaken: true, isStuck: true },
    end: ({ clock }) => clock.advance(30_000),
    left: ["host"],
  },
  {
    how: "after an answer, its request unwritten",
    ...{ isShaken: true, isStuck: true },
    async end({ connection, response, clock }) {
      connection.give(answer.slice(0, -1));
      await clock.settle();
      await (await response)[Symbol.asyncDispose]();
    },
    left: ["host"],
  },
  {
    how: "without an answer, its request written",
    isShaken: true,
    end: ({ clock }) => clock.advance(30_000),
    left: [undefined, undefined],
  },
];

for (const { how, isShaken = false, isStuck = false, end, left } of rows) {
  Deno.test(`Exchange that ends ${how} says whose fault a left socket is [§13 left-bounded]`, async () => {
    const made = startExchange({ isHeld: true, venture: begun });
    if (isStuck) made.connection.holdWrites();
    made.enter();
    if (isShaken) made.connect();
    await made.clock.settle();
    await end(made);
    await made.exchange.closed;
    deepStrictEqual(made.ventured, left);
    await made.response.catch(() => {});
  });
}

Deno.test("Exchange holds its venture no longer than its request is written, however long its body takes [§13 left-bounded]", async () => {
  const made = startExchange({ isHeld: true, venture: begun });
  made.enter();
  made.connect();
  await made.clock.settle();
  deepStrictEqual(made.ventured, [undefined]);
  made.stop.abort();
  await rejects(made.response, OutboundError);
});

Deno.test("Exchange that ends while it waits for its venture ends one that begins after all [§13 left-bounded]", async () => {
  const venture = Promise.withResolvers<void>();
  const made = startExchange({ isHeld: true, venture: venture.promise });
  made.enter();
  await made.clock.settle();
  venture.resolve();
  made.stop.abort();
  await rejects(made.response, { code: "ABORTED" });
  await made.clock.settle();
  deepStrictEqual(made.ventured, [undefined]);
});
