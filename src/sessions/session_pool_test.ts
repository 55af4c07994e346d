import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { endOf, makePool, scope } from "@tests/fakes/pool_setting.ts";
import { createScriptedEngine } from "@tests/fakes/scripted_engine.ts";
import type { EngineEvent, Prompt } from "@/engine/engine.ts";

const signal = new AbortController().signal;
const answered = (text: string, truncated = false) => ({ kind: "answered", text, truncated });

Deno.test("turn() opens a session, forwards its events, ends once [SM3 turning end]", async () => {
  await using setting = await makePool();
  const { play } = setting;
  const events = await play("notice: hm\ntool: search two files\nmessage\nhello\nusage: 5 6\ntruncated");
  deepStrictEqual(events, [
    { kind: "aside", of: "notice", text: "hm" },
    { kind: "tool", name: "search", phase: "start", summary: "two files" },
    { kind: "tool", name: "search", phase: "end", summary: "two files" },
    { kind: "message" },
    { kind: "text", text: "hello" },
    { kind: "usage", inputTokens: 5, outputTokens: 6 },
    { kind: "end", outcome: answered("hello", true) },
  ]);
  const lines = await setting.lines();
  deepStrictEqual(lines.map(({ kind }) => kind), ["open", "turn", "entry", "end"]);
  const [open, turn, , end] = lines;
  deepStrictEqual([open!.caller, open!.contextId, open!.engine, open!.fence], ["alice", "c1", "faux", 1]);
  deepStrictEqual([turn!.runId, turn!.taskId, turn!.from, turn!.hops], ["r1", "t1", "caller", 0]);
  deepStrictEqual([end!.text, end!.truncated, end!.usage], ["hello", true, { inputTokens: 5, outputTokens: 6 }]);
});

Deno.test("turn() has the turn line on disk before the engine sees the prompt [SM4 turning]", async () => {
  let atTurn: readonly string[] = [];
  const engine = createScriptedEngine({
    turn: async function* (): AsyncGenerator<EngineEvent> {
      atTurn = [...setting.disk.log];
      yield { kind: "end", outcome: { kind: "answered", text: "x", truncated: false } };
    },
  });
  await using setting = await makePool({ engine });
  await setting.play("hello");
  ok(atTurn.at(-1)!.startsWith("flush ") && atTurn.at(-2)!.startsWith("write "), atTurn.slice(-3).join());
});

Deno.test("turn() yields the end once it is on disk, and the scope takes the next turn then [SM1 order-at-end]", async () => {
  await using setting = await makePool();
  const { pool, disk, request } = setting;
  const writes = disk.log.length;
  for await (const event of pool.turn(request("ask: Which?", { tools: { requestInput: () => {} } }), signal)) {
    if (event.kind !== "end") continue;
    deepStrictEqual(event.outcome, { kind: "asked", question: "Which?", text: "" });
    ok(disk.log.slice(writes).at(-1)!.startsWith("flush "));
    deepStrictEqual((await setting.lines()).map(({ kind }) => kind), ["open", "turn", "ask", "end"]);
    deepStrictEqual(endOf(await setting.play("red")), answered("red")); // before the consumer of the first is done
  }
  strictEqual((await setting.lines())[2]!.question, "Which?");
});

Deno.test("turn() keeps the conversation of a scope, and of no other [§5.4 one-session-a-context]", async () => {
  await using setting = await makePool();
  await setting.play("hello");
  const other = { scope: "ws-a2a-bob_c1", caller: "bob" };
  deepStrictEqual(await setting.outcome("recall", other), answered("0 turns before this one"));
  deepStrictEqual(await setting.outcome("recall"), answered("1 turn before this one\n1. hello"));
  strictEqual(setting.pool.size, 2);
});

Deno.test("turn() resumes from the transcript after the session was evicted [§5.4 resume, §5.4 idle-eviction]", async () => {
  await using setting = await makePool();
  await setting.play("hello");
  await setting.clock.advance(30 * 60 * 1000);
  strictEqual(setting.pool.size, 0);
  strictEqual(setting.clock.pending, 0);
  deepStrictEqual(await setting.outcome("recall"), answered("1 turn before this one\n1. hello"));
  deepStrictEqual((await setting.lines()).map(({ kind }) => kind), ["open", "turn", "end", "open", "turn", "end"]);
});

Deno.test("turn() resumes in another process, and a turn that a crash cut is failed there [DM7 turn-without-end]", async () => {
  await using setting = await makePool();
  const { pool, request, newPool, clock } = setting;
  await setting.play("hello");
  const cut = pool.turn(request("hang"), signal);
  const never = cut.next();
  await clock.settle();
  const restarted = newPool();
  const events: EngineEvent[] = [];
  for await (const event of restarted.turn(request("recall"), signal)) events.push(event);
  deepStrictEqual(endOf(events), answered("2 turns before this one\n1. hello\n2. hang"));
  const ends = (await setting.lines()).filter(({ kind }) => kind === "end");
  deepStrictEqual(ends.map(({ outcome, reason }) => [outcome, reason]), [
    ["answered", undefined],
    ["failed", "server restarted"],
    ["answered", undefined],
  ]);
  await restarted[Symbol.asyncDispose]();
  pool.kill(scope);
  await never;
});

Deno.test("turn() reads the instructions for each turn, and frames what is not the owner's [§6 framed]", async () => {
  let reads = 0;
  await using setting = await makePool({ readInstructions: () => Promise.resolve(`Read ${++reads}.`) });
  const first = await setting.outcome("show prompt");
  ok(first?.kind === "answered");
  match(first.text, /^Instructions:\nRead 1\.\nPrompt:\nYou are talking to an external agent, the caller "alice"\./);
  match(first.text, /\n<<<EXTERNAL-TEXT 0{31}1>>>\nshow prompt\n<<<END-EXTERNAL-TEXT 0{31}1>>>$/);
  ok(!first.text.includes("notify_owner"));
  const second = await setting.outcome("show prompt", {
    tools: { notifyOwner: () => Promise.resolve({ kind: "done" }) },
    files: [{ path: "inbox/alice/t1/a.pdf", mediaType: "application/pdf", bytes: 9 }],
  });
  ok(second?.kind === "answered");
  match(second.text, /Read 2\./);
  match(second.text, /notify_owner/);
  match(second.text, /- inbox\/alice\/t1\/a\.pdf \(9 bytes, application\/pdf\)/);
  match(second.text, /<<<END-EXTERNAL-TEXT 0{31}2>>>$/);

  const owner = { scope: "ws-owner", trust: "owner", caller: undefined, contextId: undefined } as const;
  deepStrictEqual(
    await setting.outcome("show prompt", { ...owner, from: "owner" }),
    answered("Instructions:\nRead 3.\nPrompt:\nshow prompt"),
  );
  const delivery = await setting.outcome("show prompt", { ...owner, from: "delivery" });
  ok(delivery?.kind === "answered");
  match(delivery.text, /It is not from your owner/);
});

Deno.test("turn() gives the engine the prompt as it came, and only that [§8]", async () => {
  let seen: Prompt | undefined;
  const engine = createScriptedEngine({
    turn: async function* (prompt): AsyncGenerator<EngineEvent> {
      seen = prompt;
      yield { kind: "end", outcome: { kind: "answered", text: "x", truncated: false } };
    },
  });
  await using setting = await makePool({ engine });
  await setting.play("  /clear  ", { hops: 2, messageId: "m1" });
  const { tools, framed, ...rest } = seen!;
  ok(tools !== undefined && framed.includes("  /clear  "));
  deepStrictEqual(rest, {
    runId: "r1",
    taskId: "t1",
    messageId: "m1",
    from: "caller",
    text: "  /clear  ",
    instructions: "Be kind.",
    files: [],
    hops: 2,
  });
});

Deno.test("turn() takes its tools back at the end [§8 tools-lent-for-a-turn]", async () => {
  let kept: Prompt["tools"] | undefined;
  const engine = createScriptedEngine({
    turn: async function* (prompt): AsyncGenerator<EngineEvent> {
      kept = prompt.tools;
      await prompt.tools.send!("a.txt");
      yield { kind: "end", outcome: { kind: "answered", text: "x", truncated: false } };
    },
  });
  await using setting = await makePool({ engine });
  const sent: string[] = [];
  await setting.play("x", { tools: { send: (path) => Promise.resolve({ kind: "done", at: sent.push(path) }) } });
  await rejects(kept!.send!("b.txt"), RangeError);
  deepStrictEqual(sent, ["a.txt"]);
});

Deno.test("turn() throws RangeError while another one runs in the scope [SM4 one-open]", async () => {
  await using setting = await makePool();
  const { pool, request, clock } = setting;
  const first = setting.play("wait: 1s\ndone");
  await clock.settle();
  await rejects(pool.turn(request("x"), signal).next(), RangeError);
  await clock.advance(1000);
  deepStrictEqual(endOf(await first), answered("done"));
  await rejects(pool.turn(request("x", { trust: "owner" }), signal).next(), RangeError);
});

Deno.test("turn() scrubs what isolated sessions write and show, and leaves the owner's [DM7 scrubbed]", async () => {
  await using setting = await makePool({ scrub: (text) => text.replaceAll("sk-1", "[key]") });
  const message = "think: sk-1\ntool: search sk-1\nsay: sk-1";
  const events = await setting.play(message);
  deepStrictEqual(events.slice(0, 3), [
    { kind: "aside", of: "reasoning", text: "[key]" },
    { kind: "tool", name: "search", phase: "start", summary: "[key]" },
    { kind: "tool", name: "search", phase: "end", summary: "[key]" },
  ]);
  deepStrictEqual(await setting.outcome("fail: sk-1"), { kind: "failed", message: "[key]" });
  ok(!JSON.stringify(await setting.lines()).includes("sk-1"));
  const owner = { scope: "ws-owner", trust: "owner", caller: undefined, from: "owner" } as const;
  deepStrictEqual((await setting.play(message, owner))[0], { kind: "aside", of: "reasoning", text: "sk-1" });
  ok(JSON.stringify(await setting.lines("ws-owner")).includes("sk-1"));
});

Deno.test("turn() writes the text of 10000 chunks once [§15 written-once]", async () => {
  await using setting = await makePool();
  let text = "";
  for (const event of await setting.play("stream: 10000 x 100")) if (event.kind === "text") text += event.text;
  strictEqual(text.length, 1_000_000);
  ok(setting.disk.bytesWritten < 1.2 * text.length, `${setting.disk.bytesWritten} bytes for ${text.length}`);
  deepStrictEqual(await setting.outcome("recall"), answered("1 turn before this one\n1. stream: 10000 x 100"));
});

Deno.test("SessionPool closes a session after its idle time, measured from its last turn [SM4 idle]", async () => {
  const engine = createScriptedEngine({});
  await using setting = await makePool({ engine, idleMs: 1000 });
  const { clock, pool } = setting;
  await setting.play("x");
  await clock.advance(600);
  await setting.play("x", { scope: "ws-a2a-alice_c2" });
  await clock.advance(300);
  await setting.play("x");
  strictEqual(clock.pending, 1, "one timer for all sessions");
  await clock.advance(700); // 1600: the second one's time
  deepStrictEqual(engine.log.filter((entry) => entry.startsWith("close")), ["close ws-a2a-alice_c2"]);
  await clock.advance(299);
  strictEqual(pool.size, 1);
  await clock.advance(1);
  strictEqual(pool.size, 0);
  strictEqual(clock.pending, 0);
});

Deno.test("SessionPool never closes a session in a turn, however long it runs [case 36]", async () => {
  await using setting = await makePool();
  const turn = setting.play("wait: 5h\ndone");
  await setting.clock.advance(5 * 60 * 60 * 1000);
  deepStrictEqual(endOf(await turn), answered("done"));
});

Deno.test("SessionPool keeps sessions open when the idle time is 0 [§7]", async () => {
  await using setting = await makePool({ idleMs: 0 });
  await setting.play("x");
  strictEqual(setting.clock.pending, 0);
  await setting.clock.advance(1e9);
  strictEqual(setting.pool.size, 1);
});

Deno.test("SessionPool closes the longest idle session of a caller over its cap [§7 sessions-a-caller, SM4 least-recent]", async () => {
  const { promise: goOn, resolve } = Promise.withResolvers<void>();
  const engine = createScriptedEngine({
    turn: async function* (prompt): AsyncGenerator<EngineEvent> {
      if (prompt.text === "wait") await goOn;
      yield { kind: "end", outcome: { kind: "answered", text: "x", truncated: false } };
    },
  });
  await using setting = await makePool({ engine, callerSessionsMax: () => 3 });
  const { clock, play } = setting;
  const turning = play("wait", { scope: "s1" });
  await clock.settle();
  for (const name of ["s2", "s3"]) {
    await clock.advance(10);
    await play("x", { scope: name });
  }
  await play("x", { scope: "other", caller: "bob" });
  await clock.advance(10);
  await play("x", { scope: "s2" });
  await play("x", { scope: "s4" });
  const closed = () => engine.log.filter((entry) => entry.startsWith("close"));
  deepStrictEqual(closed(), ["close s3"]);
  await play("x", { scope: "s5" });
  deepStrictEqual(closed(), ["close s3", "close s2"]);
  resolve();
  await turning;
});

Deno.test("turn() waits for the closing of its scope's last session [SM4 one-open]", async () => {
  const { promise: closes, resolve } = Promise.withResolvers<void>();
  const engine = createScriptedEngine({ close: () => closes });
  await using setting = await makePool({ engine, idleMs: 1000 });
  await setting.play("x");
  await setting.clock.advance(1000);
  const next = setting.play("x");
  await setting.clock.settle();
  deepStrictEqual(engine.log, [`open ${scope}`, `turn ${scope}`, `close ${scope}`]);
  resolve();
  endOf(await next);
  strictEqual(engine.log[3], `open ${scope}`);
});

Deno.test("SessionPool closes all when it is disposed of, and takes no turn after [SM4]", async () => {
  const engine = createScriptedEngine({
    turn: async function* (prompt): AsyncGenerator<EngineEvent> {
      if (prompt.text === "hang") await new Promise(() => {});
      yield { kind: "end", outcome: { kind: "answered", text: "x", truncated: false } };
    },
  });
  await using setting = await makePool({ engine });
  const { pool, clock } = setting;
  await setting.play("x", { scope: "idle" });
  const hanging = setting.play("hang");
  await clock.settle();
  await pool[Symbol.asyncDispose]();
  deepStrictEqual(endOf(await hanging), { kind: "aborted" });
  strictEqual(pool.size, 0);
  strictEqual(clock.pending, 0);
  ok(engine.log.includes("close idle") && engine.log.includes(`kill ${scope}`) && !engine.log.includes("kill idle"));
  deepStrictEqual(await setting.outcome("x"), { kind: "failed", message: "The host is stopping." });
  await pool[Symbol.asyncDispose]();
});
