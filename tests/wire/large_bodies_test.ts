import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { startWireHost } from "@tests/fakes/wire_host.ts";
import { bindings } from "@tests/fakes/wire_request.ts";

const mib = 1024 * 1024;

/** So many times the same text, in a frame, as bytes: no text of that length is made. */
function repeated(before: string, item: string, times: number, after: string): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const [head, one, tail] = [before, item, after].map((text) => encoder.encode(text)) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  const bytes = new Uint8Array(head.length + one.length * times + tail.length);
  bytes.set(head);
  bytes.set(one, head.length);
  const end = head.length + one.length * times;
  for (let done = one.length; done < end - head.length; done *= 2) {
    bytes.copyWithin(head.length + done, head.length, Math.min(head.length + done, end - done));
  }
  bytes.set(tail, end);
  return bytes;
}

const message = `{"messageId":"m","role":"ROLE_USER","parts":`;
const bodies: readonly { readonly name: string; readonly bytes: () => Uint8Array<ArrayBuffer> }[] = [
  { name: "2 million parts", bytes: () => repeated(`{"message":${message}[`, `{"text":""},`, 2_000_000, `{}]}}`) },
  {
    name: "12 million values in a part",
    bytes: () => repeated(`{"message":${message}[{"data":[`, "0,", 12_000_000, `0]}]}}`),
  },
  { name: "24 million brackets", bytes: () => repeated(`{"message":${message}[{"data":`, "[", 24_000_000, `]}]}}`) },
  { name: "4 million keys", bytes: () => repeated(`{"message":{`, `"a":1,`, 4_000_000, `"b":1}}`) },
];

for (const { name, bytes } of bodies) {
  for (const binding of bindings) {
    Deno.test(`${binding} refuses a body of 24 MB with ${name} before it parses it, in little memory [§5.6 counted-before-parse, §5.6 little-memory]`, async () => {
      await using host = await startWireHost();
      const rest = bytes();
      const body = binding === "HTTP+JSON" ? rest : framed(rest);
      const before = Deno.memoryUsage();
      const begun = performance.now();
      const reply = await host.call(binding, "SendMessage", {}, { body });
      const tookMs = performance.now() - begun;
      const after = Deno.memoryUsage();
      ok(reply.kind === "error");
      deepStrictEqual([reply.reason, reply.http], ["INVALID_PARAMS", 400]);
      const growth = Math.max(after.heapUsed - before.heapUsed, after.rss - before.rss);
      ok(growth < 100 * mib, `grew by ${growth / mib} MiB`);
      ok(tookMs < 3000, `took ${tookMs} ms`);
    });
  }
}

function framed(params: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":`);
  const bytes = new Uint8Array(head.length + params.length + 1);
  bytes.set(head);
  bytes.set(params, head.length);
  bytes[bytes.length - 1] = 0x7d;
  return bytes;
}

Deno.test("a blocking send of a large body gives its room back before it is answered [§5.6 bodies-in-flight]", async () => {
  await using host = await startWireHost();
  const raw = new Uint8Array(9 * mib).toBase64();
  const parts = [{ text: "wait: 10s" }, { raw }, { raw }];
  const send = (as: "alice" | "bob") =>
    host.call("JSONRPC", "SendMessage", {
      message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts },
      configuration: { historyLength: 0 },
    }, { as });
  const stored = async (as: "alice" | "bob", count: number) => {
    for (let total = 0, tries = 0; total < count && tries < 500; tries++) {
      const listed = await host.call("HTTP+JSON", "ListTasks", { historyLength: 0 }, { as });
      ok(listed.kind === "result");
      total = (listed.result as { totalSize: number }).totalSize;
      for (let n = 0; n < 5; n++) await host.clock.settle();
    }
  };
  const sent = [send("alice"), send("bob")];
  await Promise.all([stored("alice", 1), stored("bob", 1)]);
  sent.push(send("alice")); // with the two before it over 64 MiB, with alice's over her half
  await Promise.race([stored("alice", 2), sent[2]]);
  await host.clock.advance(10_000);
  for (const { kind } of await Promise.all(sent)) strictEqual(kind, "result");
});

for (const binding of bindings) {
  Deno.test(`${binding} refuses a message whose task would be too large to store, and stores nothing [DM5 bounds, §5.1 bad-input]`, async () => {
    await using host = await startWireHost();
    const message = { messageId: "m", role: "ROLE_USER", parts: Array(5).fill({ text: "x".repeat(mib - 40) }) };
    const reply = await host.call(binding, "SendMessage", { message });
    ok(reply.kind === "error");
    deepStrictEqual([reply.reason, /4 MiB/.test(reply.message)], ["INVALID_PARAMS", true]);
    deepStrictEqual(await host.call(binding, "ListTasks"), {
      kind: "result",
      result: { tasks: [], nextPageToken: "", pageSize: 50, totalSize: 0 },
    });
  });
}
