import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { alice, bob, defaultLimits } from "@tests/fakes/run_service_fixture.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import type { RunLimits } from "./run_limits.ts";
import { TurnLimits } from "./turn_limits.ts";

const hour = 3_600_000;
const c1 = { caller: alice, contextId: "c1" };

function makeTurns(limits: Partial<RunLimits> = {}) {
  const clock = createTestClock();
  const turns = new TurnLimits({ clock, limits: { ...defaultLimits, ...limits } });
  /** Takes turns until one is refused, at most 200; gives how many. */
  const take = (key = c1, hops = 0) => {
    for (let count = 0; count < 200; count++) {
      if (turns.refusal(key, hops) !== undefined) return count;
      turns.count(key, hops);
    }
    return Infinity;
  };
  return { clock, turns, take };
}

Deno.test("TurnLimits lets so many turns an hour into one context, each caller's and context's apart [§7 turns-a-context]", async () => {
  const { clock, turns, take } = makeTurns();
  deepStrictEqual([take(), take({ ...c1, contextId: "c2" }), take({ ...c1, caller: bob })], [60, 60, 60]);
  await clock.advance(hour / 2);
  const refused = turns.refusal(c1, 0);
  deepStrictEqual([refused?.why, refused?.retryAfterMs], ["too many turns", hour / 2]);
  match(refused!.text, /limit of 60 turns an hour in one context/);
  await clock.advance(hour / 2);
  strictEqual(take(), 60);
});

Deno.test("TurnLimits takes a caller's own limit at each question, and none for none [§7 own-limits]", () => {
  let own: number | undefined = 3;
  const { take } = makeTurns({ callerTurnsPerContextMax: (caller) => caller === alice ? own : undefined });
  strictEqual(take(), 3);
  own = 5;
  strictEqual(take(), 2);
  own = Infinity;
  strictEqual(take(), Infinity);
  strictEqual(take({ ...c1, caller: bob }), 60);
});

Deno.test("TurnLimits ends a row over other agents, until one comes over none [§7 delegated-turns]", () => {
  const { turns, take } = makeTurns();
  strictEqual(take(c1, 2), 20);
  const refused = turns.refusal(c1, 1);
  deepStrictEqual([refused?.why, refused?.retryAfterMs], ["too many delegated turns", hour]);
  match(refused!.text, /limit of 20 turns in a row/);
  strictEqual(turns.refusal({ ...c1, contextId: "c2" }, 1), undefined);
  strictEqual(turns.refusal(c1, 0), undefined);
  turns.count(c1, 0);
  strictEqual(take(c1, 1), 20);
});

Deno.test("TurnLimits begins a new row after an hour of silence, and what is refused is not heard [§7 delegated-turns]", async () => {
  const { clock, turns, take } = makeTurns({ turnsPerContextMax: Infinity });
  strictEqual(take(c1, 1), 20);
  for (let minute = 0; minute < 59; minute++) {
    await clock.advance(60_000);
    strictEqual(turns.refusal(c1, 1)?.why, "too many delegated turns");
  }
  strictEqual(turns.refusal(c1, 1)?.retryAfterMs, 60_000);
  await clock.advance(60_000);
  strictEqual(take(c1, 1), 20);
});

Deno.test("TurnLimits without limits refuses nothing [§7 zero-is-none]", () => {
  strictEqual(makeTurns({ turnsPerContextMax: Infinity, delegatedTurnsMax: Infinity }).take(c1, 1), Infinity);
});

Deno.test("TurnLimits keeps the 10,000 contexts that were used last [§7 bounded-counts]", () => {
  const { turns, take } = makeTurns();
  take(c1, 1);
  const c2 = { ...c1, contextId: "c2" };
  take(c2, 1);
  for (let n = 0; n < 9_999; n++) turns.count({ ...c1, contextId: `other ${n}` }, 1);
  deepStrictEqual([turns.refusal(c1, 1), turns.refusal(c2, 1)?.why], [undefined, "too many delegated turns"]);
});
