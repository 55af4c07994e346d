import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { TaskJson } from "@/protocol/task.ts";
import { eachAtOnce } from "@/time/each_at_once.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";
import { type ServeProcess, startServe } from "@tests/fakes/serve_process.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { readReply } from "@tests/fakes/wire_reply.ts";
import { type Binding, bindings, wireRequest } from "@tests/fakes/wire_request.ts";

/** Each process needs a file descriptor for each: see `ulimit -n`. */
const connections = Number(Deno.env.get("A2A_TEST_CONNECTIONS") ?? 1_000);
const key = "k_of_the_test_0123456789";
/** Far more than a busy machine needs for one request. */
const answerMsMax = 20_000;

const head = "POST /a2a HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n";

/** What a client that never ends its request has sent. */
const halves: readonly { readonly name: string; readonly sent: string }[] = [
  { name: "nothing", sent: "" },
  { name: "half of the request line", sent: "POST /a2a HT" },
  { name: "headers without their end", sent: `${head}X-Slow: 1\r\n` },
  { name: "headers with a key, no body", sent: `${head}X-API-Key: ${key}\r\nContent-Length: 1000\r\n\r\n` },
  { name: "half a body", sent: `${head}X-API-Key: ${key}\r\nContent-Length: 1000\r\n\r\n{"jsonrpc":"2.0",` },
  {
    name: "half a chunk",
    sent: `${head}X-API-Key: ${key}\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{"jsonrpc":"2.0",`,
  },
];

Deno.test(`others are served while ${connections} connections are half open, and after [§5.1 half-open]`, async () => {
  await using temp = await makeTempFolder();
  const { a2a, callersFile } = workspacePaths(temp.path);
  await Deno.mkdir(a2a, { recursive: true });
  await Deno.writeTextFile(callersFile, JSON.stringify([{ name: "bot", key }]));
  await using serve = startServe(temp.path, "--log-level", "error", "--requests-per-minute", "0");
  const address = await serve.address;
  await sendAndRead(address, "JSONRPC", "before");
  const memoryBefore = await residentKb(serve);
  let slowestMs: number;
  let memory: number;
  {
    using open = await openHalves(address);
    slowestMs = await serveOthers(address);
    memory = await residentKb(serve) - memoryBefore;
    strictEqual(open.count, connections);
  }
  await serveOthers(address);
  console.log(
    `${connections} half-open connections: slowest of ${requests} sends meanwhile ${slowestMs} ms, ` +
      `${Math.round(memory / connections * 10) / 10} kB each`,
  );
  serve.kill("SIGTERM");
  const { code, error } = await serve.ended;
  deepStrictEqual({ code, error }, { code: 0, error: "" });
});

const requests = 40;

/** Sends over both bindings, four at a time; gives the milliseconds of the slowest. */
async function serveOthers(address: string): Promise<number> {
  let slowestMs = 0;
  await eachAtOnce(Array.from({ length: requests }).keys(), 4, async (number) => {
    const start = performance.now();
    await sendAndRead(address, bindings[number % 2]!, `message ${number}`);
    slowestMs = Math.max(slowestMs, Math.round(performance.now() - start));
  });
  return slowestMs;
}

async function sendAndRead(address: string, binding: Binding, text: string): Promise<void> {
  const message = { role: "ROLE_USER", messageId: text, parts: [{ text }] };
  const request = wireRequest(binding, { method: "SendMessage", params: { message } }, { key });
  const reply = await readReply(
    await fetch(address + new URL(request.url).pathname, {
      method: "POST",
      headers: request.headers,
      body: await request.text(),
      signal: AbortSignal.timeout(answerMsMax),
    }),
  );
  ok(reply.kind === "result", JSON.stringify(reply));
  const { task } = reply.result as { task: TaskJson };
  deepStrictEqual([task.status.state, task.artifacts?.[0]?.parts], ["TASK_STATE_COMPLETED", [{ text }]]);
}

/** Opens all of them, of every kind as many. Disposing closes them. */
async function openHalves(address: string): Promise<Disposable & { readonly count: number }> {
  const { hostname, port } = new URL(address);
  using opening = new DisposableStack();
  let count = 0;
  await eachAtOnce(Array.from({ length: connections }).keys(), 50, async (number) => {
    const socket = await Deno.connect({ hostname, port: Number(port) });
    opening.defer(() => socket.close());
    const bytes = new TextEncoder().encode(halves[number % halves.length]!.sent);
    for (let sent = 0; sent < bytes.length;) sent += await socket.write(bytes.subarray(sent));
    count++;
  });
  const all = opening.move();
  return { count, [Symbol.dispose]: () => all.dispose() };
}

/** What the process has of memory; 0 where the system does not tell. */
async function residentKb({ pid }: ServeProcess): Promise<number> {
  const text = await Deno.readTextFile(`/proc/${pid}/status`).catch(() => "");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0);
}
