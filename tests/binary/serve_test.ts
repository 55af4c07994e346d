import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { isSkipped as ignore, type Machine, makeMachine, type Started } from "@tests/binary/executable.ts";

/** The executable as the host of a machine's workspace, ready for requests. */
interface Served {
  readonly started: Started;
  /** What it said when it was ready. */
  readonly said: string;
  /** `http://127.0.0.1:<port>` */
  readonly address: string;
}

async function serve(machine: Machine, ...args: readonly string[]): Promise<Served> {
  const listen = ["--faux", "--listen", "127.0.0.1:0"];
  const started = machine.start(["serve", ...listen, ...args, "--workspace", machine.workspace]);
  const said = await started.readUntil(/ serves on http:\S+\n[^]*\npushes .*\n/);
  return { started, said, address: / serves on (http:\S+)\n/.exec(said)![1]! };
}

async function addCaller(machine: Machine): Promise<string> {
  const { code, out, error } = await machine.run(["callers", "add", "bot", "--workspace", machine.workspace]);
  strictEqual(code, 0, error);
  return out.trimEnd();
}

function post(url: string, body: unknown, key?: string): Promise<Response> {
  const headers = { "Content-Type": "application/json", ...(key === undefined ? {} : { "X-API-Key": key }) };
  return fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
}

function message(text: string) {
  return { message: { role: "ROLE_USER", messageId: crypto.randomUUID(), parts: [{ text }] } };
}

function call(method: string, params: unknown) {
  return { jsonrpc: "2.0", id: "1", method, params };
}

/** A task of an answer, without what differs from one to the next. */
function summary({ status, artifacts }: { status: { state: string }; artifacts: readonly { parts: unknown }[] }) {
  return { state: status.state, parts: artifacts.map(({ parts }) => parts) };
}

Deno.test({
  name: "the executable serves a fresh folder, says what to do next, and the key it gives is let in at once " +
    "[§3 serve-first-run, §4 edits-hold-at-once]",
  ignore,
  async fn() {
    await using machine = await makeMachine();
    const { started, address } = await serve(machine);
    await using _started = started;
    const said = await started.readUntil(/\n {2}curl -s .*\n/);
    const [, words] = /\n {2}volcanic-a2a (callers add .*)\n/.exec(said)!;

    const card = await fetch(`${address}/.well-known/agent-card.json`);
    strictEqual(card.status, 200);
    strictEqual((await card.json()).supportedInterfaces[0].url, `${address}/a2a`);
    for (const path of ["/healthz", "/readyz"]) {
      const response = await fetch(`${address}${path}`);
      await response.body?.cancel();
      strictEqual(response.status, 200, path);
    }
    const stranger = await post(`${address}/a2a`, call("SendMessage", message("hi")));
    strictEqual(stranger.status, 401);
    strictEqual((await stranger.json()).error.message, "A valid key is required");

    const added = await machine.run(words!.split(" "));
    strictEqual(added.code, 0, added.error);
    const friend = await post(`${address}/a2a`, call("SendMessage", message("hi")), added.out.trimEnd());
    strictEqual(friend.status, 200);
    deepStrictEqual(summary((await friend.json()).result.task), {
      state: "TASK_STATE_COMPLETED",
      parts: [[{ text: "hi" }]],
    });

    started.kill("SIGTERM");
    const { code, signal } = await started.ended;
    deepStrictEqual({ code, signal }, { code: 0, signal: null });
  },
});

Deno.test({
  name: "the executable answers alike on both bindings, keeps tasks over a restart, and streams [§5.1 equal-bindings]",
  ignore,
  async fn() {
    await using machine = await makeMachine();
    const key = await addCaller(machine);
    let taskId: string;
    {
      const { started, address } = await serve(machine);
      await using _started = started;
      const rpc = (await (await post(`${address}/a2a`, call("SendMessage", message("hello")), key)).json()).result.task;
      const rest = (await (await post(`${address}/a2a/v1/message:send`, message("hello"), key)).json()).task;
      deepStrictEqual(summary(rpc), summary(rest));
      taskId = rest.id;
      const stream = await post(`${address}/a2a/v1/message:stream`, message("stream: 3 x 8"), key);
      const events = (await stream.text()).split("\n").filter((line) => line.startsWith("data: "))
        .map((line) => JSON.parse(line.slice(6)));
      deepStrictEqual(Object.keys(events[0]), ["task"]);
      const texts = events.flatMap(({ artifactUpdate }) => artifactUpdate?.artifact.parts[0].text ?? []);
      strictEqual(texts.join(""), "1abcdef 2abcdef 3abcdef ");
      strictEqual(events.at(-1).statusUpdate.status.state, "TASK_STATE_COMPLETED");
      started.kill("SIGTERM");
      strictEqual((await started.ended).code, 0);
    }
    const { started, address } = await serve(machine);
    await using _started = started;
    const got = (await (await post(`${address}/a2a`, call("GetTask", { id: taskId }), key)).json()).result;
    deepStrictEqual(summary(got), { state: "TASK_STATE_COMPLETED", parts: [[{ text: "hello" }]] });
  },
});

Deno.test({
  name: "a serving executable that is killed says at its next start what became of its task [SM7 recover, SM8 2]",
  ignore,
  async fn() {
    await using machine = await makeMachine();
    const key = await addCaller(machine);
    let taskId: string;
    {
      const { started, address } = await serve(machine);
      await using _started = started;
      const request = { ...message("wait: 10m"), configuration: { returnImmediately: true } };
      taskId = (await (await post(`${address}/a2a/v1/message:send`, request, key)).json()).task.id;
      started.kill("SIGKILL");
      strictEqual((await started.ended).signal, "SIGKILL");
    }
    const { started, address } = await serve(machine);
    await using _started = started;
    const { result } = await (await post(`${address}/a2a`, call("GetTask", { id: taskId }), key)).json();
    // A run that had not begun is queued again, one that had is failed: the kill may come before or after.
    const said = result.status.message?.parts[0].text;
    const isQueuedAgain = ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"].includes(result.status.state);
    ok(isQueuedAgain || (result.status.state === "TASK_STATE_FAILED" && said === "server restarted"), said);
  },
});

Deno.test({
  name:
    "a signal ends the executable though a stream is open, which gets a last comment and ends [SM7 drain, SM7 stop]",
  ignore,
  async fn() {
    await using machine = await makeMachine();
    const key = await addCaller(machine);
    const { started, address } = await serve(machine, "--drain-timeout", "0");
    await using _started = started;
    const stream = await post(`${address}/a2a/v1/message:stream`, message("stream: 1\nwait: 10m"), key);
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
    let said = "";
    while (!said.includes("artifactUpdate")) said += (await reader.read()).value;
    started.kill("SIGTERM");
    for (let read = await reader.read(); !read.done; read = await reader.read()) said += read.value;
    ok(said.endsWith(": the server is shutting down\n\n"), said);
    strictEqual((await started.ended).code, 0);
  },
});

Deno.test({
  name:
    "a second signal ends the executable at once with 130; the work is failed at the next start [SM7 second-signal]",
  ignore,
  async fn() {
    await using machine = await makeMachine();
    const key = await addCaller(machine);
    const { started, address } = await serve(machine, "--drain-timeout", "10m");
    await using _started = started;
    const request = { ...message("wait: 10m"), configuration: { returnImmediately: true } };
    strictEqual((await (await post(`${address}/a2a/v1/message:send`, request, key)).json()).task.contextId.length, 36);
    started.kill("SIGTERM");
    while (await fetch(`${address}/readyz`).then(async (ready) => (await ready.body?.cancel(), ready.ok), () => false));
    started.kill("SIGTERM");
    strictEqual((await started.ended).code, 130);
  },
});

Deno.test({
  name: "the executable ends with 2 and one line when it cannot serve [§3 exit-codes, §4 host.lock]",
  ignore,
  async fn() {
    await using machine = await makeMachine();
    const { started } = await serve(machine);
    await using _started = started;
    const workspace = ["--workspace", machine.workspace];
    const listen = ["--listen", "127.0.0.1:0"];
    const refused = [
      await machine.run(["serve", ...listen, ...workspace]),
      await machine.run(["serve", "--faux", ...listen, "--workspace", "/dev/null"]),
      await machine.run(["serve", "--faux", ...listen, ...workspace]),
    ];
    for (const { code, out, error } of refused) {
      deepStrictEqual({ code, out }, { code: 2, out: "" }, error);
      ok(/^Cannot [^\n]+\n$/.test(error), error);
    }
    ok(refused[2]!.error.includes(`pid ${started.pid}`), refused[2]!.error);
  },
});
