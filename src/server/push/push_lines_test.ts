import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import type { CallerName, TaskId } from "@/protocol/ids.ts";
import { pushesAtOnce, type PushJob, PushLines } from "./push_lines.ts";

const wide = { ...pushesAtOnce, perMinuteMax: 60 };

function linesOf(limits: Partial<typeof wide> = {}) {
  const clock = createTestClock();
  const lines = new PushLines({ ...wide, ...limits, clock });
  let jobs = 0;
  const add = (host: string, { caller = "ann", times = 1 } = {}) => {
    for (let n = 0; n < times; n++) {
      lines.add({ taskId: `t${++jobs}` as TaskId, configId: "w", caller: caller as CallerName, host });
    }
  };
  /** All that may go, and how long the next must wait for its rate. */
  const takeAll = () => {
    const taken: PushJob[] = [];
    let next = lines.take();
    for (; next.kind === "job"; next = lines.take()) taken.push(next.job);
    return { taken, waitMs: next.waitMs };
  };
  return { clock, lines, add, takeAll, hosts: () => takeAll().taken.map(({ host }) => host) };
}

Deno.test("PushLines gives callers their turns, each caller's hosts theirs, first come first served in a line", () => {
  const { add, takeAll } = linesOf();
  add("a", { times: 2 });
  add("b");
  add("a", { caller: "bob" });
  deepStrictEqual(takeAll().taken.map(({ taskId, host, caller }) => `${taskId} ${host} ${caller}`), [
    "t1 a ann",
    "t4 a bob",
    "t3 b ann",
    "t2 a ann",
  ]);
});

Deno.test("PushLines lets 3 of a caller go to one host at once, 4 in all, and others past it [SM6 others-unharmed]", () => {
  const { add, takeAll, hosts, lines } = linesOf();
  add("dead", { times: 9 });
  const stuck = takeAll().taken;
  strictEqual(stuck.length, 3);
  add("dead", { caller: "bob", times: 2 });
  stuck.push(...takeAll().taken);
  deepStrictEqual(stuck.map(({ caller }) => caller), ["ann", "ann", "ann", "bob"]);
  add("alive");
  deepStrictEqual(hosts(), ["alive"]);
  lines.done(stuck[0]!);
  deepStrictEqual(hosts(), ["dead"]);
});

Deno.test("PushLines lets 16 go of one caller, and 64 in all", () => {
  const { add, takeAll, lines } = linesOf();
  for (let host = 0; host < 30; host++) add(`h${host}`);
  strictEqual(takeAll().taken.length, 16);
  for (const caller of ["b", "c", "d", "e"]) for (let host = 0; host < 16; host++) add(`${caller}${host}`, { caller });
  const more = takeAll().taken;
  strictEqual(more.length, 48);
  lines.done(more[0]!);
  strictEqual(takeAll().taken.length, 1);
});

Deno.test("PushLines gives a free slot to who has waited longest, and who has many waits behind who has one [SM6 others-unharmed]", () => {
  const { add, takeAll, lines } = linesOf();
  const many = ["b", "c", "d", "e"];
  for (const caller of many) for (let host = 0; host < 200; host++) add(`${caller}${host}`, { caller });
  const stuck = takeAll().taken;
  strictEqual(stuck.length, 64);
  add("quiet", { caller: "honest" });
  const next: string[] = [];
  for (const job of stuck.slice(0, many.length + 1)) {
    lines.done(job);
    next.push(...takeAll().taken.map(({ caller }) => caller));
  }
  deepStrictEqual([next.length, next.includes("honest")], [5, true]);
});

Deno.test("PushLines keeps the rate of a caller at a host, and nobody else waits for it [§5.7 push-rate]", async () => {
  const { clock, add, takeAll, hosts } = linesOf({
    perMinuteMax: 2,
    atOncePerHostMax: 99,
    atOncePerCallerMax: 99,
    atOncePerLineMax: 99,
  });
  add("a", { times: 3 });
  const first = takeAll();
  deepStrictEqual([first.taken.length, first.waitMs], [2, 60_000]);
  add("a", { caller: "bob" });
  add("b");
  deepStrictEqual(hosts().sort(), ["a", "b"]);
  await clock.advance(59_999);
  deepStrictEqual(takeAll(), { taken: [], waitMs: 1 });
  await clock.advance(1);
  const last = takeAll();
  deepStrictEqual([last.taken.length, last.waitMs], [1, undefined]);
});
