import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { A2AError } from "@/protocol/errors.ts";
import { BodyReader } from "./body_reader.ts";

const mib = 1024 * 1024;

/** A body whose pieces a test hands over one by one, and what was asked of it. */
function makeBody(headers: Readonly<Record<string, string>> = {}) {
  const seen = { pulls: 0, canceled: false };
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({
    start: (given) => void (controller = given),
    pull: () => void seen.pulls++,
    cancel: () => void (seen.canceled = true),
  }, { highWaterMark: 0 });
  const request = new Request("http://x/", { method: "POST", body, headers });
  return {
    ...{ request, seen },
    give: (bytes: number | string) =>
      controller.enqueue(typeof bytes === "string" ? new TextEncoder().encode(bytes) : new Uint8Array(bytes)),
    end: () => controller.close(),
    breakOff: () => controller.error(new Error("the connection is gone")),
  };
}

/** A request as of alice, unless it is told whose it is. */
const from = (request: Request, caller = "home/alice") => ({ request, caller });

const textOf = (bytes: Uint8Array) => Promise.resolve(new TextDecoder().decode(bytes));

function reasonOf(result: unknown): string {
  return result instanceof A2AError ? result.reason : JSON.stringify(result);
}

Deno.test("BodyReader joins the pieces of a body in order", async () => {
  const clock = createTestClock();
  const reader = new BodyReader({ bytesMax: 100, clock });
  const body = makeBody();
  const read = reader.withBody(from(body.request), textOf);
  for (const piece of ["one ", "", "two ", "thr\u00e9e"]) body.give(piece);
  body.end();
  strictEqual(await read, "one two thr\u00e9e");
  strictEqual(clock.pending, 0);
});

Deno.test("BodyReader gives no bytes for no body", async () => {
  const reader = new BodyReader({ bytesMax: 1, clock: createTestClock() });
  strictEqual(await reader.withBody(from(new Request("http://x/")), textOf), "");
});

Deno.test("BodyReader takes a body of exactly the limit [§5.6 body-limit]", async () => {
  const reader = new BodyReader({ bytesMax: 5, clock: createTestClock() });
  const request = new Request("http://x/", { method: "POST", body: "12345", headers: { "Content-Length": "5" } });
  strictEqual(await reader.withBody(from(request), textOf), "12345");
});

Deno.test("BodyReader refuses a body that says it is too large without reading it [§5.6 body-limit, case 13]", async () => {
  const reader = new BodyReader({ bytesMax: 5, clock: createTestClock() });
  const body = makeBody({ "Content-Length": "6" });
  const refused = await reader.withBody(from(body.request), textOf);
  ok(refused instanceof A2AError);
  deepStrictEqual([refused.reason, refused.message], [
    "PAYLOAD_TOO_LARGE",
    "The body is over the limit of 5 bytes",
  ]);
  deepStrictEqual(body.seen, { pulls: 0, canceled: false });
});

for (const declared of [undefined, "3", "-1", "x"]) {
  Deno.test(`BodyReader stops reading a body that turns out too large, Content-Length ${declared} [§5.6 body-limit, case 13]`, async () => {
    const clock = createTestClock();
    const reader = new BodyReader({ bytesMax: 5, clock });
    const body = makeBody(declared === undefined ? {} : { "Content-Length": declared });
    const read = reader.withBody(from(body.request), textOf);
    for (let n = 0; n < 3; n++) body.give("abc");
    strictEqual(reasonOf(await read), "PAYLOAD_TOO_LARGE");
    strictEqual(body.seen.canceled, true);
    strictEqual(clock.pending, 0);
  });
}

Deno.test("BodyReader gives up on a body that is not whole within a minute, however it trickles [§5.6 body-deadline]", async () => {
  const clock = createTestClock();
  const reader = new BodyReader({ bytesMax: 1000, clock });
  const body = makeBody();
  const read = reader.withBody(from(body.request), textOf);
  for (let second = 0; second < 59; second++) {
    body.give("x");
    await clock.advance(1000);
  }
  strictEqual(body.seen.canceled, false);
  await clock.advance(1000);
  strictEqual(reasonOf(await read), "INVALID_REQUEST");
  deepStrictEqual([body.seen.canceled, clock.pending], [true, 0]);
});

Deno.test("BodyReader refuses a body that breaks off [§5.6 body-deadline]", async () => {
  const clock = createTestClock();
  const reader = new BodyReader({ bytesMax: 1000, clock });
  const body = makeBody();
  const read = reader.withBody(from(body.request), textOf);
  body.give("{");
  body.breakOff();
  strictEqual(reasonOf(await read), "INVALID_REQUEST");
  strictEqual(clock.pending, 0);
});

Deno.test("BodyReader holds 64 MiB of bodies at once, and more when they are done with [§5.6 bodies-in-flight]", async () => {
  const clock = createTestClock();
  const reader = new BodyReader({ bytesMax: 32 * mib, clock });
  const used = Promise.withResolvers<void>();
  const keep = () => used.promise.then(() => "kept");
  const ask = (caller: string) => {
    const body = makeBody();
    const read = reader.withBody(from(body.request, caller), keep);
    body.give(32 * mib);
    body.end();
    return { body, read };
  };
  const [first, second] = [ask("alice"), ask("bob")];
  await clock.settle();
  const third = ask("cat");
  const refused = await third.read;
  ok(refused instanceof A2AError);
  deepStrictEqual([refused.reason, refused.retryAfterSeconds], ["TOO_MANY_REQUESTS", 5]);
  strictEqual(third.body.seen.canceled, false); // it was whole already
  used.resolve();
  deepStrictEqual([await first.read, await second.read], ["kept", "kept"]);
  const [fourth, fifth] = [ask("alice"), ask("cat")];
  deepStrictEqual([await fourth.read, await fifth.read], ["kept", "kept"]);
});

Deno.test("BodyReader gives the room of a body back however it ends [§5.6 bodies-in-flight]", async () => {
  const clock = createTestClock();
  const reader = new BodyReader({ bytesMax: 60 * mib, clock });
  const ends: readonly ((body: ReturnType<typeof makeBody>) => unknown)[] = [
    (body) => body.breakOff(),
    (body) => body.give(30 * mib),
    () => clock.advance(60_000),
    (body) => body.end(),
  ];
  for (const end of [...ends, ...ends]) {
    const body = makeBody();
    const read = reader.withBody(from(body.request), () => Promise.reject(new Error("the use broke")));
    body.give(40 * mib);
    await clock.settle();
    await end(body);
    reasonOf(await read.catch((error) => error.message));
  }
  const body = makeBody();
  const read = reader.withBody(from(body.request), (bytes) => Promise.resolve(bytes.length));
  body.give(60 * mib);
  body.end();
  strictEqual(await read, 60 * mib);
});

Deno.test("BodyReader gives one caller half of the room, so that it shuts nobody out [§7 bodies-of-a-caller]", async () => {
  const clock = createTestClock();
  const reader = new BodyReader({ bytesMax: 32 * mib, clock });
  const ask = (caller: string, bytes: number) => {
    const body = makeBody();
    const read = reader.withBody(from(body.request, caller), (whole) => Promise.resolve(whole.length));
    body.give(bytes);
    return { body, read };
  };
  const held = Array.from({ length: 4 }, () => ask("alice", 8 * mib)); // none is whole
  await clock.settle();
  const over = await ask("alice", 1).read;
  ok(over instanceof A2AError);
  deepStrictEqual([over.reason, over.retryAfterSeconds], ["TOO_MANY_REQUESTS", 5]);
  const others = ask("bob", 31 * mib);
  others.body.end();
  strictEqual(await others.read, 31 * mib);
  held[0]!.body.breakOff();
  await held[0]!.read;
  const next = ask("alice", 8 * mib);
  for (const { body } of [...held.slice(1), next]) body.end();
  for (const { read } of [...held.slice(1), next]) strictEqual(await read, 8 * mib);
});

Deno.test("BodyReader takes one body over half of the room where such bodies are allowed, and none over all of it [§7 bodies-of-a-caller, §5.6 body-limit]", async () => {
  const reader = new BodyReader({ bytesMax: Infinity, clock: createTestClock() });
  const ask = (bytes: number, headers?: Readonly<Record<string, string>>) => {
    const body = makeBody(headers);
    const read = reader.withBody(from(body.request), (whole) => Promise.resolve(whole.length));
    body.give(bytes);
    return { body, read };
  };
  const large = ask(40 * mib);
  large.body.end();
  strictEqual(await large.read, 40 * mib);
  strictEqual(reasonOf(await ask(1, { "Content-Length": `${64 * mib + 1}` }).read), "PAYLOAD_TOO_LARGE");
});
