import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { endOf, makePool, scope } from "@tests/fakes/pool_setting.ts";
import { createScriptedEngine } from "@tests/fakes/scripted_engine.ts";
import type { EngineEvent } from "@/engine/engine.ts";
import { keptFolder } from "./session_scope.ts";

const answered = (text: string) => ({ kind: "answered", text, truncated: false });

/** An engine that answers 10,000 characters, to "wait" only when it is let go. */
function makeEngine(open?: () => Promise<void>) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const engine = createScriptedEngine({
    open,
    turn: async function* (prompt): AsyncGenerator<EngineEvent> {
      if (prompt.text === "wait") await promise;
      yield { kind: "end", outcome: { kind: "answered", text: "x".repeat(10_000), truncated: false } };
    },
  });
  const closed = () => engine.log.filter((entry) => entry.startsWith("close")).map((entry) => entry.slice(6));
  return { engine, closed, goOn: resolve };
}

Deno.test("SessionPool closes the longest idle sessions when all idle ones hold too much [§7 memory]", async () => {
  const { engine, closed, goOn } = makeEngine();
  await using setting = await makePool({ engine, idleCharsMax: 35_000 });
  const waiting = setting.play("wait", { scope: "turning" });
  await setting.clock.settle();
  for (const name of ["s1", "s2", "s3"]) {
    await setting.play("x", { scope: name, caller: name }); // of any caller
    await setting.clock.advance(10);
  }
  deepStrictEqual(closed(), []);
  await setting.play("x", { scope: "s1", caller: "s1" }); // 20,000 of them now, and the newest
  await setting.clock.settle();
  deepStrictEqual(closed(), ["s2"]);
  await setting.play("x", { scope: "s4", caller: "s4" });
  await setting.clock.settle();
  deepStrictEqual(closed(), ["s2", "s3"]);
  strictEqual(setting.pool.size, 3);
  await setting.clock.advance(10);
  goOn();
  await waiting;
  await setting.clock.settle();
  deepStrictEqual(closed(), ["s2", "s3", "s1"]);
});

Deno.test("closeCaller() closes the idle sessions of a caller, and those in a turn when it ends [SM4 caller-removed]", async () => {
  const { engine, closed, goOn } = makeEngine();
  await using setting = await makePool({ engine });
  await setting.play("x", { scope: "idle" });
  await setting.play("x", { scope: "other", caller: "bob" });
  const turn = setting.play("wait", { scope: "turning" });
  await setting.clock.settle();
  setting.pool.closeCaller("alice");
  await setting.clock.settle();
  deepStrictEqual(closed(), ["idle"]);
  goOn();
  deepStrictEqual(endOf(await turn), answered("x".repeat(10_000)));
  await setting.clock.settle();
  deepStrictEqual([closed(), setting.pool.size], [["idle", "turning"], 1]);
  // The name may be given to a new caller: its sessions stay open.
  await setting.play("x", { scope: "turning" });
  await setting.clock.settle();
  strictEqual(setting.pool.size, 2);
});

Deno.test("closeCaller() closes a session that opens for a turn that was aborted [SM4 caller-removed]", async () => {
  const { promise: opens, resolve } = Promise.withResolvers<void>();
  const { engine, closed } = makeEngine(() => opens);
  await using setting = await makePool({ engine });
  const cancel = new AbortController();
  const aborted = setting.pool.turn(setting.request("x"), cancel.signal).next();
  await setting.clock.settle();
  cancel.abort();
  await aborted;
  setting.pool.closeCaller("alice");
  resolve();
  await setting.clock.settle();
  deepStrictEqual([closed(), setting.pool.size], [[scope], 0]);
});

Deno.test("removeTranscript() leaves a scope whose session is open, and forgets the others with the folders that their programs kept [§7 retention]", async () => {
  await using setting = await makePool({ idleMs: 1000 });
  const files = [`${scope}.jsonl`];
  await setting.play("hello");
  const kept = keptFolder(setting.folder, scope);
  await Deno.mkdir(`${kept}/deep`, { recursive: true });
  strictEqual(await setting.pool.removeTranscript(scope, files), false);
  strictEqual((await Deno.stat(kept)).isDirectory, true);
  await setting.clock.advance(1000);
  strictEqual(await setting.pool.removeTranscript(scope, files), true);
  await rejects(Deno.stat(kept), Deno.errors.NotFound);
  deepStrictEqual(await setting.outcome("recall"), answered("0 turns before this one"));
});

Deno.test("turn() waits while the transcript of its scope is removed [§7 retention]", async () => {
  await using setting = await makePool({ idleMs: 1000 });
  await setting.play("hello");
  await setting.clock.advance(1000);
  const { promise: gate, resolve } = Promise.withResolvers<void>();
  setting.disk.rule({ on: "remove", path: scope, until: gate, times: 1 });
  const removing = setting.pool.removeTranscript(scope, [`${scope}.jsonl`]);
  const next = setting.outcome("recall");
  await setting.clock.settle();
  resolve();
  strictEqual(await removing, true);
  deepStrictEqual(await next, answered("0 turns before this one"));
  strictEqual((await setting.lines()).length, 3);
});

Deno.test("removeTranscript() rejects when the disk refuses, and the scope stays usable [§7 retention]", async () => {
  await using setting = await makePool({ idleMs: 1000 });
  await setting.play("hello");
  await setting.clock.advance(1000);
  setting.disk.rule({ on: "remove", path: scope, code: "EIO", times: 1 });
  await rejects(setting.pool.removeTranscript(scope, [`${scope}.jsonl`]), { code: "EIO" });
  deepStrictEqual(await setting.outcome("recall"), answered("1 turn before this one\n1. hello"));
});
