import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { endOf, makePool, type PoolSetting, scope } from "@tests/fakes/pool_setting.ts";
import { createScriptedEngine, type EngineScript } from "@tests/fakes/scripted_engine.ts";
import { type EngineEvent, EngineUnavailable } from "@/engine/engine.ts";
import { FenceRefused } from "./transcript.ts";

const answered = (text: string) => ({ kind: "answered", text, truncated: false });
const unexpected = "The run failed unexpectedly.";
const storageFull = "The host's storage is full.";

/** Starts a turn and lets it run until it waits for something. */
async function start(setting: PoolSetting, text: string) {
  const cancel = new AbortController();
  const events: EngineEvent[] = [];
  const done = (async () => {
    for await (const event of setting.pool.turn(setting.request(text), cancel.signal)) events.push(event);
    return endOf(events);
  })();
  await setting.clock.settle();
  return { cancel, events, done };
}

async function endLines(setting: PoolSetting) {
  const lines = await setting.lines();
  return lines.filter(({ kind }) => kind === "end").map(({ outcome, reason }) => [outcome, reason]);
}

const broken: readonly { name: string; script: EngineScript; cause: RegExp }[] = [
  {
    name: "throws when it is called",
    script: {
      turn: () => {
        throw new TypeError("bug 1");
      },
    },
    cause: /bug 1/,
  },
  {
    name: "throws in the middle",
    script: {
      turn: async function* () {
        yield { kind: "text", text: "half" };
        await Promise.resolve();
        throw new TypeError("bug 2");
      },
    },
    cause: /bug 2/,
  },
  {
    name: "stops without an end",
    script: {
      turn: async function* () {
        yield { kind: "text", text: "half" };
        await Promise.resolve();
      },
    },
    cause: /stopped without an end/,
  },
  {
    name: "notes what no line can hold",
    script: {
      turn: async function* (_prompt, _signal, { conversation }) {
        await conversation.note("x".repeat(2 ** 20));
        yield { kind: "text", text: "not reached" };
      },
    },
    cause: /over 1048576 bytes/,
  },
];

for (const { name, script, cause } of broken) {
  Deno.test(`turn() ends failed, once, and kills the session when the engine ${name} [SM3 turning-breaks]`, async () => {
    const engine = createScriptedEngine(script);
    await using setting = await makePool({ engine });
    const outcome = endOf(await setting.play("x"));
    ok(outcome.kind === "failed");
    strictEqual(outcome.message, unexpected);
    match(String(outcome.cause), cause);
    deepStrictEqual(engine.log, [`open ${scope}`, `turn ${scope}`, `kill ${scope}`, `close ${scope}`]);
    strictEqual(setting.pool.size, 0);
    deepStrictEqual(await endLines(setting), [["failed", unexpected]]);
  });
}

Deno.test("turn() opens a new session after the engine broke, and knows what was said [SM4 closed]", async () => {
  await using setting = await makePool();
  await setting.play("hello");
  for (const word of ["crash", "drop"]) {
    strictEqual((await setting.outcome(word))?.kind, "failed");
  }
  deepStrictEqual(await setting.outcome("recall"), answered("3 turns before this one\n1. hello\n2. crash\n3. drop"));
});

Deno.test("turn() ignores what an engine yields behind its end [SM3 turning end]", async () => {
  let left = false;
  const engine = createScriptedEngine({
    turn: async function* () {
      try {
        yield { kind: "end", outcome: { kind: "answered", text: "x", truncated: false } } as const;
        yield { kind: "text", text: "late" } as const;
      } finally {
        left = true;
      }
    },
  });
  await using setting = await makePool({ engine });
  strictEqual((await setting.play("x")).length, 1);
  ok(left);
});

Deno.test("turn() gives an engine that does not leave its turn 5 s, keeps the answer and drops the session", async () => {
  const engine = createScriptedEngine({
    turn: async function* () {
      try {
        yield { kind: "end", outcome: { kind: "answered", text: "x", truncated: false } } as const;
      } finally {
        await new Promise(() => {});
      }
    },
  });
  await using setting = await makePool({ engine });
  const { done, events } = await start(setting, "x");
  await setting.clock.advance(4999);
  deepStrictEqual(events, []);
  await setting.clock.advance(1);
  deepStrictEqual(await done, answered("x"));
  strictEqual(setting.pool.size, 0);
  deepStrictEqual(await endLines(setting), [["answered", undefined]]);
});

Deno.test("kill() ends the turn, drops later events, and frees the scope at once [SM2 draining]", async () => {
  const { promise: goOn, resolve } = Promise.withResolvers<void>();
  const engine = createScriptedEngine({
    turn: async function* (prompt, _signal, { conversation }) {
      yield { kind: "text", text: "first" };
      if (prompt.text !== "hang") {
        return yield { kind: "end", outcome: { kind: "answered", text: "ok", truncated: false } };
      }
      await goOn;
      noted = conversation.note("late").then(() => undefined, (error) => error);
      yield { kind: "text", text: "late" };
      yield { kind: "end", outcome: { kind: "answered", text: "late", truncated: false } };
    },
  });
  let noted: Promise<unknown> = Promise.resolve();
  await using setting = await makePool({ engine });
  const { pool } = setting;
  const first = await start(setting, "hang");
  pool.kill(scope);
  strictEqual(pool.size, 0);
  const next = await setting.outcome("again"); // while the engine of the first still hangs
  deepStrictEqual(next, answered("ok"));
  deepStrictEqual(await first.done, { kind: "aborted" });
  resolve();
  await setting.clock.settle();
  ok((await noted) instanceof Error, "notes are refused");
  deepStrictEqual(first.events.map(({ kind }) => kind), ["text", "end"]);
  deepStrictEqual(await endLines(setting), [["failed", "stopped"], ["answered", undefined]]);
  const fences = (await setting.lines()).filter(({ kind }) => kind === "open").map(({ fence }) => fence);
  deepStrictEqual(fences, [1, 2]);
});

Deno.test("kill() needs a higher fence for the next turn [SM2 fence]", async () => {
  await using setting = await makePool();
  const first = await start(setting, "ignore abort\nhang");
  first.cancel.abort();
  await setting.clock.settle();
  deepStrictEqual(first.events, []);
  setting.pool.kill(scope);
  deepStrictEqual(await first.done, { kind: "aborted" });
  for (const fence of [0, 1]) {
    const refused = await setting.outcome("x", { fence });
    ok(refused?.kind === "failed" && refused.message === unexpected && refused.cause instanceof FenceRefused);
  }
  deepStrictEqual(await setting.outcome("recall"), answered("1 turn before this one\n1. ignore abort"));
});

Deno.test("turn() refuses a fence lower than that of an earlier turn, and the session stays usable after [SM2 fence]", async () => {
  await using setting = await makePool();
  await setting.play("x", { fence: 7 });
  await setting.play("x", { fence: 9 });
  const refused = await setting.outcome("x", { fence: 8 });
  ok(refused?.kind === "failed" && refused.cause instanceof FenceRefused);
  strictEqual(setting.pool.size, 1);
  deepStrictEqual(await setting.outcome("recall", { fence: 10 }), answered("2 turns before this one\n1. x\n2. x"));
});

Deno.test("turn() passes an abort to the engine [SM3 turning abort]", async () => {
  await using setting = await makePool();
  const { cancel, done } = await start(setting, "hang");
  cancel.abort();
  deepStrictEqual(await done, { kind: "aborted" });
  strictEqual(setting.pool.size, 1);
  deepStrictEqual(await endLines(setting), [["aborted", undefined]]);
});

Deno.test("leaving a turn's iteration kills the session [SM4 closed]", async () => {
  await using setting = await makePool();
  for await (const _ of setting.pool.turn(setting.request("stream: 9"), new AbortController().signal)) break;
  strictEqual(setting.pool.size, 0);
  deepStrictEqual(await setting.outcome("recall"), answered("1 turn before this one\n1. stream: 9"));
  deepStrictEqual((await endLines(setting))[0], ["failed", "stopped"]);
});

Deno.test("turn() tries an engine that is not available once more after 1 s [SM3 opening-unavailable]", async () => {
  let failures = 1;
  const engine = createScriptedEngine({
    open: () => failures-- > 0 ? Promise.reject(new EngineUnavailable("No box")) : Promise.resolve(),
  });
  await using setting = await makePool({ engine });
  const first = await start(setting, "x");
  await setting.clock.advance(999);
  strictEqual(engine.log.length, 1);
  await setting.clock.advance(1);
  deepStrictEqual(await first.done, answered(""));
  failures = 2;
  setting.pool.kill(scope);
  const second = await start(setting, "x");
  await setting.clock.advance(1000);
  const outcome = await second.done;
  ok(outcome.kind === "failed" && outcome.cause instanceof EngineUnavailable);
  strictEqual(outcome.message, "No box");
  strictEqual(setting.pool.size, 0);
  deepStrictEqual(await setting.outcome("x"), answered(""));
});

Deno.test("turn() does not try again what failed otherwise [SM3 opening-unavailable]", async () => {
  const engine = createScriptedEngine({ open: () => Promise.reject(new TypeError("bug")) });
  await using setting = await makePool({ engine });
  const outcome = await setting.outcome("x");
  ok(outcome?.kind === "failed");
  strictEqual(outcome.message, unexpected);
  strictEqual(engine.log.length, 1);
});

Deno.test("turn() ends failed when the session does not open in 60 s, and the next one opens anew [SM3 opening-late, SM4 opening-fails]", async () => {
  const { promise: opens, resolve } = Promise.withResolvers<void>();
  let openings = 0;
  const engine = createScriptedEngine({ open: () => ++openings === 1 ? opens : Promise.resolve() });
  await using setting = await makePool({ engine });
  const first = await start(setting, "x");
  await setting.clock.advance(59_999);
  deepStrictEqual(first.events, []);
  await setting.clock.advance(1);
  const outcome = await first.done;
  ok(outcome.kind === "failed");
  strictEqual(outcome.message, "The session did not open within 60 s.");
  strictEqual(setting.pool.size, 0);
  deepStrictEqual(await setting.outcome("y"), answered(""));
  resolve();
  await setting.clock.settle();
  const opened = [`open ${scope}`, `open ${scope}`, `turn ${scope}`];
  deepStrictEqual(engine.log, [...opened, `kill ${scope}`, `close ${scope}`]);
  deepStrictEqual(await setting.outcome("z"), answered("")); // what came late was killed, and nothing else
});

Deno.test("a session that nobody waits for may take 60 s to open, and no longer [SM3 opening-late]", async () => {
  const engine = createScriptedEngine({ open: () => new Promise(() => {}) });
  await using setting = await makePool({ engine });
  const first = await start(setting, "x");
  first.cancel.abort();
  deepStrictEqual(await first.done, { kind: "aborted" });
  await setting.clock.advance(50_000);
  const second = await start(setting, "y");
  await setting.clock.advance(10_000);
  const outcome = await second.done;
  ok(outcome.kind === "failed");
  strictEqual(outcome.message, "The session did not open within 60 s.");
  strictEqual(setting.pool.size, 0);
});

Deno.test("turn() gives a session up whose transcript does not even open in 60 s [SM3 opening-late]", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await using setting = await makePool();
  setting.disk.rule({ on: "openAppend", path: scope, until: promise, times: 1 });
  const first = await start(setting, "x");
  await setting.clock.advance(60_000);
  const outcome = await first.done;
  ok(outcome.kind === "failed");
  strictEqual(outcome.message, "The session did not open within 60 s.");
  strictEqual(setting.pool.size, 0);
  resolve();
  await setting.clock.settle();
  deepStrictEqual(await setting.outcome("recall"), answered("0 turns before this one"));
});

Deno.test("turn() is aborted while the session opens; kill() ends what opens late [SM3 turning abort]", async () => {
  const { promise: opens, resolve } = Promise.withResolvers<void>();
  const engine = createScriptedEngine({ open: () => opens });
  await using setting = await makePool({ engine });
  const first = await start(setting, "x");
  first.cancel.abort();
  deepStrictEqual(await first.done, { kind: "aborted" });
  strictEqual(setting.pool.size, 1);
  const second = await start(setting, "y");
  setting.pool.kill(scope);
  deepStrictEqual(await second.done, { kind: "aborted" });
  strictEqual(setting.pool.size, 0);
  resolve();
  await setting.clock.settle();
  deepStrictEqual(engine.log, [`open ${scope}`, `kill ${scope}`, `close ${scope}`]);
  deepStrictEqual((await setting.lines()).map(({ kind }) => kind), ["open"]);
});

Deno.test("turn() ends failed when the instructions cannot be read [SM4 instructions-fresh]", async () => {
  let reads = 0;
  const readInstructions = () => ++reads === 1 ? Promise.reject(new Error("EACCES")) : Promise.resolve("");
  await using setting = await makePool({ readInstructions });
  const outcome = await setting.outcome("x");
  ok(outcome?.kind === "failed" && outcome.message === unexpected);
  deepStrictEqual(await setting.outcome("recall"), answered("0 turns before this one"));
});

const fullAt: readonly { name: string; write: number; ends: readonly unknown[]; recall: string }[] = [
  { name: "opens", write: 1, ends: [], recall: "1 turn before this one\n1. hello" },
  { name: "begins", write: 2, ends: [], recall: "1 turn before this one\n1. hello" },
  {
    name: "notes an entry",
    write: 3,
    ends: [["failed", storageFull]],
    recall: "2 turns before this one\n1. hello\n2. tool: search x",
  },
];

for (const { name, write, ends, recall } of fullAt) {
  Deno.test(`turn() ends failed when the disk is full as it ${name}, and leaves nothing torn [SM0 commit-fails]`, async () => {
    await using setting = await makePool();
    await setting.play("hello");
    await setting.clock.advance(30 * 60 * 1000);
    // The newest rule that fits wins: the harmless one takes the writes before.
    setting.disk.rule({ on: "write", path: scope, code: "ENOSPC", times: 1 });
    if (write > 1) setting.disk.rule({ on: "write", path: scope, times: write - 1 });
    const outcome = await setting.outcome("tool: search x");
    ok(outcome?.kind === "failed");
    strictEqual(outcome.message, storageFull);
    deepStrictEqual((await endLines(setting)).slice(1), ends);
    deepStrictEqual(await setting.outcome("recall"), answered(recall));
  });
}

Deno.test("the pool closes an engine that does not close: after 5 s it is killed [SM4 idle]", async () => {
  const engine = createScriptedEngine({ close: () => new Promise(() => {}) });
  await using setting = await makePool({ engine });
  await setting.play("x");
  const disposed = setting.pool[Symbol.asyncDispose]();
  await setting.clock.advance(5000);
  await disposed;
  deepStrictEqual(engine.log.slice(2), [`close ${scope}`, `kill ${scope}`]);
});
