import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { startProgram, startServe } from "@tests/fakes/serve_process.ts";
import { machineBox } from "@tests/box/box_setting.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { wireRequest } from "@tests/fakes/wire_request.ts";
import { readReply } from "@tests/fakes/wire_reply.ts";
import type { Method } from "@/protocol/request_types.ts";
import type { TaskJson } from "@/protocol/task.ts";
import { version } from "@/version.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";

const key = "k_of_the_test_0123456789";

async function writeCallers(folder: string, callers: readonly unknown[] = [{ name: "bot", key }]): Promise<void> {
  const { a2a, callersFile } = workspacePaths(folder);
  await Deno.mkdir(a2a, { recursive: true });
  await Deno.writeTextFile(callersFile, JSON.stringify(callers));
}

async function call(address: string, method: Method, params: unknown = {}) {
  const { url, ...request } = await rebased(address, wireRequest("JSONRPC", { method, params }, { key }));
  return await readReply(await fetch(url, request));
}

async function rebased(address: string, request: Request) {
  const headers = [...request.headers];
  return { url: address + new URL(request.url).pathname, method: request.method, headers, body: await request.text() };
}

const hang = { role: "ROLE_USER", messageId: "m", parts: [{ text: "hang" }] };

async function taskOf(address: string, method: Method, params: unknown): Promise<TaskJson> {
  const reply = await call(address, method, params);
  ok(reply.kind === "result", JSON.stringify(reply));
  const { task = reply.result } = reply.result as { task?: TaskJson };
  return task as TaskJson;
}

Deno.test("serve in a new folder says what it serves and what to do next, and ends with 0 when it is told to [§3 serve-start, SM7 drain]", async () => {
  await using temp = await makeTempFolder();
  const folder = `${temp.path}/My Notes`;
  await using serve = startServe(folder);
  const address = await serve.address;
  serve.kill("SIGTERM");
  const { code, out } = await serve.ended;
  strictEqual(code, 0);
  const box = machineBox.kind === "box"
    ? `${machineBox.version}: callers may run programs`
    : `none (${machineBox.why}): callers get no bash, no acp, no exec`;
  deepStrictEqual(out.split("\n"), [
    `volcanic-a2a ${version} serves on ${address}`,
    `workspace  my-notes: ${folder}, no callers`,
    "engine     faux",
    `box        ${box}`,
    "pushes     cannot be received: this build calls no agents",
    "",
    "Nobody may call my-notes yet. This makes a key and prints it, once:",
    `  deno task start callers add my-friend --workspace '${folder}'`,
    "and this says hi with it, in place of KEY:",
    `  curl -s -H 'X-API-Key: KEY' -H 'Content-Type: application/json' ${address}/a2a -d ` +
    `'{"jsonrpc":"2.0","id":"1","method":"SendMessage","params":{"message":{"role":"ROLE_USER","messageId":"m1","parts":[{"text":"hi"}]}}}'`,
    "",
  ]);
});

Deno.test("serve answers the curl examples of seed 000 as that document says [§3 seed-curl]", async () => {
  await using temp = await makeTempFolder();
  await using serve = startServe(temp.path);
  const address = await serve.address;
  await writeCallers(temp.path, [{ name: "travel-bot", key: "k", mode: "isolated", note: "Alice's trip planner" }]);
  const card = await fetch(`${address}/.well-known/agent-card.json`);
  strictEqual(card.status, 200);
  strictEqual((await card.json()).name, "Volcanic assistant");
  const post = async (body: string) => {
    const headers = { "X-API-Key": "k", "Content-Type": "application/json" };
    return await (await fetch(`${address}/a2a`, { method: "POST", headers, body })).json();
  };
  const sent = await post(
    '{"jsonrpc":"2.0","id":"1","method":"SendMessage","params":{"message":{"role":"ROLE_USER","messageId":"m1","parts":[{"text":"hi"}]}}}',
  );
  const { task } = sent.result;
  deepStrictEqual([sent.jsonrpc, sent.id, task.status.state], ["2.0", "1", "TASK_STATE_COMPLETED"]);
  deepStrictEqual(task.artifacts.map(({ name, parts }: TaskJson["artifacts"] & never) => [name, parts]), [[
    "response",
    [{ text: "hi" }],
  ]]);
  const got = await post(`{"jsonrpc":"2.0","id":"2","method":"GetTask","params":{"id":"${task.id}"}}`);
  deepStrictEqual(got, { jsonrpc: "2.0", id: "2", result: task });
});

Deno.test("serve with --json prints one line for programs, with who may write [§3 serve-start, §6 writers-named]", async () => {
  await using temp = await makeTempFolder();
  await writeCallers(temp.path, [{ name: "bot", key }, { name: "partner", key: "k_partner_key_1", access: "write" }]);
  await using serve = startProgram(["--faux", "--json", "--workspace", `home=${temp.path}`, "--listen", "127.0.0.1:0"]);
  const answered = Promise.race([serve.ended, readyOf(serve.pid, temp.path)]);
  await answered;
  serve.kill("SIGINT");
  const { code, out } = await serve.ended;
  const report = JSON.parse(out);
  strictEqual(code, 0);
  const box = machineBox.kind === "box" ? machineBox.version : null;
  deepStrictEqual({ ...report, address: "" }, {
    ...{ version, address: "", publicUrl: null, engine: "faux", model: null, box, receivesPushes: false },
    workspaces: [{ name: "home", folder: temp.path, callers: 2, writers: ["partner"], networkers: [] }],
  });
});

Deno.test("serve: a second signal ends it with 130 at once, and the next start fails what ran [SM7 second-signal, SM8 3]", async () => {
  await using temp = await makeTempFolder();
  await writeCallers(temp.path);
  const configuration = { returnImmediately: true };
  let id: string;
  {
    await using serve = startServe(temp.path);
    ({ id } = await taskOf(await serve.address, "SendMessage", { message: hang, configuration }));
    serve.kill("SIGTERM");
    await drainingAt(await serve.address);
    serve.kill("SIGTERM");
    strictEqual((await serve.ended).code, 130);
  }
  await using serve = startServe(temp.path);
  const task = await settledAt(await serve.address, id);
  deepStrictEqual([task.status.state, task.status.message?.parts[0]?.text], ["TASK_STATE_FAILED", "server restarted"]);
});

Deno.test("serve: the grace over, a run is failed, and it ends with 0 [SM7 drain]", async () => {
  await using temp = await makeTempFolder();
  await writeCallers(temp.path);
  await using serve = startServe(temp.path, "--drain-timeout", "100ms");
  const address = await serve.address;
  const waiting = taskOf(address, "SendMessage", { message: hang });
  await using stream = await streamAt(address);
  await stream.next();
  serve.kill("SIGTERM");
  const { status } = await waiting;
  deepStrictEqual([status.state, status.message?.parts[0]?.text], ["TASK_STATE_FAILED", "server restarted"]);
  const last: string[] = [];
  for (let next = await stream.next(); !next.done; next = await stream.next()) last.push(next.value!);
  strictEqual(last.at(-1), ": the server is shutting down\n\n");
  strictEqual((await serve.ended).code, 0);
});

Deno.test("serve: killed and started again, a task that was at work is failed and a question stays [SM7 recover, §4 crash-frees-lock]", async () => {
  await using temp = await makeTempFolder();
  await writeCallers(temp.path);
  const configuration = { returnImmediately: true };
  const ask = { ...hang, messageId: "m2", parts: [{ text: "ask: Which colour?" }] };
  let ids: string[];
  {
    await using serve = startServe(temp.path);
    const address = await serve.address;
    const running = await taskOf(address, "SendMessage", { message: hang, configuration });
    const asked = await taskOf(address, "SendMessage", { message: ask });
    ids = [running.id, asked.id];
    serve.kill("SIGKILL");
    strictEqual((await serve.ended).signal, "SIGKILL");
  }
  await using serve = startServe(temp.path);
  const address = await serve.address;
  strictEqual((await settledAt(address, ids[0]!)).status.message?.parts[0]?.text, "server restarted");
  strictEqual((await taskOf(address, "GetTask", { id: ids[1] })).status.state, "TASK_STATE_INPUT_REQUIRED");
});

Deno.test("serve: a second host of a folder ends with 2 and names the pid of the first [SM7 start-lock, §4 host.lock]", async () => {
  await using temp = await makeTempFolder();
  await using first = startServe(temp.path);
  await first.address;
  await using second = startServe(temp.path);
  const { code, error } = await second.ended;
  strictEqual(code, 2);
  strictEqual(error, `Cannot open ${temp.path}: another host serves it, pid ${first.pid}; stop that one first\n`);
});

const refusals: readonly {
  readonly id: string;
  readonly name: string;
  readonly args: (folder: string) => readonly string[];
  readonly env?: Record<string, string>;
  readonly says: RegExp;
}[] = [
  {
    id: "§3 serve-engine",
    name: "no engine",
    args: (dir) => ["serve", "--workspace", dir],
    says: /without an engine.*--faux/,
  },
  {
    id: "§3 serve-engine",
    name: "an engine that is not there yet",
    args: (dir) => ["serve", "--workspace", dir],
    env: { A2A__Engine: "acp" },
    says: /the engine acp: it is not in this build yet/,
  },
  {
    id: "§3 serve-engine",
    name: "the engine llm without a model",
    args: (dir) => ["serve", "--engine", "llm", "--workspace", dir],
    says: /the engine llm without a model: add --model/,
  },
  {
    id: "§8 llm-model",
    name: "a model of a server that is not named",
    args: (dir) => ["serve", "--workspace", dir],
    env: { A2A__Model: "openai-compatible:llama3.2:3b" },
    says: /openai-compatible:llama3\.2:3b without its server: add --model-base-url/,
  },
  {
    id: "§8 llm-model",
    name: "a model of no provider",
    args: (dir) => ["serve", "--workspace", dir, "--model", "gpt-5"],
    says: /Cannot read --model "gpt-5": expected a model like anthropic:/,
  },
  {
    id: "§3 serve-engine",
    name: "two engines",
    args: (dir) => ["--faux", "--engine", "acp", "--workspace", dir],
    says: /--faux and the engine acp at once/,
  },
  {
    id: "§3 workspace-names",
    name: "two workspaces of one name",
    args: (dir) => ["--faux", "--workspace", `a=${dir}/x`, "--workspace", `a=${dir}/y`],
    says: /two workspaces called "a"/,
  },
  {
    id: "§3 workspace-names",
    name: "a name that does not fit",
    args: (dir) => ["--faux", "--workspace", `A B=${dir}`],
    says: /name a workspace "A B"/,
  },
  { id: "§3 serve-start", name: "no workspace", args: () => ["serve", "--faux"], says: /--workspace/ },
  {
    id: "§3 serve-start",
    name: "an address of another machine",
    args: (dir) => ["--faux", "--workspace", dir, "--listen", "192.0.2.1:5099"],
    says: /Cannot listen on 192\.0\.2\.1:5099: this machine has no such address/,
  },
];

for (const { id, name, args, env, says } of refusals) {
  Deno.test(`serve ends with 2 for ${name} [${id}]`, async () => {
    await using temp = await makeTempFolder();
    await using serve = startProgram(args(temp.path), env);
    const { code, out, error } = await serve.ended;
    deepStrictEqual([code, out], [2, ""]);
    ok(says.test(error), error);
  });
}

/** Resolves when a process has the folder: it has put its pid there. */
async function readyOf(pid: number, folder: string): Promise<void> {
  await polled(async () => {
    const text = await Deno.readTextFile(workspacePaths(folder).hostFile).catch(() => "{}");
    return JSON.parse(text || "{}").pid === pid ? true : undefined;
  });
}

async function drainingAt(address: string): Promise<void> {
  await polled(async () =>
    (await (await fetch(`${address}/readyz`)).json()).notReady.includes("the host is ending") || undefined
  );
}

async function settledAt(address: string, id: string): Promise<TaskJson> {
  return await polled(async () => {
    const task = await taskOf(address, "GetTask", { id });
    return task.status.state === "TASK_STATE_WORKING" ? undefined : task;
  });
}

/** Another process cannot be waited for otherwise. */
async function polled<T>(look: () => Promise<T | undefined>): Promise<T> {
  while (true) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function streamAt(address: string) {
  const params = { message: { ...hang, messageId: "m3" } };
  const request = await rebased(address, wireRequest("JSONRPC", { method: "SendStreamingMessage", params }, { key }));
  const reader = (await fetch(request.url, request)).body!.getReader();
  return {
    async next() {
      const { done, value } = await reader.read();
      return { done, value: value && new TextDecoder().decode(value) };
    },
    [Symbol.asyncDispose]: () => reader.cancel(),
  };
}

Deno.test("serve: a CaFile that is no use ends it with 2 and one line, before anything begins [§13 ca-file]", async () => {
  await using temp = await makeTempFolder();
  const path = `${temp.path}/ca.pem`;
  await using serve = startServe(`${temp.path}/notes`, "--ca-file", path);
  const { code, out, error } = await serve.ended;
  deepStrictEqual([code, out, error], [2, "", `Cannot read ${path} of CaFile: there is no such file\n`]);
});
