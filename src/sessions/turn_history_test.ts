import { deepStrictEqual, ok, strictEqual, throws } from "node:assert/strict";
import { charsKept, TurnHistory } from "./turn_history.ts";

const at = "2026-10-08T12:00:00.000Z";
const turnLine = (turn: number) =>
  ({ kind: "turn", at, turn, runId: "r1", from: "caller", text: "hello", files: [], hops: 0 }) as const;

/** A history in whose running turn `count` entries of `chars` characters were noted. */
function noted(count: number, chars: number): TurnHistory {
  const history = new TurnHistory();
  history.add(turnLine(1), 100);
  for (let body = 1; body <= count; body++) history.add({ kind: "entry", at, turn: 1, body }, chars);
  return history;
}

Deno.test("TurnHistory keeps the entries of a turn up to its bound [§7 memory]", () => {
  const history = noted(4, charsKept / 4);
  strictEqual(history.chars, 100 + charsKept);
  history.add({ kind: "end", at, turn: 1, outcome: "answered", text: "ok" }, 50);
  deepStrictEqual(history.turns.map(({ entries }) => entries), [[1, 2, 3, 4]]);
  strictEqual(history.chars, 150 + charsKept);
});

Deno.test("TurnHistory keeps no entries of a turn that has too many, and all its texts [§7 memory]", () => {
  const history = noted(5, charsKept / 4);
  strictEqual(history.chars, 100);
  for (let body = 0; body < 1000; body++) history.add({ kind: "entry", at, turn: 1, body }, charsKept);
  history.add({ kind: "entry", at, turn: 1, part: "reply", body: "all of it" }, 20);
  strictEqual(history.chars, 120);
  history.add({ kind: "end", at, turn: 1, outcome: "answered" }, 50);
  const [turn] = history.turns;
  deepStrictEqual([turn!.text, turn!.reply, turn!.entries], ["hello", "all of it", []]);
  history.add(turnLine(2), 100);
  history.add({ kind: "entry", at, turn: 2, body: "next" }, 10);
  history.add({ kind: "end", at, turn: 2, outcome: "answered", text: "ok" }, 50);
  deepStrictEqual(history.turns[1]!.entries, ["next"]);
  strictEqual(history.chars, 330);
});

Deno.test("TurnHistory drops the turns that a summary stands for, and counts them no more [§8 llm-compaction]", () => {
  const history = new TurnHistory();
  for (let turn = 1; turn <= 3; turn++) {
    history.add(turnLine(turn), 100);
    history.add({ kind: "end", at, turn, outcome: "answered", text: `answer ${turn}` }, 10);
  }
  strictEqual(history.numberOf(2), 2);
  history.add({ kind: "compact", at, upToTurn: 2, summary: "They met." }, 50);
  deepStrictEqual([history.turns.map(({ reply }) => reply), history.chars, history.numberOf(1)], [
    ["answer 3"],
    110,
    3,
  ]);
  throws(() => history.numberOf(2), RangeError);
  throws(() => history.numberOf(0), RangeError);
});

Deno.test("TurnHistory counts what it keeps, and forgets the oldest turns above its bound [§7 memory]", () => {
  const history = new TurnHistory();
  for (let turn = 1; turn <= 10; turn++) {
    history.add(turnLine(turn), charsKept / 4);
    history.add({ kind: "end", at, turn, outcome: "answered", text: "ok" }, 0);
    ok(history.chars <= charsKept);
  }
  deepStrictEqual([history.turns.length, history.chars], [4, charsKept]);
});
