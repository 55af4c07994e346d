// The SDK's request handler on express, under Node, as the HTTP bench compares with it: an executor that answers at once, tasks
// in memory alone. Its argument is the folder that npm installed into.
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";

const require = createRequire(join(process.argv[2], "package.json"));
const express = require("express");
const { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } = require("@a2a-js/sdk/server");
const { jsonRpcHandler, restHandler } = require("@a2a-js/sdk/server/express");
const { AgentCard, TaskState } = require("@a2a-js/sdk");

const { TASK_STATE_COMPLETED, TASK_STATE_WORKING } = TaskState;
const statusOf = (state) => ({ state, message: undefined, timestamp: new Date().toISOString() });

class Executor {
  // deno-lint-ignore require-await -- the interface of the SDK
  async execute({ taskId, contextId, userMessage }, bus) {
    const ids = { taskId, contextId, metadata: undefined };
    const status = statusOf(TASK_STATE_WORKING);
    bus.publish(
      AgentEvent.task({ id: taskId, contextId, status, artifacts: [], history: [userMessage], metadata: undefined }),
    );
    const text = userMessage.parts[0].content.value;
    const [, chunks, bytes] = /^stream: (\d+) x (\d+)$/.exec(text) ?? [];
    for (let number = 1; number <= Number(chunks ?? 1); number++) {
      const value = chunks === undefined ? text : String(number).padEnd(Number(bytes));
      const part = { content: { $case: "text", value }, mediaType: "", filename: "", metadata: undefined };
      const artifact = { artifactId: "response", name: "response", description: "", parts: [part], extensions: [] };
      bus.publish(AgentEvent.artifactUpdate({ ...ids, artifact, append: number > 1, lastChunk: false }));
    }
    bus.publish(AgentEvent.statusUpdate({ ...ids, status: statusOf(TASK_STATE_COMPLETED) }));
    bus.finished();
  }

  async cancelTask() {}
}

const interfaceOf = (protocolBinding) => ({ url: "http://127.0.0.1/", protocolBinding, protocolVersion: "1.0" });
const card = AgentCard.fromJSON({
  name: "Bench",
  description: "Answers at once.",
  version: "1",
  supportedInterfaces: [interfaceOf("JSONRPC"), interfaceOf("HTTP+JSON")],
  capabilities: { streaming: true },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [],
});
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Executor());
// deno-lint-ignore require-await -- the interface of the SDK
const userBuilder = async (request) => ({ isAuthenticated: true, userName: request.header("X-API-Key") ?? "" });

const app = express();
app.use("/a2a/v1", restHandler({ requestHandler, userBuilder }));
app.use("/a2a", jsonRpcHandler({ requestHandler, userBuilder }));
const server = app.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
