import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { type Lab, labTest } from "@tests/fakes/outbound_lab.ts";
import { web } from "@tests/fakes/outbound_web.ts";
import { startServe } from "@tests/fakes/serve_process.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { readReply } from "@tests/fakes/wire_reply.ts";
import { wireRequest } from "@tests/fakes/wire_request.ts";
import type { MessageJson, TaskJson } from "@/protocol/task.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";

const key = "k_of_the_test_0123456789";
const caFile = fileURLToPath(import.meta.resolve("@tests/outbound/certificates/ca.pem"));

/** The program as it is started, in the same namespace: real settings, real lookups, nothing opened but an authority. */
async function startInside() {
  const temp = await makeTempFolder();
  const { a2a, callersFile } = workspacePaths(temp.path);
  await Deno.mkdir(a2a, { recursive: true });
  await Deno.writeTextFile(callersFile, JSON.stringify([{ name: "bot", key }]));
  const serve = startServe(temp.path, "--ca-file", caFile);
  const address = await serve.address;
  async function send(message: Partial<MessageJson>, configuration: unknown = {}): Promise<TaskJson> {
    const params = { message: { role: "ROLE_USER", messageId: crypto.randomUUID(), ...message }, configuration };
    const request = wireRequest("JSONRPC", { method: "SendMessage", params }, { key });
    const reply = await readReply(
      await fetch(`${address}/a2a`, { method: "POST", headers: request.headers, body: await request.text() }),
    );
    ok(reply.kind === "result", JSON.stringify(reply));
    return (reply.result as { task: TaskJson }).task;
  }
  return {
    ...{ send, serve },
    async [Symbol.asyncDispose]() {
      await serve[Symbol.asyncDispose]();
      await temp[Symbol.asyncDispose]();
    },
  };
}

/** What came to the public address, by path; anything that came to another fails. */
async function cameOutside(lab: Lab): Promise<readonly string[]> {
  await lab.allSeen();
  deepStrictEqual(lab.connections.filter(({ address }) => address !== web.public), []);
  return lab.connections.map(({ request }) => `${request?.method} ${request?.path}`);
}

labTest(
  "serve pushes to a webhook while its name leads outside, and connects to nothing when it leads inside [§13 rebinding, case 31]",
  { needs: ["namespace"] },
  async (lab) => {
    await using program = await startInside();
    const webhook = { id: "w", url: lab.url("/204", { host: "rebind.test" }) };
    const task = await program.send({ parts: [{ text: "hi" }] }, { taskPushNotificationConfig: webhook });
    strictEqual(task.status.state, "TASK_STATE_COMPLETED");
    await lab.dns.asked("rebind.test", 2);
    strictEqual((await program.send({ parts: [{ text: "more" }] })).status.state, "TASK_STATE_COMPLETED");
    deepStrictEqual(await cameOutside(lab), ["POST /204"]);
    program.serve.kill("SIGTERM");
    const { out, error } = await program.serve.ended;
    match(out + error, /rebind\.test.*loopback/);
    deepStrictEqual(await cameOutside(lab), ["POST /204"]);
  },
);

labTest(
  "serve fetches a file while its name leads outside, and connects to nothing when it leads inside [§13 rebinding, case 25]",
  { needs: ["namespace"] },
  async (lab) => {
    await using program = await startInside();
    const parts = [{ url: lab.url("/length/5", { host: "flip.test" }), filename: "a.txt" }];
    const says: (string | undefined)[] = [];
    for (const state of ["TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_COMPLETED", "TASK_STATE_FAILED"]) {
      const task = await program.send({ parts });
      strictEqual(task.status.state, state, JSON.stringify(task.status));
      if (task.artifacts === undefined) says.push(task.status.message?.parts[0]?.text);
    }
    deepStrictEqual(says, Array(2).fill('Cannot fetch file "a.txt": it cannot be reached or is not allowed'));
    deepStrictEqual(await cameOutside(lab), ["GET /length/5", "GET /length/5"]);
  },
);

labTest(
  "serve sends nothing to names and addresses inside, as webhooks and as files [§13 rebinding, case 25, case 31]",
  { needs: ["namespace"] },
  async (lab) => {
    await using program = await startInside();
    const hosts = ["hosts.test", "loopback.test", "private.test", "metadata.test", "mapped.test", "cname.test"];
    for (const host of hosts) {
      const webhook = { id: "w", url: lab.url("/204", { host }) };
      const parts = [{ url: lab.url("/length/5", { host }) }];
      const task = await program.send({ parts }, { taskPushNotificationConfig: webhook });
      strictEqual(task.status.state, "TASK_STATE_FAILED");
      if (host !== "hosts.test") await lab.dns.asked(host, 2); // for the file, and for the webhook
    }
    program.serve.kill("SIGTERM");
    strictEqual((await program.serve.ended).code, 0);
    deepStrictEqual(await cameOutside(lab), []);
  },
);
