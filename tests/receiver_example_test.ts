import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { makeCallersWorkspace } from "@tests/fakes/callers_workspace.ts";
import { parseCallerName } from "@/protocol/ids.ts";
import { systemRandom } from "@/random.ts";
import { webhookHeaders, webhookId } from "@/server/push/webhook_signature.ts";
import { systemClock } from "@/time/clock.ts";
import { CallersFile } from "@/workspace/callers_file.ts";
import { createDisk } from "@/workspace/disk.ts";
import { WebhookKeys } from "@/workspace/webhook_keys.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";

const example = fileURLToPath(new URL("./docs/examples/receiver.ts", import.meta.resolve("@manifest")));
const taskId = "00000000-0000-4000-8000-000000000001";

/** The example of the documentation as a person runs it, with no rights but those that it names. */
async function startReceiver(secret: string) {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--allow-env=SECRET,PORT", "--allow-net=127.0.0.1", "--no-config", example],
    env: { SECRET: secret, PORT: "0", NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
  const child = command.spawn();
  const [out, error] = [readLines(child.stdout), readLines(child.stderr)];
  const [url] = /http:\S+/.exec(await error.next())!;
  return {
    ...{ url, line: out.next },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
      await Promise.all([out.cancel(), error.cancel()]);
    },
  };
}

/** What a process says, line by line. */
function readLines(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  return {
    cancel: () => reader.cancel(),
    async next(): Promise<string> {
      while (!rest.includes("\n")) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`It ended: ${rest}`);
        rest += value;
      }
      const end = rest.indexOf("\n");
      const line = rest.slice(0, end);
      rest = rest.slice(end + 1);
      return line;
    },
  };
}

/** The keys of a host that serves the workspace. */
function hostKeys(root: string): WebhookKeys {
  const { webhookSecret: path, editLock: lock, callersFile } = workspacePaths(root);
  const parts = { disk: createDisk(systemClock), clock: systemClock, random: systemRandom };
  return new WebhookKeys({ ...parts, path, lock, callers: new CallersFile({ ...parts, path: callersFile }) });
}

function bodyOf(seq: number) {
  const metadata = { "volcanic.seq": seq };
  return new TextEncoder().encode(JSON.stringify({ task: { id: taskId, status: { state: "Grüße" }, metadata } }));
}

Deno.test("the receiver of the documentation takes what we sign, once, and nothing that was changed, is old or is unsigned [§5.7 signature, SM6 webhook-id]", async () => {
  await using workspace = await makeCallersWorkspace('[{"name":"bot","key":"k_a"}]');
  const secret = (await workspace.callers("secret", "bot")).out.trimEnd();
  await using receiver = await startReceiver(secret);
  const keys = hostKeys(workspace.root);
  const send = async (headers: Record<string, string>, body: BodyInit) => {
    const answer = await fetch(receiver.url, { method: "POST", headers, body });
    await answer.body?.cancel();
    return answer.status;
  };
  const sign = async (seq: number, { agoMs = 0 } = {}) => {
    const id = webhookId({ taskId, configId: "a.b", seq });
    const push = { id, at: systemClock.now() - agoMs, body: bodyOf(seq) };
    return await webhookHeaders(push, (await keys.keysOf(parseCallerName("bot")))!);
  };
  const good = await sign(1);
  strictEqual(await send(good, bodyOf(1)), 204);
  strictEqual(await receiver.line(), `task ${taskId}, status 1: Grüße`);
  strictEqual(await send(good, bodyOf(1)), 204, "again");

  const { "webhook-signature": signature, ...unsigned } = good as Record<string, string> & typeof good;
  const refused: readonly (readonly [Record<string, string>, Uint8Array<ArrayBuffer>])[] = [
    [good, bodyOf(2)],
    [{ ...good, "webhook-id": webhookId({ taskId, configId: "a.b", seq: 2 }) }, bodyOf(1)],
    [{ ...good, "webhook-timestamp": String(Number(good["webhook-timestamp"]) + 1) }, bodyOf(1)],
    [{ ...good, "webhook-timestamp": "NaN" }, bodyOf(1)],
    [await sign(2, { agoMs: 301_000 }), bodyOf(2)],
    [unsigned, bodyOf(1)],
    [{ ...good, "webhook-signature": "" }, bodyOf(1)],
    [{ ...good, "webhook-signature": "v1,not base64 v1, v2" }, bodyOf(1)],
    [{ ...good, "webhook-signature": signature!.replace("v1,", "v2,") }, bodyOf(1)],
    [{ ...good, "webhook-signature": `v1,${"A".repeat(43)}=` }, bodyOf(1)],
  ];
  for (const [index, [headers, body]] of refused.entries()) strictEqual(await send(headers, body), 401, `${index}`);

  await workspace.callers("rotate", "bot", "--overlap", "1h");
  strictEqual((await sign(3))["webhook-signature"]!.split(" ").length, 2);
  strictEqual(await send(await sign(3), bodyOf(3)), 204, "the old secret still holds");
  strictEqual(await receiver.line(), `task ${taskId}, status 3: Grüße`); // and nothing of what was refused or repeated
  await workspace.callers("rotate", "bot");
  strictEqual(await send(await sign(4), bodyOf(4)), 401);
  const next = (await workspace.callers("secret", "bot")).out.trimEnd();
  await using anew = await startReceiver(next);
  const answer = await fetch(anew.url, { method: "POST", headers: await sign(4), body: bodyOf(4) });
  deepStrictEqual([answer.status, answer.body], [204, null]);
});
