import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { alice, briefly, submission } from "@tests/fakes/run_service_fixture.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { startHost, transcriptOf, tryHost } from "@tests/fakes/test_host.ts";
import { readHost } from "@/workspace/host_file.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";

Deno.test("openHost() works a message through engine, transcript and task, with files both ways", async () => {
  await using made = await startHost();
  const text = "file: report.txt all is well\nthere you are";
  const parts = [{ text }, { raw: btoa("x"), filename: "in.txt" }];
  using accepted = await made.send("", { contextId: "c", parts });
  const events = await briefly(accepted.events);
  deepStrictEqual([events[0], events[1], events.at(-1)], ["task working", "file report.txt", "completed"]);
  const { id } = accepted.task;
  strictEqual(await made.says(id), `there you are\n[file inbox/alice/${id}/in.txt, 1 bytes, text/plain]`);
  const lines = await transcriptOf(made, "c");
  deepStrictEqual(lines.map((line) => line.split(" ", 2).join(" ")), ["turn file:", "end answered"]);
  strictEqual(await Deno.readTextFile(join(made.workspace, "work/alice/report.txt")), "all is well");
});

Deno.test("openHost() refuses a second host of a workspace, naming the pid of the first [§4 host.lock, SM7 start-lock]", async () => {
  await using made = await startHost({ pid: 1234 });
  const before = await Deno.readTextFile(workspacePaths(made.workspace).hostFile);
  const second = await tryHost(made.workspace, { pid: 5678 });
  deepStrictEqual(second.host, {
    kind: "refused",
    message: `Cannot open ${made.workspace}: another host serves it, pid 1234; stop that one first`,
  });
  strictEqual(await Deno.readTextFile(workspacePaths(made.workspace).hostFile), before);
  strictEqual(second.clock.pending, 0);
  using accepted = await made.send("still here");
  strictEqual((await accepted.settled()).status.state, "TASK_STATE_COMPLETED");
});

Deno.test("openHost() leaves a folder of a newer format as it is, and its lock free [§4 newer-format, DM0 newer-format]", async () => {
  await using temp = await makeTempFolder();
  const { a2a, hostFile } = workspacePaths(temp.path);
  await Deno.mkdir(`${a2a}/tasks`, { recursive: true });
  const text = '{"v":1,"format":7,"epoch":3,"future":true}\n';
  await Deno.writeTextFile(hostFile, text);
  await Deno.writeTextFile(`${a2a}/tasks/journal-1.jsonl`, "of a form we do not know");
  for (let tries = 0; tries < 2; tries++) {
    const { host, clock } = await tryHost(temp.path);
    ok(host.kind === "refused");
    match(host.message, /^Cannot open .*: it has format 7, written by a newer version; update this one$/);
    strictEqual(clock.pending, 0);
  }
  strictEqual(await Deno.readTextFile(hostFile), text);
  strictEqual(await Deno.readTextFile(`${a2a}/tasks/journal-1.jsonl`), "of a form we do not know");
  const names = [...Deno.readDirSync(`${temp.path}/.volcanic`), ...Deno.readDirSync(a2a)].map(({ name }) => name);
  deepStrictEqual(names.sort(), ["a2a", "host.json", "host.lock", "tasks"]);
});

Deno.test("disposing of a host gives up its lock and all timers; the next start has a higher epoch [SM7 stop, SM7 start-sweep, DM10 epoch]", async () => {
  await using temp = await makeTempFolder();
  const { hostFile } = workspacePaths(temp.path);
  const epochs: number[] = [];
  for (let starts = 0; starts < 3; starts++) {
    const { host, disk, clock } = await tryHost(temp.path);
    ok(host.kind === "host");
    await clock.settle();
    const answer = await host.runs.submit(submission("hang", { contextId: `c${starts}` }));
    ok(answer.kind === "accepted" || answer.why === "context busy");
    const closing = host[Symbol.asyncDispose]();
    await clock.advance(6_000);
    await closing;
    strictEqual(clock.pending, 0);
    const read = await readHost(disk, hostFile);
    epochs.push(read.kind === "host" ? read.host.epoch : NaN);
    deepStrictEqual(
      [...Deno.readDirSync(workspacePaths(temp.path).tasks)].filter(({ name }) => /journal/.test(name)),
      [],
    );
  }
  deepStrictEqual(epochs, [1, 2, 3]);
});

Deno.test("openHost() gives the lock up when the tasks cannot be opened", async () => {
  await using temp = await makeTempFolder();
  await Deno.mkdir(workspacePaths(temp.path).a2a, { recursive: true });
  await Deno.writeTextFile(workspacePaths(temp.path).tasks, "a file in the way");
  await rejects(tryHost(temp.path));
  await Deno.remove(workspacePaths(temp.path).tasks);
  const { host, clock } = await tryHost(temp.path);
  ok(host.kind === "host");
  await clock.settle();
  await host[Symbol.asyncDispose]();
});

Deno.test("a conversation goes on after a restart, where it was [§5.4 resume, §5.5 input-survives]", async () => {
  await using temp = await makeTempFolder();
  const first = await tryHost(temp.path);
  ok(first.host.kind === "host");
  const asked = await first.host.runs.submit(submission("ask: Which colour?", { contextId: "c" }));
  ok(asked.kind === "accepted");
  await asked.settled();
  await first.host[Symbol.asyncDispose]();

  const { host, clock } = await tryHost(temp.path);
  ok(host.kind === "host");
  await clock.settle();
  const answered = await host.runs.submit(submission("red\nrecall", { taskId: asked.task.id }));
  ok(answered.kind === "accepted", answered.kind === "refused" ? answered.why : "");
  const { artifacts, history } = await answered.settled();
  strictEqual(artifacts?.[0]?.parts[0]?.text, "red\n1 turn before this one\n1. ask: Which colour?");
  strictEqual(history?.length, 3);
  await host[Symbol.asyncDispose]();
});

Deno.test("a host keeps what callers tell its owner [DM9 durable-notice]", async () => {
  await using made = await startHost({ flags: { "notices-per-hour": "1" } });
  using accepted = await made.send("notify: the order has come\nnotify: again\ndone");
  const task = await accepted.settled();
  strictEqual(await made.says(task.id), "notify refused: the owner takes 1 notices an hour\ndone");
  const [, line] = (await Deno.readTextFile(workspacePaths(made.workspace).notifications)).split("\n");
  const { kind, from, text, taskId } = JSON.parse(line!);
  deepStrictEqual([kind, from, text, taskId], ["notify", alice, "the order has come", task.id]);
});

Deno.test("a host kills a turn that ignores its cancel, and the context goes on in a new session [SM2 draining-killed, SM4 kill]", async () => {
  await using made = await startHost();
  using accepted = await made.send("ignore abort\nhang", { contextId: "c" });
  await made.clock.settle();
  strictEqual((await made.host.runs.cancel(accepted.task.id, alice)).kind, "canceled");
  const sending = made.send("recall", { contextId: "c" });
  await made.clock.advance(5_000);
  using next = await sending;
  await next.settled();
  deepStrictEqual(await made.says(next.task.id), "1 turn before this one\n1. ignore abort");
  strictEqual(await made.state(accepted.task.id), "canceled");
});

Deno.test("openHost() goes on with old conversations after host.json was lost: fences only grow [DM10 epoch]", async () => {
  await using made = await startHost();
  using first = await made.send("hello", { contextId: "c" });
  await first.settled();
  await Deno.remove(workspacePaths(made.workspace).hostFile);
  await using next = await made.crash();
  using second = await next.send("recall", { contextId: "c" });
  await second.settled();
  strictEqual(await next.says(second.task.id), "1 turn before this one\n1. hello");
});
