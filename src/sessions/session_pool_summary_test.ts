import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { makePool, scope } from "@tests/fakes/pool_setting.ts";
import { createScriptedEngine } from "@tests/fakes/scripted_engine.ts";
import type { Conversation } from "@/engine/engine.ts";

Deno.test("an engine puts a summary in the place of older turns, and finds it again after a restart [§8 llm-compaction]", async () => {
  const seen: unknown[] = [];
  let last: Conversation | undefined;
  const engine = createScriptedEngine({
    turn: async function* ({ text }, _, { conversation }) {
      last = conversation;
      if (text.startsWith("sum up")) await conversation.compact(Number(text.slice(-1)), `up to here: ${text}`);
      seen.push([conversation.summary, conversation.turns.map(({ text }) => text)]);
      yield { kind: "end", outcome: { kind: "answered", text: "ok", truncated: false } };
    },
  });
  await using setting = await makePool({ engine, scrub: (text) => text.replaceAll("key", "[key]") });
  for (const text of ["one", "two", "three", "sum up the key 2", "five"]) await setting.play(text);
  await rejects(last!.compact(1, "late"), RangeError);
  await setting.pool[Symbol.asyncDispose]();
  await using pool = setting.newPool();
  for await (const _ of pool.turn(setting.request("sum up 3"), new AbortController().signal)) continue;
  for await (const _ of pool.turn(setting.request("sum up 9"), new AbortController().signal)) continue;
  deepStrictEqual(
    seen.slice(2),
    [
      [undefined, ["one", "two"]],
      ["up to here: sum up the [key] 2", ["three"]],
      ["up to here: sum up the [key] 2", ["three", "sum up the [key] 2"]],
      ["up to here: sum up 3", []],
    ],
  );
  const lines = await setting.lines(scope);
  deepStrictEqual(lines.filter(({ kind }) => kind === "compact").map(({ upToTurn }) => upToTurn), [2, 5]);
  strictEqual(lines.at(-1)!.outcome, "failed"); // there were not nine
});
