import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { modelKey } from "@tests/fakes/llm_setting.ts";
import { type ModelServer, startModelServer } from "@tests/fakes/model_server.ts";
import { type ServeProcess, startProgram } from "@tests/fakes/serve_process.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import type { TaskJson } from "@/protocol/task.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";

const callerKey = "k_of_the_test_0123456789";

/** A workspace with one caller. */
async function makeWorkspace() {
  const temp = await makeTempFolder();
  const { a2a, callersFile } = workspacePaths(temp.path);
  await Deno.mkdir(a2a, { recursive: true });
  await Deno.writeTextFile(callersFile, JSON.stringify([{ name: "bot", key: callerKey }]));
  return temp;
}

function serveOn(
  server: ModelServer,
  { folder, model, env }: { folder: string; model: string; env?: Readonly<Record<string, string>> },
): ServeProcess {
  const where = ["--workspace", folder, "--listen", "127.0.0.1:0"];
  return startProgram(["serve", ...where, "--model", model, "--model-base-url", `${server.address}/v1`], env);
}

async function ask(serve: ServeProcess, text: string, contextId?: string): Promise<TaskJson> {
  const message = { role: "ROLE_USER", messageId: crypto.randomUUID(), parts: [{ text }], contextId };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } });
  const headers = { "X-API-Key": callerKey, "Content-Type": "application/json" };
  const answer = await fetch(`${await serve.address}/a2a`, { method: "POST", headers, body });
  return (await answer.json()).result.task;
}

function responseOf({ status, artifacts }: TaskJson) {
  return [status.state, (status.message ?? artifacts?.[0])?.parts[0]?.text];
}

async function allText(folder: string): Promise<string> {
  let all = "";
  for await (const { name, isDirectory, isFile } of Deno.readDir(folder)) {
    if (isDirectory) all += await allText(`${folder}/${name}`);
    if (isFile) all += await Deno.readTextFile(`${folder}/${name}`);
  }
  return all;
}

Deno.test("serve on a model, killed in the middle of a run: the next start goes on with the conversation, and the key is nowhere [§8 llm-resume, §8 llm-key, §8 llm-peer]", async () => {
  await using temp = await makeWorkspace();
  await Deno.writeTextFile(`${temp.path}/AGENTS.md`, "Answer in verse.");
  await using server = startModelServer([
    { text: ["I tell them."], calls: [{ name: "notify_owner", input: { text: "someone calls" } }] },
    { text: ["Told"], instead: "hang" },
    { text: ["As I said."] },
    { status: 401, body: JSON.stringify({ error: { type: "authentication_error", message: `bad: ${modelKey}` } }) },
  ]);
  const how = { folder: temp.path, model: "anthropic:claude-test", env: { ANTHROPIC_API_KEY: modelKey } };
  const contextId = crypto.randomUUID();
  let said: string;
  {
    await using serve = serveOn(server, how);
    const cut = ask(serve, "tell your owner", contextId).catch(() => {});
    await Promise.race([server.came(2), cut, serve.ended]);
    serve.kill("SIGKILL");
    const { out, error } = await serve.ended;
    said = out + error;
    await cut;
  }
  await Deno.writeTextFile(`${temp.path}/AGENTS.md`, "Answer in prose.");
  await using serve = serveOn(server, how);
  deepStrictEqual(responseOf(await ask(serve, "and?", contextId)), ["TASK_STATE_COMPLETED", "As I said."]);
  const [first, , third] = server.requests;
  match(JSON.stringify(first!.body.system), /Answer in verse\./);
  match(JSON.stringify(third!.body.system), /Answer in prose\./);
  match(JSON.stringify(third!.body.messages), /tell your owner.*I tell them\..*The owner is told.*and\?/s);
  deepStrictEqual(responseOf(await ask(serve, "again", contextId)), [
    "TASK_STATE_FAILED",
    "The model's server refused the key (HTTP 401)",
  ]);
  strictEqual(server.requests[3]!.headers.get("x-api-key"), modelKey);
  serve.kill("SIGTERM");
  const { code, out, error } = await serve.ended;
  strictEqual(code, 0);
  said += out + error;
  match(said, /engine {5}llm, anthropic:claude-test/);
  match(error, /bad: \[key\]/);
  ok(!said.includes(modelKey), said);
  ok(!(await allText(temp.path)).includes(modelKey));
});

Deno.test("serve on a model without its key answers what to set [§8 llm-key]", async () => {
  await using temp = await makeWorkspace();
  await using server = startModelServer([]);
  await using serve = serveOn(server, {
    folder: temp.path,
    model: "google:gemini-test",
    env: { ANTHROPIC_API_KEY: "x" },
  });
  deepStrictEqual(responseOf(await ask(serve, "hi")), [
    "TASK_STATE_FAILED",
    "There is no key for the model google:gemini-test: set A2A__ModelKey or GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY",
  ]);
  strictEqual(server.requests.length, 0);
});

Deno.test("serve on a model takes its key from the service manager's credentials [§8 llm-key]", async () => {
  await using temp = await makeWorkspace();
  await using credentials = await makeTempFolder();
  await Deno.writeTextFile(`${credentials.path}/model-key`, `${modelKey}\n`);
  await using server = startModelServer([{ text: ["Hello."] }]);
  const env = { A2A__ModelKey: "file:model-key", CREDENTIALS_DIRECTORY: credentials.path };
  await using serve = serveOn(server, { folder: temp.path, model: "openai-compatible:m", env });
  deepStrictEqual(responseOf(await ask(serve, "hi")), ["TASK_STATE_COMPLETED", "Hello."]);
  strictEqual(server.requests[0]!.headers.get("authorization"), `Bearer ${modelKey}`);
});
