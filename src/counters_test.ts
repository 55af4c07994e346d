import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { Counters, counterTable, gaugeTable } from "./counters.ts";

Deno.test("Counters snapshot() shows every row of the tables as 0 at first", () => {
  const snapshot = new Counters().snapshot();
  deepStrictEqual(Object.keys(snapshot), [...Object.keys(counterTable), ...Object.keys(gaugeTable)]);
  deepStrictEqual([...new Set(Object.values(snapshot))], [0]);
});

Deno.test("Counters add() adds one, or as many as it is told", () => {
  const counters = new Counters();
  counters.add("commits");
  counters.add("commits");
  counters.add("journal.bytes", 512);
  strictEqual(counters.snapshot().commits, 2);
  strictEqual(counters.snapshot()["journal.bytes"], 512);
});

Deno.test("Counters set() replaces what a gauge showed", () => {
  const counters = new Counters();
  counters.set("runs.queued", 7);
  counters.set("runs.queued", 3);
  strictEqual(counters.snapshot()["runs.queued"], 3);
});

Deno.test("Counters snapshot() does not change when more is counted", () => {
  const counters = new Counters();
  const before = counters.snapshot();
  counters.add("turns");
  strictEqual(before.turns, 0);
});
