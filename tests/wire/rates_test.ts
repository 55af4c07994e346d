import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { keys, startWireHost, type WireHost } from "@tests/fakes/wire_host.ts";
import type { WireError, WireReply } from "@tests/fakes/wire_reply.ts";
import { readReply } from "@tests/fakes/wire_reply.ts";
import { type Binding, bindings, wireRequest } from "@tests/fakes/wire_request.ts";
import { textMessage } from "@tests/fakes/test_peer.ts";
import type { TaskJson } from "@/protocol/task.ts";

const atOnce = { configuration: { returnImmediately: true, historyLength: 0 } };

function sendIn(contextId: string, more: Readonly<Record<string, unknown>> = {}) {
  return { ...textMessage("hi", { contextId }), ...atOnce, ...more };
}

function refusalOf(reply: WireReply): WireError {
  ok(reply.kind === "error", JSON.stringify(reply));
  deepStrictEqual([reply.reason, reply.code, reply.http], ["TOO_MANY_REQUESTS", -32000, 429]);
  return reply;
}

async function storedTasks(host: WireHost): Promise<number> {
  const listed = await host.call("HTTP+JSON", "ListTasks", {}, { as: "alice" });
  ok(listed.kind === "result");
  return (listed.result as { totalSize: number }).totalSize;
}

for (const binding of bindings) {
  const other: Binding = binding === "JSONRPC" ? "HTTP+JSON" : "JSONRPC";

  Deno.test(`${binding} refuses one message over the rate, streamed ones too, before anything of it is stored [§7 request-rates, §7 rate-refusals, §5.10 retry-after]`, async () => {
    await using host = await startWireHost({ rates: { requestsPerMinute: 3, readsPerMinute: 600 } });
    strictEqual((await host.call(binding, "SendMessage", sendIn("a"))).kind, "result");
    strictEqual((await host.call(other, "SendMessage", sendIn("b"))).kind, "result");
    strictEqual((await host.call(binding, "SendStreamingMessage", sendIn("c"))).kind, "events");
    await host.clock.advance(15_000);
    const before = host.disk.bytesWritten;
    for (const method of ["SendMessage", "SendStreamingMessage"] as const) {
      const refused = refusalOf(await host.call(binding, method, sendIn("d")));
      strictEqual(refused.retryAfter, "45");
      strictEqual(refused.message, "Over the limit of 3 messages a minute (requestsPerMinute), retry later");
    }
    deepStrictEqual([host.disk.bytesWritten, await storedTasks(host)], [before, 3]);
    strictEqual((await host.call(binding, "SendMessage", sendIn("d"), { as: "bob" })).kind, "result");
    await host.clock.advance(45_000);
    strictEqual((await host.call(binding, "SendMessage", sendIn("d"))).kind, "result");
  });

  Deno.test(`${binding} refuses one read over the rate, whatever the method, and takes messages all the same [§7 request-rates, §7 rate-refusals]`, async () => {
    await using host = await startWireHost({ rates: { requestsPerMinute: 9, readsPerMinute: 3 } });
    const sent = await host.call(binding, "SendMessage", { ...textMessage("hang"), ...atOnce });
    ok(sent.kind === "result");
    const { id } = (sent.result as { task: TaskJson }).task;
    const stream = await host.open(other, "SubscribeToTask", { id });
    for (const method of ["GetTask", "GetExtendedAgentCard"] as const) {
      strictEqual((await host.call(binding, method, { id })).kind, "result");
    }
    for (const method of ["GetTask", "ListTasks", "CancelTask", "SubscribeToTask"] as const) {
      const refused = refusalOf(await host.call(binding, method, { id }));
      match(refused.message, /limit of 3 requests that send no message a minute \(readsPerMinute\)/);
    }
    strictEqual((await host.call(binding, "SendMessage", sendIn("b"))).kind, "result");
    await host.clock.advance(60_000);
    strictEqual((await host.call(binding, "CancelTask", { id })).kind, "result");
    await stream.body!.cancel();
  });

  Deno.test(`${binding} refuses a caller over both rates with its body unread, and lets it in again however often it asks [§7 rates-before-body, §7 rates-recover]`, async () => {
    await using host = await startWireHost({ rates: { requestsPerMinute: 1, readsPerMinute: 1 } });
    for (let n = 0; n < 2; n++) {
      const reply = await host.call(binding, "SendMessage", { message: "no message" });
      ok(reply.kind === "error" && reply.reason === "INVALID_PARAMS"); // it counts among all
    }
    for (let second = 0; second < 60; second++) {
      let pulls = 0;
      const body = new ReadableStream({ pull: () => void pulls++ }, { highWaterMark: 0 });
      const made = wireRequest(binding, { method: "SendMessage", params: {} }, { key: keys.alice });
      const refused = refusalOf(await readReply(await host.fetch(new Request(made, { body }))));
      match(refused.message, /limit of 2 requests a minute \(requestsPerMinute \+ readsPerMinute\)/);
      deepStrictEqual([refused.retryAfter, pulls], [`${60 - second}`, 0]);
      await host.clock.advance(1_000);
    }
    strictEqual((await host.call(binding, "SendMessage", sendIn("a"))).kind, "result");
  });

  Deno.test(`${binding} refuses one turn over an hour's in a context, and takes it in another [§7 turns-a-context, §5.10 retry-after]`, async () => {
    await using host = await startWireHost({ flags: { "turns-per-context": "2" } });
    for (let n = 0; n < 2; n++) {
      strictEqual((await host.call(binding, "SendMessage", textMessage("hi", { contextId: "c" }))).kind, "result");
    }
    const before = host.disk.bytesWritten;
    for (const method of ["SendMessage", "SendStreamingMessage"] as const) {
      const refused = refusalOf(await host.call(binding, method, sendIn("c")));
      strictEqual(refused.retryAfter, "3600");
      match(refused.message, /^Over the limit of 2 turns an hour in one context/);
    }
    strictEqual(host.disk.bytesWritten, before);
    strictEqual((await host.call(binding, "SendMessage", sendIn("d"))).kind, "result");
    await host.clock.advance(3_600_000);
    strictEqual((await host.call(binding, "SendMessage", sendIn("c"))).kind, "result");
  });

  Deno.test(`${binding} refuses agents that answer each other too long, until somebody else writes [§7 delegated-turns]`, async () => {
    await using host = await startWireHost({ flags: { "delegated-turns-in-row": "2" } });
    const send = (hops: number) =>
      host.call(binding, "SendMessage", {
        ...textMessage("hi", { contextId: "c" }),
        metadata: { "volcanic.hops": hops },
      });
    for (const hops of [1, 2]) strictEqual((await send(hops)).kind, "result");
    match(refusalOf(await send(1)).message, /^Over the limit of 2 turns in a row .*other agents/);
    for (const hops of [0, 1]) strictEqual((await send(hops)).kind, "result");
  });
}
