import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { bothCallers, peerKeys, startPeer, type TestPeer, textMessage } from "@tests/fakes/test_peer.ts";
import { bindings } from "@tests/fakes/wire_request.ts";
import type { TaskJson } from "@/protocol/task.ts";
import type { Method } from "@/protocol/request_types.ts";

const [alice, bob] = bothCallers;

/** Gives alice these limits, and bob none of his own. */
async function limit(made: TestPeer, limits: Readonly<Record<string, unknown>>): Promise<void> {
  await made.writeCallers([{ ...alice, limits }, bob]);
}

/** How often a method answers before it is refused, at most 20. */
async function answers(made: TestPeer, method: Method, key: string = peerKeys.alice): Promise<number> {
  for (let count = 0; count < 20; count++) {
    const params = { ...textMessage("hi"), configuration: { returnImmediately: true } };
    const reply = await made.call(method, method === "SendMessage" ? params : {}, { key });
    if (reply.kind !== "error") continue;
    strictEqual(reply.reason, "TOO_MANY_REQUESTS");
    return count;
  }
  return Infinity;
}

Deno.test("a caller's own request rates hold at the next call after an edit, and for nobody else; 0 is none [§7 own-limits, §7 request-rates]", async () => {
  await using made = await startPeer({ flags: { "requests-per-minute": "4", "reads-per-minute": "5" } });
  await limit(made, { requestsPerMinute: 2, readsPerMinute: 3 });
  deepStrictEqual([await answers(made, "SendMessage"), await answers(made, "ListTasks")], [2, 2]); // of 5 in all
  await limit(made, { requestsPerMinute: 6, readsPerMinute: 100 });
  deepStrictEqual([await answers(made, "SendMessage"), await answers(made, "ListTasks")], [4, Infinity]);
  await limit(made, { requestsPerMinute: 1, readsPerMinute: 0 });
  deepStrictEqual([await answers(made, "SendMessage"), await answers(made, "ListTasks")], [0, Infinity]);
  strictEqual(await answers(made, "SendMessage", peerKeys.bob), 4);
  await limit(made, { requestsPerMinute: 0 });
  strictEqual(await answers(made, "SendMessage"), Infinity);
});

Deno.test("a caller's own limit of runs holds beside the workspace's, and leaves room to others [§7 own-limits, §7 own-runs]", async () => {
  await using made = await startPeer({ flags: { "concurrent-runs": "2", "queued-runs": "2" } });
  await limit(made, { concurrentRuns: 1 });
  const { state: first } = (await made.send("hang")).status;
  const waiting = [await made.send("hi"), await made.send("hi")];
  deepStrictEqual([first, ...waiting.map(({ status }) => status.state)], [
    "TASK_STATE_WORKING",
    "TASK_STATE_SUBMITTED",
    "TASK_STATE_SUBMITTED",
  ]);
  const refused = await made.call("SendMessage", textMessage("hi"));
  ok(refused.kind === "error" && refused.reason === "QUEUE_FULL");
  strictEqual((await made.send("hi", { key: peerKeys.bob })).status.state, "TASK_STATE_WORKING");
  await made.clock.settle();
  await limit(made, { concurrentRuns: 9 });
  const next = await made.call("SendMessage", textMessage("hi", { contextId: "c" }));
  ok(next.kind === "error" && next.reason === "QUEUE_FULL"); // as it stood; those who waited run now
  await made.clock.settle();
  const states = await Promise.all(waiting.map(async ({ id }) => (await made.task(id)).status.state));
  deepStrictEqual(states, ["TASK_STATE_COMPLETED", "TASK_STATE_COMPLETED"]);
});

Deno.test("a caller's own limit of stored tasks counts at its next message, and other callers keep theirs [§7 own-limits, §7 stored-tasks]", async () => {
  await using made = await startPeer();
  const total = async (key: string = peerKeys.alice) => {
    const reply = await made.call("ListTasks", {}, { key });
    ok(reply.kind === "result");
    return (reply.result as { totalSize: number }).totalSize;
  };
  for (const key of Object.values(peerKeys)) {
    for (let n = 0; n < 5; n++) await made.send("hi", { key });
    await made.clock.settle();
  }
  await limit(made, { storedTasks: 2 });
  strictEqual(await total(), 5);
  for (const key of Object.values(peerKeys)) await made.send("hi", { key });
  deepStrictEqual([await total(), await total(peerKeys.bob)], [2, 6]);
  await limit(made, { storedTasks: 0 });
  await made.clock.settle();
  await made.send("hi");
  strictEqual(await total(), 3);
});

Deno.test("a caller's own time for a run counts from the next run on; 0 is none [§7 own-limits, §7 run-timeout]", async () => {
  await using made = await startPeer({ flags: { "run-timeout": "10m" } });
  const hangs = async () => (await made.send("hang")).id;
  const [before] = [await hangs(), await limit(made, { runTimeout: "1m" })];
  const [short] = [await hangs(), await limit(made, { runTimeout: 0 })];
  const endless = await hangs();
  const others = (await made.send("hang", { key: peerKeys.bob })).id;
  const said = async (id: string, key: string = peerKeys.alice) => {
    const reply = await made.call("GetTask", { id }, { key });
    ok(reply.kind === "result");
    const { state, message } = (reply.result as TaskJson).status;
    return [state, message?.parts[0]?.text];
  };
  await made.clock.advance(60_000);
  deepStrictEqual(await said(short), ["TASK_STATE_FAILED", "stopped after 1 min"]);
  await made.clock.advance(10 * 60_000);
  deepStrictEqual(await said(before), ["TASK_STATE_FAILED", "stopped after 10 min"]);
  deepStrictEqual(await said(others, peerKeys.bob), ["TASK_STATE_FAILED", "stopped after 10 min"]);
  strictEqual((await said(endless))[0], "TASK_STATE_WORKING");
});

Deno.test("a queued run has the time of its caller when it begins [§7 own-limits]", async () => {
  await using made = await startPeer({ flags: { "concurrent-runs": "1", "run-timeout": "10m" } });
  await made.send("wait: 5s", { key: peerKeys.bob });
  const { id } = await made.send("hang");
  await limit(made, { runTimeout: "30s" });
  await made.clock.advance(5_000);
  strictEqual((await made.task(id)).status.state, "TASK_STATE_WORKING");
  await made.clock.advance(30_000);
  strictEqual((await made.task(id)).status.message?.parts[0]?.text, "stopped after 30 s");
});

Deno.test("a caller's own limit of open sessions closes its longest idle one at its next message [§7 own-limits, §7 sessions-a-caller]", async () => {
  await using made = await startPeer();
  const talk = async (contextId: string, key: string = peerKeys.alice) => {
    await made.send("hi", { contextId, key });
    await made.clock.advance(10);
  };
  /** How often the session was opened. */
  const opened = async (contextId: string, caller = "alice") => {
    const transcript = await Deno.readTextFile(`${made.paths.sessions}/ws-a2a-${caller}_${contextId}.jsonl`);
    return transcript.trimEnd().split("\n").filter((line) => JSON.parse(line).kind === "open").length;
  };
  for (const contextId of ["a", "b"]) await talk(contextId);
  await talk("a", peerKeys.bob);
  await limit(made, { contexts: 2 });
  await talk("c");
  for (const contextId of ["b", "a"]) await talk(contextId);
  await talk("a", peerKeys.bob);
  deepStrictEqual([await opened("a"), await opened("b"), await opened("c"), await opened("a", "bob")], [2, 1, 1, 1]);
  await limit(made, { contexts: 0 });
  for (const contextId of ["d", "e", "f", "a", "b"]) await talk(contextId);
  deepStrictEqual([await opened("a"), await opened("b")], [2, 1]);
});

Deno.test("a caller's own limit of turns in a context holds at its next message [§7 own-limits, §7 turns-a-context]", async () => {
  await using made = await startPeer({ flags: { "turns-per-context": "2" } });
  const send = async (key: string = peerKeys.alice) => {
    const reply = await made.call("SendMessage", textMessage("hi", { contextId: "c" }), { key });
    return reply.kind === "error" ? reply.reason : "ok";
  };
  const sends = async (count: number) => {
    const seen: string[] = [];
    for (let n = 0; n < count; n++) seen.push(await send());
    return seen;
  };
  deepStrictEqual(await sends(3), ["ok", "ok", "TOO_MANY_REQUESTS"]);
  await limit(made, { turnsPerContext: 3 });
  deepStrictEqual(await sends(2), ["ok", "TOO_MANY_REQUESTS"]);
  await limit(made, { turnsPerContext: 0 });
  deepStrictEqual(await sends(3), ["ok", "ok", "ok"]);
  deepStrictEqual([await send(peerKeys.bob), await send(peerKeys.bob), await send(peerKeys.bob)], [
    "ok",
    "ok",
    "TOO_MANY_REQUESTS",
  ]);
});

for (const binding of bindings) {
  Deno.test(`refusals for a rate over ${binding} are audited, ten a minute and caller, then counted [§7 rates-audited, §7 audit]`, async () => {
    await using made = await startPeer({ flags: { "requests-per-minute": "1", "reads-per-minute": "2" } });
    const ask = (key: string = peerKeys.alice) => made.call("GetExtendedAgentCard", {}, { binding, key });
    for (let n = 0; n < 3; n++) await ask();
    for (let n = 0; n < 20; n++) await ask();
    for (let n = 0; n < 4; n++) await ask(peerKeys.bob);
    const lines = await made.audit();
    const shown = (caller: string) => lines.filter((line) => line.caller === caller).map(({ outcome }) => outcome);
    deepStrictEqual(shown("alice"), Array(10).fill("TOO_MANY_REQUESTS"));
    deepStrictEqual(shown("bob"), Array(2).fill("TOO_MANY_REQUESTS"));
    strictEqual(lines[0]?.status, 429);
    await made.clock.advance(60_000);
    for (let n = 0; n < 4; n++) await ask();
    const later = (await made.audit()).slice(lines.length);
    deepStrictEqual(later.map(({ op, caller, count, outcome }) => [op, caller, count, outcome]).slice(0, 1), [
      ["refusals", "alice", 11, "TOO_MANY_REQUESTS"],
    ]);
  });
}
