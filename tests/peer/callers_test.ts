import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { createScriptedOutbound } from "@tests/fakes/scripted_outbound.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { bothCallers, peerKeys, startPeer, type TestPeer, textMessage } from "@tests/fakes/test_peer.ts";
import { readReply } from "@tests/fakes/wire_reply.ts";
import { bindings, wireRequest } from "@tests/fakes/wire_request.ts";
import { watchStream } from "@tests/fakes/wire_stream.ts";
import type { TaskJson } from "@/protocol/task.ts";
import { systemRandom } from "@/random.ts";
import { RecordFiles } from "@/server/tasks/record_files.ts";
import { visitTasks } from "@/server/tasks/task_reader.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";

const [alice, bob] = bothCallers;

/** As it is stored: a caller that is gone cannot ask. */
async function stateOf({ paths: { tasks: folder }, disk, clock }: TestPeer, id: string): Promise<string | undefined> {
  await clock.settle();
  let state: string | undefined;
  await visitTasks({ disk, folder, files: new RecordFiles({ disk, random: systemRandom, folder }) }, ({ task }) => {
    if (task.id === id) state = task.status.state;
  });
  return state;
}

Deno.test("a caller that is removed is expelled within 2 s: its runs are cancelled, its streams show that and end [§5.2 expelled, SM1 T15]", async () => {
  await using made = await startPeer();
  const running = watchStream(await made.open("SendStreamingMessage", textMessage("hang")));
  const { id } = await made.send("ask: Which colour?");
  await made.clock.settle();
  const waiting = watchStream(await made.open("SubscribeToTask", { id }));
  const others = await made.send("hang", { key: peerKeys.bob });
  await made.clock.settle();
  await made.writeCallers([bob]);
  await made.clock.advance(2_000);
  await Promise.all([running.reading, waiting.reading]);
  deepStrictEqual(running.seen, ["task working", "canceled"]);
  deepStrictEqual(waiting.seen, ["task input-required", "canceled"]);
  strictEqual(await stateOf(made, id), "TASK_STATE_CANCELED");
  strictEqual(await stateOf(made, others.id), "TASK_STATE_WORKING");
  const reply = await made.call("GetTask", { id });
  ok(reply.kind === "error");
  strictEqual(reply.reason, "UNAUTHENTICATED");
});

for (const binding of bindings) {
  Deno.test(`a removed caller's own next request expels it at once, over ${binding} [§5.2 expelled]`, async () => {
    await using made = await startPeer();
    const { id } = await made.send("hang");
    await made.writeCallers([bob]);
    strictEqual((await made.call("GetTask", { id }, { binding })).kind, "error");
    strictEqual(await stateOf(made, id), "TASK_STATE_CANCELED");
  });
}

const harmless = [
  { name: "is missing", file: undefined },
  { name: "is half saved", file: '[{"name": "ali' },
  { name: "is empty", file: "" },
  { name: "has a bad entry for it", file: [{ ...alice, expires: "soon" }, bob] },
];

for (const { name, file } of harmless) {
  Deno.test(`nothing of a caller ends when callers.json ${name}, and its requests are refused meanwhile [§5.2 expelled, SM1 race half-saved-callers]`, async () => {
    await using made = await startPeer();
    const stream = watchStream(await made.open("SendStreamingMessage", textMessage("wait: 1m\ndone")));
    if (file === undefined) await Deno.remove(made.paths.callersFile);
    else await made.writeCallers(file);
    await made.clock.advance(30_000);
    const reply = await made.call("ListTasks");
    ok(reply.kind === "error" && reply.reason === "UNAUTHENTICATED");
    await made.writeCallers(bothCallers);
    await made.clock.advance(30_000);
    await stream.reading;
    deepStrictEqual(stream.seen.filter((seen) => seen !== "comment"), [
      "task working",
      "response =done",
      "response +.",
      "completed",
    ]);
  });
}

Deno.test("a caller whose time is over gets no new work and its streams end with an error; its runs go on [§5.2 expired, §5.2 expired-while-running]", async () => {
  await using made = await startPeer();
  await made.writeCallers([{ ...alice, expires: "2026-10-08T12:00:30Z" }, bob]);
  const stream = watchStream(await made.open("SendStreamingMessage", textMessage("wait: 1m\ndone")));
  const { id } = await made.send("wait: 2m\ndone");
  await made.clock.advance(32_000);
  await stream.reading;
  strictEqual(stream.seen.length > 1 && stream.seen.at(-1)?.includes("UNAUTHENTICATED"), true, stream.seen.join());
  strictEqual((await made.call("SendMessage", textMessage("more"))).kind, "error");
  await made.clock.advance(120_000);
  strictEqual(await stateOf(made, id), "TASK_STATE_COMPLETED");
});

Deno.test("a caller that is removed while its body comes begins nothing [§5.2 expelled-in-flight]", async () => {
  await using made = await startPeer();
  const body = new TransformStream<Uint8Array, Uint8Array>();
  const writer = body.writable.getWriter();
  const params = textMessage("hang");
  const text = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params });
  const usual = wireRequest("JSONRPC", { method: "SendMessage", params }, { key: peerKeys.alice });
  const answering = made.peer.fetch(
    new Request(usual.url, { method: "POST", headers: usual.headers, body: body.readable }),
  );
  await made.clock.settle();
  await made.writeCallers([bob]);
  await made.clock.advance(2_000);
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
  const reply = await readReply(await answering);
  ok(reply.kind === "error" && reply.reason === "UNAUTHENTICATED");
  deepStrictEqual(made.shown, []);
});

Deno.test("a caller that comes back after it was removed starts anew [§5.2 expelled]", async () => {
  await using made = await startPeer();
  const { id } = await made.send("hang", { contextId: "c" });
  await made.writeCallers([bob]);
  await made.clock.advance(2_000);
  await made.writeCallers(bothCallers);
  await made.clock.advance(5_000); // the session that hangs is killed
  strictEqual((await made.task(id)).status.state, "TASK_STATE_CANCELED");
  const next = await made.send("hello", { contextId: "c" });
  await made.clock.settle();
  strictEqual((await made.task(next.id)).status.state, "TASK_STATE_COMPLETED");
  await made.clock.advance(10_000);
  strictEqual((await made.task(next.id)).status.state, "TASK_STATE_COMPLETED");
});

Deno.test("a caller that was removed while no host looked is expelled at the next start, with its webhooks [§5.2 expelled, SM6 gone]", async () => {
  await using folder = await makeTempFolder();
  const clock = createTestClock();
  const outbound = createScriptedOutbound(clock);
  const tokens = async () => {
    const files = workspacePaths(folder.path).tasks;
    const texts = [...Deno.readDirSync(files)].filter(({ isFile }) => isFile).map(({ name }) =>
      Deno.readTextFileSync(`${files}/${name}`)
    );
    return await Promise.resolve(texts.filter((text) => text.includes("SECRET")).length);
  };
  const push = { configuration: { taskPushNotificationConfig: { url: "https://hooks.example/", token: "SECRET" } } };
  let id: string;
  {
    await using first = await startPeer({ folder: folder.path, clock, outbound });
    await first.writeCallers(bothCallers);
    const reply = await first.call("SendMessage", { ...textMessage("ask: Which?"), ...push });
    ok(reply.kind === "result");
    id = (reply.result as { task: TaskJson }).task.id;
    await first.send("ask: Which?", { key: peerKeys.bob });
  }
  strictEqual(await tokens(), 1);
  {
    await Deno.writeTextFile(workspacePaths(folder.path).callersFile, JSON.stringify([bob]));
    await using next = await startPeer({ folder: folder.path, clock, outbound });
    await clock.advance(5_000);
    strictEqual(await stateOf(next, id), "TASK_STATE_CANCELED");
    const list = await next.call("ListTasks", { status: "TASK_STATE_INPUT_REQUIRED" }, { key: peerKeys.bob });
    ok(list.kind === "result");
    strictEqual((list.result as { totalSize: number }).totalSize, 1);
  }
  strictEqual(await tokens(), 0);
});
