import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { stateWord } from "@tests/fakes/commit_gate.ts";
import { alice } from "@tests/fakes/run_service_fixture.ts";
import type { DiskOperation } from "@tests/fakes/faulty_disk.ts";
import { createScriptedOutbound } from "@tests/fakes/scripted_outbound.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { startHost, type TestHost, transcriptOf } from "@tests/fakes/test_host.ts";
import type { TaskId } from "@/protocol/ids.ts";
import type { TimeMs } from "@/time/clock.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";

const push = { id: "p", url: "https://hooks.example/" };

Deno.test("killed before the commit of a new task: no task, nothing ran [SM8 1]", async () => {
  await using made = await startHost();
  using hold = stop(made, "write");
  const sending = made.send("hello", { contextId: "c" });
  await made.clock.settle();
  {
    await using next = await made.crash();
    deepStrictEqual(await tasksOf(next), []);
    deepStrictEqual(Deno.readDirSync(workspacePaths(next.workspace).sessions)[Symbol.iterator]().next().done, true);
  }
  hold.end();
  using accepted = await sending;
  strictEqual((await accepted.settled()).status.state, "TASK_STATE_COMPLETED");
});

Deno.test("killed between the commit of a new task and its answer: it runs at the next start, once with dedupe [SM8 2, SM1 T13]", async () => {
  await using made = await startHost({ flags: { "concurrent-runs": "1" } });
  using first = await made.send("wait: 1s");
  using hold = stop(made, "flush");
  const sent = { contextId: "c", messageId: "m", dedupe: "h" };
  let isAnswered = false;
  const sending = made.send("hello", sent).finally(() => isAnswered = true);
  await made.clock.settle();
  strictEqual(isAnswered, false);
  {
    await using next = await made.crash();
    await next.clock.settle();
    using again = await next.send("hello", sent);
    strictEqual((await again.settled()).status.state, "TASK_STATE_COMPLETED");
    deepStrictEqual(await transcriptOf(next, "c"), ["turn hello", "end answered hello"]);
    const { run, statusLog } = await next.record(again.task.id);
    deepStrictEqual([run, statusLog.at(-1)?.seq], [null, 3]);
    using other = await next.send("hello", { contextId: "c" });
    ok(other.task.id !== again.task.id);
    await other.settled();
    strictEqual(await next.says(first.task.id), "server restarted");
  }
  hold.end();
  (await sending)[Symbol.dispose]();
  await made.clock.advance(1_000);
});

Deno.test("killed in a turn: the task is failed and pushed, and never run again [SM8 3, SM1 T14, §5.5 crash-begun, SM7 recover]", async () => {
  await using made = await startHost();
  using accepted = await made.send("said before\nhang", { contextId: "c", push });
  const { id } = accepted.task;
  await made.clock.settle();
  {
    await using next = await made.crash();
    await next.clock.advance(120_000);
    deepStrictEqual([await next.state(id), await next.says(id)], ["failed", "server restarted"]);
    deepStrictEqual(await transcriptOf(next, "c"), ["turn said before\nhang"]);
    deepStrictEqual(await owed(next), [`${id} submitted`, `${id} working`, `${id} failed`]);
    using after = await next.send("recall", { contextId: "c" });
    await after.settled();
    strictEqual(await next.says(after.task.id), "1 turn before this one\n1. said before");
  }
});

Deno.test("killed between the transcript's end and the commit: failed, and the transcript keeps the answer [SM8 4]", async () => {
  await using made = await startHost();
  using accepted = await made.send("wait: 1s\nthe answer", { contextId: "c" });
  const { id } = accepted.task;
  using hold = stop(made, "write");
  await made.clock.advance(1_000);
  deepStrictEqual((await transcriptOf(made, "c")).at(-1), "end answered the answer");
  strictEqual(await made.state(id), "working");
  {
    await using next = await made.crash();
    deepStrictEqual([await next.state(id), await next.says(id)], ["failed", "server restarted"]);
    deepStrictEqual((await transcriptOf(next, "c")).at(-1), "end answered the answer");
    using after = await next.send("recall", { contextId: "c" });
    await after.settled();
    deepStrictEqual((await next.says(after.task.id))?.split("\n")[0], "1 turn before this one");
  }
  hold.end();
  strictEqual((await accepted.settled()).status.state, "TASK_STATE_COMPLETED");
});

Deno.test("killed between the commit of the end and its publishing: terminal at the next start, and pushed [SM8 5]", async () => {
  const clock = createTestClock();
  const outbound = createScriptedOutbound(clock);
  outbound.answer(push.url, { hold: new Promise(() => {}) }); // nothing of it is stored meanwhile
  await using made = await startHost({ clock, outbound });
  await Deno.writeTextFile(workspacePaths(made.workspace).callersFile, JSON.stringify([{ name: alice, key: "k" }]));
  using accepted = await made.send("wait: 1s\nthe answer", { contextId: "c", push });
  const { id } = accepted.task;
  using hold = stop(made, "flush");
  await made.clock.advance(1_000);
  strictEqual(await made.state(id), "working"); // nobody was shown
  {
    await using next = await made.crash();
    deepStrictEqual([await next.state(id), await next.says(id)], ["completed", "the answer"]);
    deepStrictEqual(await owed(next), [`${id} submitted`, `${id} working`, `${id} completed`]);
    strictEqual((await next.host.runs.cancel(id, alice)).kind, "refused");
  }
  hold.end();
  strictEqual((await accepted.settled()).status.state, "TASK_STATE_COMPLETED");
});

Deno.test("killed between a blob and its record: the next start removes the blob [SM8 7, DM5 orphan-blobs]", async () => {
  await using made = await startHost();
  using accepted = await made.send("wait: 1s\nfile: big.bin 40000 bytes\nwait: 1s", { contextId: "c" });
  const { id } = accepted.task;
  using hold = stop(made, "write");
  await made.clock.advance(1_000);
  strictEqual(blobsOf(made, id).length, 1);
  {
    await using next = await made.crash();
    await next.clock.settle();
    deepStrictEqual(blobsOf(next, id), []);
    deepStrictEqual([await next.state(id), (await next.record(id)).task.artifacts], ["failed", undefined]);
  }
  hold.end();
  await made.clock.advance(2_000);
  strictEqual((await accepted.settled()).artifacts?.[0]?.name, "big.bin");
  strictEqual(blobsOf(made, id).length, 1);
});

Deno.test("a question survives a crash and is answerable at the next start [§5.5 input-survives]", async () => {
  await using made = await startHost();
  using accepted = await made.send("ask: Which colour?", { contextId: "c" });
  const { id } = accepted.task;
  await accepted.settled();
  await using next = await made.crash();
  strictEqual(await next.says(id), "Which colour?");
  using answered = await next.send("red", { taskId: id });
  strictEqual((await answered.settled()).status.state, "TASK_STATE_COMPLETED");
});

/** Stops the journal at an operation; what comes behind it waits too. */
function stop({ disk }: TestHost, on: DiskOperation): Disposable & { end(): void } {
  const go = Promise.withResolvers<void>();
  const rule = disk.rule({ on, path: "journal-", until: go.promise });
  const end = () => {
    rule.end();
    go.resolve();
  };
  return { end, [Symbol.dispose]: end };
}

async function tasksOf({ host }: TestHost): Promise<readonly TaskId[]> {
  const page = await host.store.list({ caller: alice, pageSize: 10, pageToken: "" });
  return page.kind === "page" ? page.tasks.map(({ task }) => task.id) : [];
}

/** What webhooks are to be told, oldest first. */
async function owed({ host, clock }: TestHost) {
  const due = await host.store.duePushes({ now: clock.now() + 60_000 as TimeMs, limit: 10, leaseMs: 60_000 });
  const records = await Promise.all(due.map(({ taskId, caller }) => host.store.read(taskId, caller)));
  return records.flatMap((record) =>
    record!.statusLog.map(({ status }) => `${record!.task.id} ${stateWord({ task: { ...record!.task, status } })}`)
  );
}

function blobsOf({ workspace }: TestHost, id: TaskId): string[] {
  try {
    return [...Deno.readDirSync(`${workspacePaths(workspace).tasks}/${id}.blobs`)].map(({ name }) => name);
  } catch {
    return [];
  }
}
