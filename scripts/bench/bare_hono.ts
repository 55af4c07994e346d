import { Hono } from "hono";
import { streamSSE } from "hono/streaming";

/**
 * What the HTTP bench compares with: the answers of our server, made by routes that do nothing else than read the request as
 * JSON and answer JSON. Its argument is the file with the answers.
 */
const { task, page } = JSON.parse(await Deno.readTextFile(Deno.args[0]!));
const app = new Hono();

app.post("/a2a", async (c) => {
  const { id, method, params } = await c.req.json();
  if (method === "SendStreamingMessage") return streamSSE(c, (stream) => writeChunks(stream, params));
  const result = method === "ListTasks" ? page : method === "SendMessage" ? { task } : task;
  return c.json({ jsonrpc: "2.0", id, result });
});
app.get("/a2a/v1/tasks/:id", (c) => c.req.param("id") === task.id ? c.json(task) : c.notFound());
app.get("/a2a/v1/tasks", (c) => c.json({ ...page, pageSize: Number(c.req.query("pageSize")) }));
app.post("/a2a/v1/message:send", async (c) => c.json({ task, asked: (await c.req.json()).message.messageId }));
app.post("/a2a/v1/message:stream", async (c) => {
  const params = await c.req.json();
  return streamSSE(c, (stream) => writeChunks(stream, params));
});

async function writeChunks(
  stream: { writeSSE(message: { data: string }): Promise<void> },
  params: { readonly message: { readonly parts: readonly [{ readonly text: string }] } },
): Promise<void> {
  const [, chunks, bytes] = /(\d+) x (\d+)/.exec(params.message.parts[0].text)!;
  const { id: taskId, contextId } = task;
  for (let number = 1; number <= Number(chunks); number++) {
    const parts = [{ text: String(number).padEnd(Number(bytes)) }];
    const artifact = { artifactId: "response", name: "response", parts };
    const artifactUpdate = { taskId, contextId, artifact, append: number > 1, lastChunk: number === Number(chunks) };
    await stream.writeSSE({ data: JSON.stringify({ artifactUpdate }) });
  }
  await stream.writeSSE({ data: JSON.stringify({ statusUpdate: { taskId, contextId, status: task.status } }) });
}

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`),
}, app.fetch);
