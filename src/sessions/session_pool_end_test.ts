import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { endOf, makePool, type PoolSetting, scope } from "@tests/fakes/pool_setting.ts";
import { createScriptedEngine } from "@tests/fakes/scripted_engine.ts";
import { Counters } from "@/counters.ts";
import type { EngineEvent } from "@/engine/engine.ts";

const answered = (text: string) => ({ kind: "answered", text, truncated: false });

/** Plays "hello", then begins a turn whose `end` line meets the rule; the writes before do not. */
async function startFull(setting: PoolSetting, { on, code, times }: {
  readonly on: "write" | "flush";
  readonly code: string;
  readonly times?: number;
}) {
  await setting.play("hello");
  const rule = setting.disk.rule({ on, path: scope, code, times });
  setting.disk.rule({ on, path: scope, times: 1 }); // the `turn` line
  const cancel = new AbortController();
  const events: EngineEvent[] = [];
  const done = (async () => {
    for await (const event of setting.pool.turn(setting.request("notice: hm\nsecond"), cancel.signal)) {
      events.push(event);
    }
    return endOf(events);
  })();
  await setting.clock.settle();
  return { rule, cancel, events, done };
}

for (const on of ["write", "flush"] as const) {
  for (const code of ["ENOSPC", "EIO"]) {
    Deno.test(`turn() keeps the answer while the ${on} of its end fails with ${code}, and tries again [SM0 commit-fails]`, async () => {
      await using setting = await makePool();
      const { rule, events, done } = await startFull(setting, { on, code });
      await setting.clock.advance(60_000);
      deepStrictEqual(events.map(({ kind }) => kind), ["aside", "text"]);
      strictEqual(setting.pool.size, 1);
      rule.end();
      await setting.clock.advance(30_000);
      deepStrictEqual(await done, answered("second"));
      deepStrictEqual(await setting.outcome("recall"), answered("2 turns before this one\n1. hello\n2. notice: hm"));
      await setting.clock.advance(30 * 60 * 1000); // closed, and read again
      const after = await setting.outcome("recall");
      ok(after?.kind === "answered");
      match(after.text, /^3 turns before this one\n1\. hello\n2\. notice: hm\n3\. recall$/);
    });
  }
}

Deno.test("turn() tries its end again after 0.1, 0.2, 0.4 ... 30 s [SM0 commit-fails]", async () => {
  const counters = new Counters();
  await using setting = await makePool({ counters });
  const { rule, done } = await startFull(setting, { on: "write", code: "ENOSPC" });
  const writes = () => setting.disk.log.filter((entry) => entry.startsWith("write ")).length;
  const first = writes();
  for (const waitMs of [100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]) {
    const before = writes();
    await setting.clock.advance(waitMs - 1);
    strictEqual(writes(), before, `before ${waitMs} ms`);
    await setting.clock.advance(1);
    strictEqual(writes(), before + 1, `after ${waitMs} ms`);
  }
  deepStrictEqual([writes(), counters.snapshot()["commit.retries"]], [first + 11, 12]);
  rule.end();
  await setting.clock.advance(30_000);
  deepStrictEqual(await done, answered("second"));
});

Deno.test("turn() ends aborted when it is aborted while its end cannot be written [SM0 commit-fails]", async () => {
  await using setting = await makePool();
  const { rule, cancel, done } = await startFull(setting, { on: "write", code: "ENOSPC" });
  await setting.clock.advance(10_000);
  cancel.abort();
  deepStrictEqual(await done, { kind: "aborted" });
  strictEqual(setting.pool.size, 0);
  rule.end();
  deepStrictEqual(await setting.outcome("recall"), answered("2 turns before this one\n1. hello\n2. notice: hm"));
});

Deno.test("SessionPool closes while the end of a turn cannot be written [SM7 stop]", async () => {
  await using setting = await makePool();
  const { rule, done } = await startFull(setting, { on: "write", code: "ENOSPC" });
  await setting.clock.advance(10_000);
  await setting.pool[Symbol.asyncDispose]();
  deepStrictEqual(await done, { kind: "aborted" });
  strictEqual(setting.clock.pending, 0);
  rule.end();
});

Deno.test("turn() does not wait for the end of a turn whose engine broke [SM3 turning-breaks]", async () => {
  const engine = createScriptedEngine({
    turn: () => {
      throw new TypeError("bug");
    },
  });
  await using setting = await makePool({ engine });
  setting.disk.rule({ on: "write", path: scope, code: "ENOSPC" });
  setting.disk.rule({ on: "write", path: scope, times: 2 }); // `open` and `turn`
  const outcome = await setting.outcome("x");
  ok(outcome?.kind === "failed" && outcome.cause instanceof TypeError);
});
