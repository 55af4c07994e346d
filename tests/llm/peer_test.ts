import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { llmEngineOver, modelKey } from "@tests/fakes/llm_setting.ts";
import { takeLog } from "@tests/fakes/log_lines.ts";
import { type ModelServer, type ScriptedAnswer, startModelServer } from "@tests/fakes/model_server.ts";
import { scriptedPrograms } from "@tests/fakes/scripted_programs.ts";
import { startPeer, type TestPeer, textMessage } from "@tests/fakes/test_peer.ts";
import type { SessionPrograms } from "@/engine/programs.ts";
import type { TaskJson } from "@/protocol/task.ts";

/** A whole peer whose engine is on a model's server. */
function startLlmPeer(server: ModelServer, more: { programs?: SessionPrograms; after?: TestPeer } = {}) {
  return startPeer({
    flags: { model: "openai-compatible:test-model" },
    openEngine: (clock) => llmEngineOver(server, { clock, programs: more.programs }),
    after: more.after,
  });
}

/** Sends a text and waits for the end of its run. */
async function ask(peer: TestPeer, text: string, more: Readonly<Record<string, unknown>> = {}): Promise<TaskJson> {
  const reply = await peer.call("SendMessage", textMessage(text, more));
  ok(reply.kind === "result", JSON.stringify(reply));
  return (reply.result as { task: TaskJson }).task;
}

function textOf({ artifacts }: TaskJson): string | undefined {
  return artifacts?.find(({ name }) => name === "response")?.parts[0]?.text;
}

/** All that is in a folder, as text. */
async function allText(folder: string): Promise<string> {
  let all = "";
  for await (const { name, isDirectory, isFile } of Deno.readDir(folder)) {
    if (isDirectory) all += await allText(`${folder}/${name}`);
    if (isFile) all += await Deno.readTextFile(`${folder}/${name}`);
  }
  return all;
}

Deno.test("a peer on a model asks its caller, takes the answer, sends a file, and keeps its key to itself [§8 llm-peer, §8 llm-key]", async () => {
  await using server = startModelServer([
    {
      calls: [{ name: "request_input", input: { question: "Which table?" } }],
      usage: { inputTokens: 10, outputTokens: 5 },
    },
    {
      text: ["One moment."],
      calls: [{ name: "send", input: { path: "menu.txt" } }],
      usage: { inputTokens: 20, outputTokens: 7 },
    },
    { text: ["Table two; ", "the menu is with you."], usage: { inputTokens: 30, outputTokens: 9 } },
    { status: 401, body: JSON.stringify({ error: { message: `bad key ${modelKey}` } }) },
  ]);
  using log = takeLog("debug");
  await using peer = await startLlmPeer(server);
  await Deno.writeTextFile(`${peer.paths.root}/menu.txt`, "soup");
  const asked = await ask(peer, "book a table");
  deepStrictEqual([asked.status.state, asked.status.message?.parts[0]?.text], [
    "TASK_STATE_INPUT_REQUIRED",
    "Which table?",
  ]);
  const done = await ask(peer, "by the window", { taskId: asked.id, contextId: asked.contextId });
  strictEqual(done.status.state, "TASK_STATE_COMPLETED");
  strictEqual(textOf(done), "Table two; the menu is with you.");
  const file = done.artifacts?.find(({ name }) => name === "menu.txt");
  strictEqual(atob(String(file?.parts[0]?.raw)), "soup");
  const failed = await ask(peer, "again", { contextId: asked.contextId });
  deepStrictEqual([failed.status.state, failed.status.message?.parts[0]?.text], [
    "TASK_STATE_FAILED",
    "The model's server refused the key (HTTP 401)",
  ]);
  const record = JSON.parse(await Deno.readTextFile(`${peer.paths.tasks}/${done.id}.json`).catch(() => "{}"));
  const said = JSON.stringify([asked, done, failed, log.lines, peer.shown, await peer.audit(), record]);
  ok(!said.includes(modelKey), said);
  ok(log.lines.some((line) => line.includes("bad key [key]")), "the reason is logged");
  const stored = await allText(peer.paths.root);
  ok(!stored.includes(modelKey));
  match(stored, /"usage":\{"inputTokens":50,"outputTokens":16\}/); // of the second run's end, in the transcript
  match(stored, /"usage":\{"inputTokens":60,"outputTokens":21\}/); // of both runs, in the record
  match(stored, /"engine":"llm","model":"openai-compatible:test-model"/); // as the settings name it
});

Deno.test("a peer on a model streams each message, the last one stands, and a cancel ends it [§8 llm-peer, §8 llm-abort]", async () => {
  await using server = startModelServer([
    { text: ["Let me see."], calls: [{ name: "notify_owner", input: { text: "they call" } }] },
    { text: ["I am", " still"], instead: "hang" },
  ]);
  await using peer = await startLlmPeer(server);
  const stream = await peer.open("SendStreamingMessage", textMessage("hello"));
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
  let seen = "";
  while (!seen.includes("still")) seen += (await reader.read()).value ?? "";
  match(seen, /Let me see\..*"append":false.*I am/s);
  const [, id] = /"taskId":"([^"]+)"/.exec(seen)!;
  const reply = await peer.call("CancelTask", { id });
  ok(reply.kind === "result");
  await server.requests[1]!.left;
  await reader.cancel();
  strictEqual((await peer.task(id!)).status.state, "TASK_STATE_CANCELED");
  match(await Deno.readTextFile(peer.paths.notifications), /they call/);
});

Deno.test("a peer on a model that crashed in the middle of a command tells the model so when the conversation goes on [§8 llm-resume]", async () => {
  const begun = Promise.withResolvers<void>();
  const programs = scriptedPrograms(() => {
    begun.resolve();
    return { end: "never" };
  });
  const answers: ScriptedAnswer[] = [
    { text: ["I build."], calls: [{ name: "bash", input: { command: "make all" } }] },
    { text: ["It may be half done."] },
  ];
  await using server = startModelServer((_, index) => answers[Math.min(index, 1)]!);
  await using peer = await startLlmPeer(server, { programs });
  const { id, contextId } = await peer.send("build it");
  await begun.promise;
  await peer.clock.settle();
  await using next = await startLlmPeer(server, { programs, after: peer });
  const failed = await next.task(id);
  deepStrictEqual([failed.status.state, failed.status.message?.parts[0]?.text], [
    "TASK_STATE_FAILED",
    "server restarted",
  ]);
  strictEqual(textOf(await ask(next, "how far are you?", { contextId })), "It may be half done.");
  const messages = JSON.stringify(server.requests.at(-1)!.body.messages);
  match(messages, /build it.*I build\..*make all.*No result: the run ended before.*how far are you\?/s);
});

Deno.test("a peer on a model lends it the files of the workspace, as its caller may see them [§8 llm-peer, §8 llm-files]", async () => {
  const secret = "k_alice_0123456789";
  await using server = startModelServer([
    {
      calls: [
        { name: "read", input: { path: "notes.md" } },
        { name: "read", input: { path: ".volcanic/a2a/callers.json" } },
        { name: "search", input: { pattern: "k_alice|butter" } },
        { name: "write", input: { path: "notes.md", content: "mine now" } },
        { name: "write", input: { path: "work/alice/list.md", content: "butter" } },
        { name: "send", input: { path: "work/alice/list.md" } },
      ],
    },
    { text: ["Here is the list."] },
  ]);
  await using peer = await startPeer({
    flags: { model: "anthropic:claude-test" },
    openEngine: (clock) => llmEngineOver(server, { clock, dialect: "anthropic" }),
  });
  await Deno.writeTextFile(`${peer.paths.root}/notes.md`, "buy butter\n");
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
  const parts = [{ text: "what is on it?" }, { raw: png.toBase64(), filename: "fridge.png", mediaType: "image/png" }];
  const done = await ask(peer, "", { parts });
  strictEqual(textOf(done), "Here is the list.");
  const list = done.artifacts?.find(({ name }) => name === "list.md");
  strictEqual(atob(String(list?.parts[0]?.raw)), "butter");
  strictEqual(await Deno.readTextFile(`${peer.paths.root}/notes.md`), "buy butter\n");
  const [first, second] = server.requests.map(({ body }) => JSON.stringify(body.messages));
  ok(first!.includes(png.toBase64()), "the image is shown");
  match(second!, /notes\.md, lines 1 to 1 of 1/);
  match(second!, /notes\.md:1: buy butter/);
  ok(!second!.includes(secret), second);
  ok(!(await allText(peer.paths.sessions)).includes(png.toBase64()), "its bytes are not in the transcript");
});
