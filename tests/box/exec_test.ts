import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import type { TaskJson } from "@/protocol/task.ts";
import { systemClock } from "@/time/clock.ts";
import { startProgram } from "@tests/fakes/serve_process.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { needsBox } from "./box_setting.ts";

/** The started program, with a command that answers. */
async function withExec(
  command: string,
  work: (
    send: (text: string, more?: object) => Promise<TaskJson>,
    post: (method: string, params: object) => Promise<unknown>,
  ) => Promise<void>,
): Promise<void> {
  await using temp = await makeTempFolder();
  await Deno.mkdir(`${temp.path}/.volcanic/a2a`, { recursive: true });
  await Deno.writeTextFile(`${temp.path}/.volcanic/a2a/callers.json`, '[{"name":"bot","key":"k_bot_key_123456"}]');
  await using serve = startProgram(
    ["serve", "--workspace", temp.path, "--listen", "127.0.0.1:0", "--exec-command", command],
    { ANTHROPIC_API_KEY: "sk-very-s3cret" },
  );
  const address = await serve.address;
  const headers = { "X-API-Key": "k_bot_key_123456", "Content-Type": "application/json", "A2A-Version": "1.0" };
  const post = async (method: string, params: object) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const answer = await (await fetch(`${address}/a2a`, { method: "POST", headers, body })).json();
    ok(answer.result, JSON.stringify(answer));
    return answer.result;
  };
  await work(async (text, more = {}) => {
    const message = { role: "ROLE_USER", messageId: crypto.randomUUID(), contextId: "talk", parts: [{ text }] };
    return ((await post("SendMessage", { message, ...more })) as { task: TaskJson }).task;
  }, post);
  serve.kill("SIGTERM");
  strictEqual((await serve.ended).code, 0);
}

Deno.test(
  "exec answers with what a command puts out, in a box, with the framed prompt on its input [§8 exec, §6 box-streams]",
  needsBox,
  async () => {
    await withExec(`bash -c 'cat; env; echo x >> /session/n; wc -l < /session/n; pwd'`, async (send) => {
      const task = await send("hello exec");
      const text = JSON.stringify(task.artifacts);
      strictEqual(task.status.state, "TASK_STATE_COMPLETED");
      match(text, /hello exec/);
      match(text, /untrusted|not the owner/i);
      match(text, /\\n1\\n\/workspace/);
      ok(!text.includes("s3cret"));
      match(JSON.stringify((await send("again")).artifacts), /\\n2\\n\/workspace/);
    });
  },
);

Deno.test(
  "exec fails when its command does, and a cancel kills the tree [§8 exec, §6 box-tree]",
  needsBox,
  async () => {
    await withExec(
      `bash -c 'read -r first; case "$(cat)" in *"wait now"*) setsid sleep 4713.1 & sleep 4713.1;; esac; echo oops >&2; exit 3'`,
      async (send, post) => {
        const failed = await send("fail");
        deepStrictEqual(failed.status.state, "TASK_STATE_FAILED");
        match(JSON.stringify(failed.status.message), /ended with exit code 3/);
        const { id } = await send("wait now", { configuration: { returnImmediately: true } });
        const running = async () =>
          (await new Deno.Command("pgrep", { args: ["-fx", "sleep 4713[.]1"] }).output()).success;
        while (!await running()) await systemClock.sleep(20);
        await post("CancelTask", { id });
        while (await running()) await systemClock.sleep(20);
      },
    );
  },
);
