import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { type FakeExchange, startExchange } from "@tests/fakes/fake_exchange.ts";
import { type OutboundCode, OutboundError } from "./outbound_error.ts";

const head = (length: number, fields = "") => `HTTP/1.1 200 OK\r\n${fields}Content-Length: ${length}\r\n\r\n`;

/** Nothing may be left of it: no socket, place, timer or listener, and the place was given back once. */
async function isOver({ exchange, connection, clock, listeners, left }: FakeExchange, { wasOpen = true } = {}) {
  await exchange.closed;
  await clock.settle();
  deepStrictEqual([connection.isClosed, left()], wasOpen ? [true, 1] : [false, left()]);
  deepStrictEqual([clock.pending, listeners()], [0, 0]);
}

Deno.test("Exchange gives the answer at the end of its head, and its body as it comes [§13 ends-whole]", async () => {
  const made = startExchange();
  made.connection.give(head(10, "X-A: b\r\n"));
  const response = await made.response;
  deepStrictEqual([response.status, response.headers.get("x-a")], [200, "b"]);
  deepStrictEqual([response.peer, made.connection.written], [{ address: "93.184.216.34" }, "request"]);
  const reader = response.body.getReader();
  made.connection.give("01234");
  strictEqual((await reader.read()).value!.length, 5);
  strictEqual(made.left(), 0);
  made.connection.give("56789 and more");
  strictEqual((await reader.read()).value!.length, 5);
  strictEqual((await reader.read()).done, true);
  await isOver(made);
});

Deno.test("Exchange gives the rest of a body as bytes and as text", async () => {
  const [one, two] = [startExchange({ bytesMax: 20_000 }), startExchange()];
  one.connection.give(head(10_000) + "x".repeat(10_000));
  strictEqual((await (await one.response).bytes()).length, 10_000);
  two.connection.give(head(3) + "\u00e2\u0082\u00ac");
  strictEqual(await (await two.response).text(), "\u20ac");
  await Promise.all([isOver(one), isOver(two)]);
});

Deno.test("Exchange is closed at once when there is no body", async () => {
  const made = startExchange();
  made.connection.give("HTTP/1.1 204 Done\r\n\r\n");
  const response = await made.response;
  await isOver(made);
  strictEqual((await response.bytes()).length, 0);
});

interface End {
  readonly code: OutboundCode;
  readonly end: (made: FakeExchange) => unknown;
}

const ends: readonly End[] = [
  { code: "ABORTED", end: ({ stop }) => stop.abort(new Error("not any more")) },
  { code: "DEADLINE", end: ({ clock }) => clock.advance(60_000) },
  { code: "CLOSED", end: ({ exchange }) => exchange.end("CLOSED", { message: "the host ends" }) },
];

for (const { code, end } of ends) {
  const long = { headMs: 90_000, idleMs: 90_000 };

  Deno.test(`Exchange ends with ${code} while it waits for a place [§13 ends-whole] [§13 wait-bounded]`, async () => {
    const made = startExchange({ isHeld: true, ...long });
    await end(made);
    await rejects(made.response, { code, phase: "wait" });
    await isOver(made, { wasOpen: false });
    made.enter();
    await made.clock.settle();
  });

  Deno.test(`Exchange ends with ${code} while it connects, and closes what is connected then [§13 ends-whole]`, async () => {
    const made = startExchange({ isHeld: true, ...long });
    made.enter();
    await made.clock.settle();
    await end(made);
    await rejects(made.response, { code, phase: "dns" });
    strictEqual(made.left(), 1);
    await isOver(made, { wasOpen: false });
  });

  Deno.test(`Exchange ends with ${code} while it waits for an answer [§13 ends-whole]`, async () => {
    const made = startExchange(long);
    made.connection.give("HTTP/1.1 200 OK\r\nContent-");
    await made.clock.settle();
    await end(made);
    await rejects(made.response, { code, phase: "send" });
    await isOver(made);
  });

  Deno.test(`Exchange ends with ${code} while its body comes, and tells its reader [§13 ends-whole]`, async () => {
    const made = startExchange(long);
    made.connection.give(head(10) + "01234");
    const reader = (await made.response).body.getReader();
    await reader.read();
    const read = rejects(reader.read(), { code, phase: "body" });
    await end(made);
    await read;
    await isOver(made);
  });

  Deno.test(`Exchange ends with ${code} while nobody reads its body [§13 ends-whole]`, async () => {
    const made = startExchange(long);
    made.connection.give(head(10) + "01234");
    const response = await made.response;
    await end(made);
    await isOver(made);
    await rejects(response.bytes(), { code, phase: "body" });
  });
}

Deno.test("Exchange gives back a place that it got in the moment it was ended [§13 ends-whole]", async () => {
  const made = startExchange({ isHeld: true });
  made.enter();
  made.stop.abort(new Error("not any more"));
  await rejects(made.response, { code: "ABORTED" });
  await made.clock.settle();
  strictEqual(made.left(), 1);
});

Deno.test("Exchange sends nothing for a signal that is aborted before", async () => {
  const stop = AbortSignal.abort(new Error("before"));
  const made = startExchange({ signal: stop });
  await rejects(made.response, { code: "ABORTED", phase: "wait" });
  strictEqual(made.connection.written, "");
  strictEqual(made.clock.pending, 0);
});

Deno.test("Exchange waits so long for a head, and for each piece of a body that is asked for [§13 ends-whole]", async () => {
  const silent = startExchange({ headMs: 100 });
  await silent.clock.advance(100);
  await rejects(silent.response, { code: "HEAD_TIMEOUT", phase: "head" });
  await isOver(silent);

  const stuck = startExchange({ headMs: 100, idleMs: 100 });
  stuck.connection.give(head(10) + "0");
  const reader = (await stuck.response).body.getReader();
  await stuck.clock.advance(500); // who reads slowly is not who sends slowly
  await reader.read();
  const read = rejects(reader.read(), { code: "BODY_TIMEOUT", phase: "body" });
  await stuck.clock.advance(100);
  await read;
  await isOver(stuck);
});

Deno.test("Exchange ends when its answer is disposed of, once or more often, or its body cancelled [§13 ends-whole]", async () => {
  const disposed = startExchange();
  disposed.connection.give(head(10) + "01234");
  const response = await disposed.response;
  const read = rejects(response.bytes(), { code: "ABORTED", phase: "body" });
  await disposed.clock.settle();
  await Promise.all([response[Symbol.asyncDispose](), response[Symbol.asyncDispose]()]);
  await response[Symbol.asyncDispose]();
  await read;
  await isOver(disposed);

  const unread = startExchange();
  unread.connection.give(head(10) + "0123456789");
  const other = await unread.response;
  await other[Symbol.asyncDispose]();
  await isOver(unread);
  await rejects(other.bytes(), { code: "ABORTED" });

  const cancelled = startExchange();
  cancelled.connection.give(head(10));
  await (await cancelled.response).body.cancel();
  await isOver(cancelled);
});

Deno.test("Exchange keeps an answer whole that was read before it is disposed of", async () => {
  const made = startExchange();
  made.connection.give(head(5) + "hello");
  const response = await made.response;
  strictEqual(await response.text(), "hello");
  await response[Symbol.asyncDispose]();
  await isOver(made);
});

Deno.test("Exchange says where the connection failed", async () => {
  const reset = new Deno.errors.ConnectionReset("reset by peer");
  const sent = startExchange({ isHeld: true });
  sent.connection.failWrites(reset);
  sent.enter();
  sent.connect();
  await sent.clock.settle();
  sent.connection.end();
  await rejects(sent.response, { code: "SEND_FAILED", phase: "send", cause: reset });

  const silent = startExchange();
  silent.connection.end(reset);
  await rejects(silent.response, { code: "CONNECTION_CLOSED", phase: "head" });

  const cut = startExchange();
  cut.connection.give("HTTP/1.1 200 OK\r\n\r\n01234");
  cut.connection.end(new Deno.errors.UnexpectedEof("no close_notify"));
  await rejects((await cut.response).bytes(), { code: "BODY_TRUNCATED", phase: "body" });
  await Promise.all([isOver(sent), isOver(silent), isOver(cut)]);
});

Deno.test("Exchange takes an answer that came before its request could be sent whole", async () => {
  const made = startExchange({ isHeld: true });
  made.connection.failWrites(new Deno.errors.BrokenPipe("closed"));
  made.connection.give("HTTP/1.1 413 Too large\r\nContent-Length: 2\r\n\r\nno");
  made.enter();
  made.connect();
  const response = await made.response;
  deepStrictEqual([response.status, await response.text()], [413, "no"]);
});

for (const status of [300, 301, 302, 303, 307, 308, 399]) {
  Deno.test(`Exchange refuses ${status}, or takes it for an answer when it may, and follows it in no case`, async () => {
    const answer = `HTTP/1.1 ${status} X\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n`;
    const [refused, taken] = [startExchange(), startExchange({ takesRedirects: true })];
    for (const { connection } of [refused, taken]) connection.give(answer);
    await rejects(refused.response, { code: "REDIRECT_FORBIDDEN", phase: "head", isRetryable: false });
    strictEqual((await taken.response).status, status);
    await Promise.all([isOver(refused), isOver(taken)]);
  });
}

Deno.test("Exchange takes 304, which is no redirect", async () => {
  const made = startExchange();
  made.connection.give("HTTP/1.1 304 Same\r\nContent-Length: 5\r\n\r\n");
  strictEqual((await made.response).status, 304);
});

Deno.test("Exchange decodes gzip only when it is told to, and no other encoding", async () => {
  const bytes = Uint8Array.from(
    new Uint8Array(
      await new Response(new Blob(["hello"]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer(),
    ),
  );
  for (const encoding of ["gzip", "X-GZIP"]) {
    const made = startExchange({ encoding: "gunzip" });
    made.connection.give(head(bytes.length, `Content-Encoding: ${encoding}\r\n`));
    made.connection.give(bytes);
    strictEqual(await (await made.response).text(), "hello");
    await isOver(made);
  }
  const rows = [["gzip", undefined], ["br", "gunzip"], ["gzip, gzip", "gunzip"], ["deflate", "gunzip"]] as const;
  for (const [said, encoding] of rows) {
    const made = startExchange({ encoding });
    made.connection.give(head(5, `Content-Encoding: ${said}\r\n`));
    await rejects(made.response, { code: "ENCODING_FORBIDDEN", phase: "head" });
    await isOver(made);
  }
  const plain = startExchange();
  plain.connection.give(head(5, "Content-Encoding: identity\r\n") + "hello");
  strictEqual(await (await plain.response).text(), "hello");
});

for (
  const fields of [
    "Content-Encoding: br\r\nContent-Length: 1",
    "Content-Encoding: deflate\r\nContent-Length: 1",
    "Content-Encoding: gzip\r\nContent-Length: 2",
    "Content-Length: 9999999999999999",
    "Content-Length: 1, 2",
    "Transfer-Encoding: chunked\r\nContent-Length: 5",
    "Transfer-Encoding: gzip",
  ]
) {
  Deno.test(`Exchange that reads a head only takes ${JSON.stringify(fields)}, and is over with it [§13 head-only]`, async () => {
    const made = startExchange({ reads: "head", bytesMax: 0 });
    made.connection.give(`HTTP/1.1 200 OK\r\nX-A: b\r\n${fields}\r\n\r\nwhatever`);
    const response = await made.response;
    deepStrictEqual([response.status, response.headers.get("x-a")], [200, "b"]);
    await isOver(made);
    strictEqual(await response.text(), "");
    await response[Symbol.asyncDispose]();

    const judged = startExchange();
    judged.connection.give(`HTTP/1.1 200 OK\r\n${fields}\r\n\r\nwhatever`);
    await rejects(judged.response, OutboundError);
  });
}

Deno.test("Exchange that reads a head only still refuses a bad head and a redirect [§13 head-only]", async () => {
  const bad = startExchange({ reads: "head" });
  bad.connection.give("HTTP/1.1 200 OK\r\nno field\r\n\r\n");
  await rejects(bad.response, { code: "MALFORMED_RESPONSE" });
  const away = startExchange({ reads: "head" });
  away.connection.give("HTTP/1.1 302 There\r\nLocation: /\r\n\r\n");
  await rejects(away.response, { code: "REDIRECT_FORBIDDEN" });
  await Promise.all([isOver(bad), isOver(away)]);
});

Deno.test("Exchange leaves nothing of a body in gzip that is disposed of [§13 ends-whole]", async () => {
  const made = startExchange({ encoding: "gunzip" });
  made.connection.give(head(100, "Content-Encoding: gzip\r\n") + "\u001f");
  const response = await made.response;
  const read = rejects(response.bytes(), { code: "ABORTED" });
  await made.clock.settle();
  await response[Symbol.asyncDispose]();
  await read;
  await isOver(made);
});

/** Decoders that are made tell how often they were let go of, until it is disposed of. */
function takeDecoders() {
  const { DecompressionStream } = globalThis;
  const seen = { made: 0, released: 0 };
  class SeenDecoder extends DecompressionStream {
    constructor(format: CompressionFormat) {
      super(format);
      seen.made++;
      const reader = this.readable.getReader();
      const { cancel } = reader;
      reader.cancel = (reason) => {
        seen.released++;
        return cancel.call(reader, reason);
      };
      Object.assign(this.readable, { getReader: () => reader });
    }
  }
  Object.assign(globalThis, { DecompressionStream: SeenDecoder });
  return { seen, [Symbol.dispose]: () => void Object.assign(globalThis, { DecompressionStream }) };
}

Deno.test("Exchange lets go of a decoder that waits for its reader, however it ends [§13 ends-whole]", async () => {
  using decoders = takeDecoders();
  const zeros = new Blob([new Uint8Array(20_000_000)]).stream().pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(zeros).arrayBuffer());
  const waysOut: ((made: FakeExchange) => unknown)[] = [
    async ({ response }) => await (await response)[Symbol.asyncDispose](),
    ({ stop }) => stop.abort(),
    ({ clock }) => clock.advance(60_000),
  ];
  for (const end of waysOut) {
    const made = startExchange({ encoding: "gunzip", bytesMax: 30_000_000, totalMs: 50_000 });
    made.connection.give(head(bytes.length, "Content-Encoding: gzip\r\n"));
    made.connection.give(bytes);
    const reader = (await made.response).body.getReader();
    await reader.read(); // the rest is decoded when it is read: what is fed meanwhile waits
    await made.clock.settle();
    await end(made);
    await isOver(made);
    await rejects(reader.read(), OutboundError);
  }
  deepStrictEqual(decoders.seen, { made: 3, released: 3 });
});

Deno.test("Exchange refuses a body over its bound before it comes, and while it comes [§13 body-bounded]", async () => {
  const said = startExchange({ bytesMax: 5 });
  said.connection.give(head(6));
  await rejects(said.response, { code: "BODY_TOO_LARGE", phase: "body" });
  const unsaid = startExchange({ bytesMax: 5 });
  unsaid.connection.give("HTTP/1.1 200 OK\r\n\r\n012345");
  await rejects((await unsaid.response).bytes(), { code: "BODY_TOO_LARGE", phase: "body" });
  await Promise.all([isOver(said), isOver(unsaid)]);
});
