import { deepStrictEqual, ok } from "node:assert/strict";
import { filesBelow } from "@tests/fakes/download_setting.ts";
import { takeLog } from "@tests/fakes/log_lines.ts";
import { startPushPeer } from "@tests/fakes/push_peer.ts";
import { bothCallers, textMessage } from "@tests/fakes/test_peer.ts";
import { bindings } from "@tests/fakes/wire_request.ts";
import type { TaskJson } from "@/protocol/task.ts";

/** Where a webhook may lead says something, too: who set it may read it, and nobody else. */
const url = "https://hooks.example.com/SECRET-path";
const secrets = {
  token: "SECRET-token",
  authentication: { scheme: "Bearer", credentials: "SECRET-credentials" },
};

Deno.test("no answer, stream, transcript, audit line or log line holds a webhook's token or credentials [§5.7 secrets-unseen, case 32]", async () => {
  using log = takeLog("trace");
  await using made = await startPushPeer();
  made.outbound.answer(url, { fail: "CONNECT_FAILED" }, { status: 500, body: "SECRET-answer" }, { status: 200 });
  const answers: string[] = [];
  for (const binding of bindings) {
    const ask = async (method: Parameters<typeof made.open>[0], params: unknown) => {
      const answer = await made.open(method, params, { binding });
      answers.push(`${[...answer.headers]} ${await answer.text()}`);
      return JSON.parse(answers.at(-1)!.replace(/^[^{]*/, "").split("\n")[0]!);
    };
    const configuration = { taskPushNotificationConfig: { id: "p", url, ...secrets } };
    const sent = await ask("SendMessage", { ...textMessage("show prompt"), configuration });
    const { id: taskId } = ("result" in sent ? sent.result.task : sent.task) as TaskJson;
    await ask("SendStreamingMessage", { ...textMessage("recall"), configuration });
    await ask("CreateTaskPushNotificationConfig", { taskId, id: "q", url, ...secrets });
    await ask("CreateTaskPushNotificationConfig", { taskId, url, token: "SECRET\r\ntoken" });
    await ask("CreateTaskPushNotificationConfig", { taskId, url: "http://SECRET@10.0.0.1/", ...secrets });
    await ask("GetTaskPushNotificationConfig", { taskId, id: "q" });
    await ask("ListTaskPushNotificationConfigs", { taskId });
    await ask("GetTask", { id: taskId });
    await ask("ListTasks", { includeArtifacts: true });
    await ask("DeleteTaskPushNotificationConfig", { taskId, id: "none" });
  }
  await made.clock.advance(60_000);
  ok(made.outbound.requests.some(({ headers }) => headers!.Authorization === "Bearer SECRET-credentials"));
  await made.writeCallers(bothCallers.slice(1));
  await made.clock.advance(2_000);

  const shown = answers.map((answer) => answer.replaceAll(JSON.stringify(url), "URL"));
  deepStrictEqual(shown.filter((answer) => answer.includes("SECRET")), []);
  deepStrictEqual(log.lines.filter((line) => line.includes("SECRET")), []);
  ok(log.lines.some((line) => line.includes("CONNECT_FAILED")), "what failed is in the log");
  const audit = JSON.stringify(await made.audit());
  ok(audit.includes('"op":"push"') && !audit.includes("SECRET"), audit);
  const files = Object.entries(await filesBelow(made.paths.root));
  const holding = files.filter(([, text]) => text.includes("SECRET")).map(([path]) => path);
  deepStrictEqual(holding.filter((path) => !path.startsWith(".volcanic/a2a/tasks/")), []);
  ok(holding.length > 0, "the search finds where they are stored");
});
