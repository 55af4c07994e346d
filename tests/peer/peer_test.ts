import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { createFaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { startPeer, textMessage } from "@tests/fakes/test_peer.ts";
import { readReply } from "@tests/fakes/wire_reply.ts";
import { wireRequest } from "@tests/fakes/wire_request.ts";
import { openPeer, type PeerOptions } from "@/app.ts";
import { readConfig } from "@/config.ts";
import { createFauxEngine } from "@/engine/faux_engine.ts";
import type { TaskJson } from "@/protocol/task.ts";
import { systemRandom } from "@/random.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";

/** A peer over these workspaces, not started. */
async function open(workspaces: PeerOptions["workspaces"], pid = 1) {
  const clock = createTestClock();
  const disk = createFaultyDisk(createDisk(systemClock), clock);
  const read = readConfig({ flags: { "min-free-bytes": "0" } });
  ok(read.kind === "config");
  const openEngine = () => createFauxEngine({ clock });
  const options = { clock, disk, config: read.config, random: systemRandom, pid, workspaces, openEngine };
  return { clock, peer: await openPeer(options) };
}

const listTasks = (key: string) => wireRequest("JSONRPC", { method: "ListTasks" }, { key });

Deno.test("the key says which of several workspaces is called; a key of two callers is nobody's [§5.2 exactly-one-caller]", async () => {
  await using temp = await makeTempFolder();
  const folders = ["one", "two"].map((name) => ({ name, folder: `${temp.path}/${name}` }));
  for (const { name, folder } of folders) {
    const { a2a, callersFile } = workspacePaths(folder);
    await Deno.mkdir(a2a, { recursive: true });
    const callers = [{ name: "bot", key: `k-${name}` }, { name: "both", key: "k-both" }];
    await Deno.writeTextFile(callersFile, JSON.stringify(callers));
  }
  const { peer, clock } = await open(folders);
  ok(peer.kind === "peer");
  await peer.start();
  await clock.settle();
  deepStrictEqual(peer.workspaces.map(({ name, callers }) => [name, callers]), [["one", 2], ["two", 2]]);
  const sent = await readReply(
    await peer.fetch(wireRequest("JSONRPC", { method: "SendMessage", params: textMessage("hi") }, { key: "k-one" })),
  );
  ok(sent.kind === "result");
  const counts = await Promise.all(["k-one", "k-two"].map(async (key) => {
    const reply = await readReply(await peer.fetch(listTasks(key)));
    return reply.kind === "result" ? (reply.result as { tasks: TaskJson[] }).tasks.length : reply.kind;
  }));
  deepStrictEqual(counts, [1, 0]);
  strictEqual((await peer.fetch(listTasks("k-both"))).status, 401);
  await peer[Symbol.asyncDispose]();
  strictEqual(clock.pending, 0);
});

Deno.test("openPeer() refuses workspaces that cannot go together, and one that another host has, and holds on to none [§3 workspace-names, SM7 start-lock]", async () => {
  await using temp = await makeTempFolder();
  const [a, b] = [{ name: "a", folder: `${temp.path}/a` }, { name: "b", folder: `${temp.path}/b` }];
  const first = await open([b], 4711);
  ok(first.peer.kind === "peer");
  const second = await open([a, b]);
  deepStrictEqual(second.peer, {
    kind: "refused",
    message: `Cannot open ${b.folder}: another host serves it, pid 4711; stop that one first`,
  });
  const third = await open([a]);
  ok(third.peer.kind === "peer");
  const inside = await open([{ name: "x", folder: temp.path }, a]);
  ok(inside.peer.kind === "refused");
  for (const peer of [first.peer, third.peer]) await peer[Symbol.asyncDispose]();
});

Deno.test("a peer that is not started yet says that it is starting [SM7 recover]", async () => {
  await using temp = await makeTempFolder();
  const { peer } = await open([{ name: "a", folder: temp.path }]);
  ok(peer.kind === "peer");
  const answer = await peer.fetch(listTasks("k"));
  deepStrictEqual([answer.status, answer.headers.get("Retry-After")], [503, "1"]);
  await peer[Symbol.asyncDispose]();
});

Deno.test("a port that is in use is told in one line, before anything of the workspace was begun [SM7 port-first]", async () => {
  await using temp = await makeTempFolder();
  using other = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = other.addr as Deno.NetAddr;
  const { peer } = await open([{ name: "a", folder: temp.path }]);
  ok(peer.kind === "peer");
  deepStrictEqual(await peer.start({ hostname: "127.0.0.1", port }), {
    kind: "refused",
    message:
      `Cannot listen on 127.0.0.1:${port}: the port is in use; stop what has it, or choose another with --listen`,
  });
  await peer[Symbol.asyncDispose]();
  const names = [...Deno.readDirSync(workspacePaths(temp.path).a2a)].map(({ name }) => name);
  deepStrictEqual(names.sort(), ["host.json", "host.lock"]);
});

Deno.test("readyz tells of a disk that cannot be written, and of its recovery [§5.1 readyz]", async () => {
  await using made = await startPeer();
  deepStrictEqual(await made.readyz(), { status: 200, notReady: [] });
  const rule = made.disk.rule({ on: "write", path: "host.json", code: "ENOSPC" });
  await made.clock.advance(5_000);
  deepStrictEqual(await made.readyz(), { status: 503, notReady: ["the tasks of home cannot be written"] });
  rule.end();
  await made.clock.advance(5_000);
  deepStrictEqual(await made.readyz(), { status: 200, notReady: [] });
});

Deno.test("a host whose lock was replaced is not ready and says so once [SM7 lock-lost, §5.1 readyz]", async () => {
  await using made = await startPeer();
  await Deno.remove(made.paths.hostLock);
  await Deno.writeTextFile(made.paths.hostLock, "");
  await made.clock.advance(15_000);
  strictEqual((await made.readyz()).status, 503);
  deepStrictEqual(made.lost, [`Lost the lock of ${made.paths.root}: something replaced the file; the host ends`]);
});

Deno.test("the audit has a line for each send, cancel, refusal and end of run, without content and keys [§7 audit, DM8 lines]", async () => {
  await using made = await startPeer();
  await made.call("SendMessage", textMessage("a secret"));
  const { id } = await made.send("hang");
  await made.call("CancelTask", { id }, { binding: "HTTP+JSON" });
  await made.call("GetTask", { id });
  await made.call("GetTask", { id: "no such" });
  const stream = await made.open("SendStreamingMessage", textMessage("more"), { binding: "HTTP+JSON" });
  const streamed = (await stream.bytes()).length;
  await made.call("ListTasks", {}, { key: "k_wrong" });
  await made.clock.advance(5_000);
  const lines = await made.audit();
  const brief = lines.map(({ op, binding, caller, outcome, status }) =>
    [op, binding, caller, outcome, status].join(" ")
  );
  deepStrictEqual(brief.toSorted(), [
    "CancelTask rest alice ok 200",
    "GetTask jsonrpc alice TASK_NOT_FOUND 200",
    "SendMessage jsonrpc alice ok 200",
    "SendMessage jsonrpc alice ok 200",
    "SendStreamingMessage rest alice ok 200",
    "end of run run alice TASK_STATE_CANCELED ",
    "end of run run alice ok ",
    "end of run run alice ok ",
    "request jsonrpc  UNAUTHENTICATED 401",
  ]);
  const streamLine = lines.find(({ op }) => op === "SendStreamingMessage")!;
  strictEqual(streamLine.out, streamed);
  ok(Number(streamLine.in) > 50 && streamLine.taskId !== undefined && streamLine.peer === "127.0.0.1");
  const text = JSON.stringify(lines);
  for (const secret of ["secret", "more", "k_alice", "k_wrong"]) strictEqual(text.includes(secret), false, secret);
});

Deno.test("strangers get ten lines a minute and peer in the audit, then one with a count [DM8 strangers-counted]", async () => {
  await using made = await startPeer();
  for (let n = 0; n < 30; n++) await made.call("ListTasks", {}, { key: "k_wrong" });
  strictEqual((await made.audit()).length, 10);
  await made.clock.advance(60_000);
  await made.call("ListTasks", {}, { key: "k_wrong" });
  const lines = await made.audit();
  strictEqual(lines.length, 12);
  deepStrictEqual([lines[10]!.op, lines[10]!.count, lines[10]!.peer], ["refusals", 20, "127.0.0.1"]);
});

Deno.test("the owner is shown what comes in: message, tools, end, each once [§11 live-lines]", async () => {
  await using made = await startPeer();
  await made.call("SendMessage", textMessage("tool: search three files match\nHere it is."));
  const { id } = await made.send("ask: Which\ncolour?");
  await made.clock.settle();
  await made.call("SendMessage", textMessage("blue", { taskId: id }));
  await made.clock.settle();
  const brief = made.shown.map((one) => [one.caller, one.kind, "state" in one ? one.state : "", one.text].join(" | "));
  deepStrictEqual(brief, [
    "alice | message |  | tool: search three files match Here it is.",
    "alice | tool |  | three files match",
    "alice | end | TASK_STATE_COMPLETED | Here it is.",
    "alice | message |  | ask: Which colour?",
    "alice | end | TASK_STATE_INPUT_REQUIRED | Which",
    "alice | message |  | blue",
    "alice | end | TASK_STATE_COMPLETED | blue",
  ]);
});
