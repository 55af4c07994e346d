import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import type { CallerName, TaskId } from "@/protocol/ids.ts";
import { type PushJob, PushLines } from "./push_lines.ts";

const wide = { atOnceMax: 64, atOncePerHostMax: 4, atOncePerCallerMax: 16, perMinuteMax: 60 };

function linesOf(limits: Partial<typeof wide> = {}) {
  const clock = createTestClock();
  const lines = new PushLines({ ...wide, ...limits, clock });
  let jobs = 0;
  const add = (host: string, { caller = "ann", times = 1 } = {}) => {
    for (let n = 0; n < times; n++) {
      lines.add({ taskId: `t${++jobs}` as TaskId, configId: "w", caller: caller as CallerName, host });
    }
  };
  const takeAll = () => {
    const taken: PushJob[] = [];
    for (let job = lines.take(); job !== undefined; job = lines.take()) taken.push(job);
    return taken;
  };
  return { clock, lines, add, takeAll, hosts: () => takeAll().map(({ host }) => host) };
}

Deno.test("PushLines gives each host and caller its turn, first come first served in a line", () => {
  const { add, takeAll } = linesOf();
  add("a", { times: 2 });
  add("b");
  add("a", { caller: "bob" });
  deepStrictEqual(takeAll().map(({ taskId, host, caller }) => `${taskId} ${host} ${caller}`), [
    "t1 a ann",
    "t3 b ann",
    "t4 a bob",
    "t2 a ann",
  ]);
});

Deno.test("PushLines lets 4 go to one host at once, and others past it [SM6 others-unharmed]", () => {
  const { add, takeAll, hosts, lines } = linesOf();
  add("dead", { times: 9 });
  const stuck = takeAll();
  strictEqual(stuck.length, 4);
  add("alive");
  deepStrictEqual(hosts(), ["alive"]);
  lines.done(stuck[0]!);
  deepStrictEqual([hosts(), lines.length], [["dead"], 4]);
});

Deno.test("PushLines lets 16 go of one caller, and 64 in all", () => {
  const { add, takeAll, lines } = linesOf();
  for (let host = 0; host < 30; host++) add(`h${host}`);
  strictEqual(takeAll().length, 16);
  for (const caller of ["b", "c", "d", "e"]) for (let host = 0; host < 16; host++) add(`${caller}${host}`, { caller });
  const more = takeAll();
  strictEqual(more.length, 48);
  lines.done(more[0]!);
  deepStrictEqual(takeAll().map(({ caller }) => caller), ["e"]);
});

Deno.test("PushLines keeps the rate of a caller at a host, and nobody else waits for it [§5.7 push-rate]", async () => {
  const { clock, add, hosts, lines } = linesOf({ perMinuteMax: 2, atOncePerHostMax: 99, atOncePerCallerMax: 99 });
  add("a", { times: 3 });
  deepStrictEqual([hosts(), lines.waitMs], [["a", "a"], 60_000]);
  add("a", { caller: "bob" });
  add("b");
  deepStrictEqual(hosts(), ["a", "b"]);
  await clock.advance(59_999);
  deepStrictEqual([hosts(), lines.waitMs], [[], 1]);
  await clock.advance(1);
  deepStrictEqual([hosts(), lines.waitMs], [["a"], undefined]);
});
