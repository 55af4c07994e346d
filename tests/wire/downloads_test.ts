import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { filesBelow } from "@tests/fakes/download_setting.ts";
import { alice } from "@tests/fakes/run_service_fixture.ts";
import { createScriptedOutbound } from "@tests/fakes/scripted_outbound.ts";
import { startHost } from "@tests/fakes/test_host.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { startWireHost, type WireHost } from "@tests/fakes/wire_host.ts";
import type { WireReply } from "@tests/fakes/wire_reply.ts";
import type { Binding } from "@tests/fakes/wire_request.ts";
import { Outbound, type OutboundOptions } from "@/outbound/outbound.ts";
import type { PartJson, TaskJson } from "@/protocol/task.ts";
import { systemClock } from "@/time/clock.ts";
import { isTemporaryName } from "@/workspace/atomic_write.ts";

const bindings = ["JSONRPC", "HTTP+JSON"] as const satisfies readonly Binding[];

for (const binding of bindings) {
  Deno.test(`a file by URL comes from a real server to the engine, over ${binding} [§5.6 url-fetched, §5.6 url-as-sent]`, async () => {
    await using server = startServer();
    await using setting = await startOver({ allowPrivate: true });
    const sent = { url: `${server.url}/large`, mediaType: "text/plain" };
    const task = await send(setting.host, binding, [{ text: "see" }, sent]);
    strictEqual(task.status.state, "TASK_STATE_COMPLETED");
    const path = `inbox/alice/${task.id}/large file.txt`;
    const text = `see\n[file ${path}, ${large.length} bytes, text/plain]`;
    strictEqual(task.artifacts?.[0]?.parts[0]?.text, text);
    strictEqual(await Deno.readTextFile(`${setting.host.workspace}/${path}`), large);
    const got = await resultOf(setting.host.call(binding, "GetTask", { id: task.id })) as TaskJson;
    deepStrictEqual(got.history?.[0]?.parts, [{ text: "see" }, sent]);
  });
}

const refusals: readonly (readonly [path: string, says: RegExp])[] = [
  ["/missing", /^Cannot fetch file "missing": it answered 404$/],
  ["/redirect", /^Cannot fetch file "redirect": it gave no usable answer$/],
  ["/endless", /^file "endless" has more than 1048576 bytes, the limit is 1048576$/],
];

for (const [path, says] of refusals) {
  Deno.test(`a file by URL that answers as ${path} fails its task, and nothing is left [§5.6 url-failed, §5.6 url-whole, case 31]`, async () => {
    await using server = startServer();
    await using setting = await startOver({ allowPrivate: true }, { "max-file-bytes": "1MiB" });
    const task = await send(setting.host, "JSONRPC", [{ url: `${server.url}${path}` }]);
    match(task.status.message?.parts[0]?.text ?? "", says);
    deepStrictEqual(await inbox(setting.host), {});
    deepStrictEqual(server.asked, [path]); // the redirect was not followed
  });
}

const inside = [
  "http://127.0.0.1",
  "https://127.0.0.1",
  "https://[::ffff:127.0.0.1]",
  "https://2130706433",
  "https://localhost",
];

for (const origin of inside) {
  Deno.test(`a file by a URL to ${origin} is refused, and nothing is connected to [§5.6 url-guarded, case 25, case 31]`, async () => {
    await using server = startServer();
    const attempts: string[] = [];
    const lookup = () => Promise.resolve(["127.0.0.1"]);
    await using setting = await startOver({ onAttempt: (address) => void attempts.push(address), lookup });
    const url = `${origin}:${server.port}/large?key=secret`;
    const task = await send(setting.host, "JSONRPC", [{ url, filename: "x.txt" }]);
    match(
      task.status.message?.parts[0]?.text ?? "",
      /^Cannot fetch file "x.txt": (it cannot be reached or is not allowed|the scheme http: is not allowed)$/,
    );
    deepStrictEqual([attempts, server.asked, await inbox(setting.host)], [[], [], {}]);
  });
}

Deno.test("a host that dies in a download leaves a file that the next start removes, and says that the task failed [§5.6 url-whole, SM7 start-sweep]", async () => {
  const clock = createTestClock();
  const outbound = createScriptedOutbound(clock);
  outbound.answer("https://files.example/a.txt", { body: ["half", new Promise(() => {})] });
  await using host = await startHost({ clock, outbound });
  using accepted = await host.send("", { parts: [{ url: "https://files.example/a.txt" }] });
  await clock.settle();
  const { id } = accepted.task;
  const left = Object.entries(await filesBelow(`${host.workspace}/inbox`));
  deepStrictEqual(left.map(([, text]) => text), ["half"]);
  ok(isTemporaryName(left[0]![0]));
  await using next = await host.crash();
  deepStrictEqual([await next.state(id), await next.says(id)], ["failed", "server restarted"]);
  deepStrictEqual(await filesBelow(`${next.workspace}/inbox`), { [`alice/${id}/`]: "" });
});

Deno.test("a message that had not begun when its host died is fetched for by the next [§5.5 crash-not-begun, SM3 opening-downloads]", async () => {
  const clock = createTestClock();
  const outbound = createScriptedOutbound(clock);
  const url = "https://files.example/a.txt";
  outbound.answer(url, { body: "whole" });
  await using host = await startHost({ clock, outbound, flags: { "concurrent-runs": "1" } });
  using _ = await host.send("hang");
  using queued = await host.send("", { caller: alice, parts: [{ url }] });
  await clock.settle();
  const { id } = queued.task;
  deepStrictEqual([await host.state(id), outbound.requests.length], ["submitted", 0]);
  await using next = await host.crash();
  await clock.settle();
  strictEqual(await next.says(id), `[file inbox/alice/${id}/a.txt, 5 bytes, text/plain]`);
  deepStrictEqual((await next.record(id)).task.history?.[0]?.parts, [{ url }]);
});

const large = "0123456789abcdef".repeat(20_000);

/** A host whose door out is the real one. */
async function startOver(door: Omit<OutboundOptions, "clock">, flags: Readonly<Record<string, string>> = {}) {
  const outbound = new Outbound({ clock: systemClock, ...door });
  const host = await startWireHost({ outbound, flags });
  return {
    host,
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      await outbound[Symbol.asyncDispose]();
    },
  };
}

async function send(host: WireHost, binding: Binding, parts: readonly PartJson[]): Promise<TaskJson> {
  const message = { role: "ROLE_USER", messageId: crypto.randomUUID(), parts };
  return (await resultOf(host.call(binding, "SendMessage", { message })) as { task: TaskJson }).task;
}

async function resultOf(reply: Promise<WireReply>): Promise<unknown> {
  const answer = await reply;
  ok(answer.kind === "result", JSON.stringify(answer));
  return answer.result;
}

async function inbox({ workspace }: { readonly workspace: string }): Promise<Record<string, string>> {
  const found = await Deno.stat(`${workspace}/inbox`).then(() => filesBelow(`${workspace}/inbox`), () => ({}));
  return Object.fromEntries(Object.entries(found).filter(([path]) => !path.endsWith("/")));
}

/** A server on this machine, over HTTP. */
function startServer() {
  const asked: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    const { pathname } = new URL(request.url);
    asked.push(pathname);
    return answer(pathname);
  });
  const { port } = server.addr;
  return {
    ...{ asked, port, url: `http://127.0.0.1:${port}` },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function answer(path: string): Response {
  const disposition = { "content-disposition": `attachment; filename*=UTF-8''large%20file.txt` };
  const piece = new TextEncoder().encode(large);
  switch (path) {
    case "/large":
      return new Response(large, { headers: disposition });
    case "/redirect":
      return Response.redirect("http://127.0.0.1:1/large");
    case "/endless":
      return new Response(new ReadableStream({ pull: (controller) => controller.enqueue(piece) }));
    default:
      return new Response("none", { status: 404 });
  }
}
