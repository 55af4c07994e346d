import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { sampleId } from "@tests/fakes/sample_tasks.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { Counters } from "@/counters.ts";
import type { TaskId } from "@/protocol/ids.ts";
import { Checkpointer } from "./checkpointer.ts";
import type { ClosedJournal, Journal } from "./journal.ts";

/** A journal in memory, and a target that notes what is done, in order. */
function setUp() {
  const clock = createTestClock();
  const counters = new Counters();
  const log: string[] = [];
  const failing = new Set<string>();
  const told: string[] = [];
  const gates = new Map<string, Promise<void>>();
  let open = new Set<TaskId>();
  let closed: ClosedJournal[] = [];
  const doing = async (what: string) => {
    log.push(`${what} at ${clock.elapsed()}`);
    await gates.get(what);
    for (const part of failing) if (what.startsWith(part)) throw new Error(`${what} failed`);
  };
  const journal = {
    close() {
      if (open.size > 0) closed.push({ path: `j${closed.length + 1}`, ids: open, bytes: 1 });
      open = new Set();
      return Promise.resolve([...closed]);
    },
    async delete(one: ClosedJournal) {
      await doing(`delete ${one.path}`);
      closed = closed.filter((other) => other !== one);
    },
    checkpointed: (what: string) => void told.push(what),
  } as Partial<Journal> as Journal;
  const target = { save: (id: TaskId) => doing(`save ${parseInt(id.slice(-12), 16)}`), sync: () => doing("sync") };
  const checkpointer = new Checkpointer({ journal, target, clock, counters });
  return {
    clock,
    counters,
    log,
    failing,
    /** What the journal was told of checkpoints. */
    told,
    gates,
    checkpointer,
    commit(...ns: number[]) {
      for (const n of ns) open.add(sampleId(n));
      checkpointer.committed();
    },
    rotate: () => void journal.close(),
    take: () => log.splice(0),
    [Symbol.asyncDispose]: () => checkpointer[Symbol.asyncDispose](),
  };
}

Deno.test("Checkpointer saves all of a journal, syncs, then deletes it, soon after the last commit [DM6 checkpoint]", async () => {
  await using test = setUp();
  test.commit(1, 2);
  await test.clock.advance(249);
  deepStrictEqual(test.take(), []);
  await test.clock.advance(1);
  deepStrictEqual(test.take(), ["save 1 at 250", "save 2 at 250", "sync at 250", "delete j1 at 250"]);
  await test.clock.advance(60_000);
  deepStrictEqual([test.take(), test.counters.snapshot().checkpoints], [[], 1]);
});

Deno.test("Checkpointer saves a task once however many journals hold it, and deletes the oldest first", async () => {
  await using test = setUp();
  test.commit(1, 2);
  test.rotate();
  test.commit(2, 3);
  await test.clock.advance(1000);
  deepStrictEqual(test.take().map((line) => line.replace(/ at .*/, "")), [
    "save 1",
    "save 2",
    "save 3",
    "sync",
    "delete j1",
    "delete j2",
  ]);
});

Deno.test("Checkpointer is put off by commits, but not for over 5 s [DM6 checkpoint]", async () => {
  await using test = setUp();
  for (let ms = 0; ms < 6000; ms += 100) {
    test.commit(1);
    await test.clock.advance(100);
  }
  deepStrictEqual(test.take()[0], "save 1 at 5000");
});

Deno.test("Checkpointer tries again after 1, 2, 4 ... 30 s, deletes nothing meanwhile, and starts over at 1 s [DM6 checkpoint]", async () => {
  await using test = setUp();
  test.failing.add("save");
  test.commit(1);
  await test.clock.advance(120_000);
  const saves = test.take().filter((line) => line.startsWith("save"));
  const times = saves.map((line) => Number(line.split(" at ")[1]));
  const waits = times.slice(1).map((time, n) => time - times[n]!);
  deepStrictEqual(waits, [1250, 2250, 4250, 8250, 16_250, 30_250, 30_250]);
  test.failing.clear();
  await test.clock.advance(30_250);
  deepStrictEqual(test.take().map((line) => line.replace(/ at .*/, "")), ["save 1", "sync", "delete j1"]);
  test.failing.add("save");
  test.commit(2);
  await test.clock.advance(1500);
  strictEqual(test.take().filter((line) => line.startsWith("save")).length, 2);
  test.failing.clear();
});

for (const part of ["sync", "delete"]) {
  Deno.test(`Checkpointer keeps the journal when its ${part} fails, and tries again [DM6 checkpoint]`, async () => {
    await using test = setUp();
    test.failing.add(part);
    test.commit(1);
    await test.clock.advance(250);
    test.failing.clear();
    const first = test.take();
    strictEqual(first.at(-1)!.startsWith(part), true);
    await test.clock.advance(1250);
    deepStrictEqual(test.take().map((line) => line.replace(/ at .*/, "")), ["save 1", "sync", "delete j1"]);
    deepStrictEqual(test.told, ["not all", "all"]);
  });
}

Deno.test("Checkpointer saves the others when one task is refused, and deletes the journals without it [DM6 checkpoint]", async () => {
  await using test = setUp();
  test.failing.add("save 2");
  test.commit(1);
  test.rotate();
  test.commit(2, 3);
  test.rotate();
  test.commit(3, 4); // 3 is also in the journal that stays: the line here may be its removal
  test.rotate();
  test.commit(5);
  await test.clock.advance(250);
  const steps = () => test.take().map((line) => line.replace(/ at .*/, ""));
  const saves = [1, 2, 3, 4, 5].map((n) => `save ${n}`);
  deepStrictEqual(steps(), [...saves, "sync", "delete j1", "delete j4"]);
  deepStrictEqual([test.told, test.counters.snapshot().checkpoints], [["not all"], 0]);
  test.failing.clear();
  await test.clock.advance(1250);
  deepStrictEqual(steps().slice(-3), ["sync", "delete j2", "delete j3"]);
  deepStrictEqual(test.told, ["not all", "all"]);
});

Deno.test("Checkpointer checkpoint() waits for the one that runs, and rejects when the disk refuses", async () => {
  await using test = setUp();
  const gate = Promise.withResolvers<void>();
  test.gates.set("save 1", gate.promise);
  test.commit(1);
  await test.clock.advance(250);
  test.commit(2);
  const forced = [test.checkpointer.checkpoint(), test.checkpointer.checkpoint()];
  deepStrictEqual(test.take().length, 1);
  gate.resolve();
  await Promise.all(forced);
  const saves = test.take().filter((line) => line.startsWith("save")).map((line) => line.slice(0, 6));
  deepStrictEqual(saves, ["save 2"]);
  test.failing.add("save");
  test.commit(3);
  await rejects(test.checkpointer.checkpoint(), (error: Error) => /save 3 failed/.test(String(error.cause)));
  test.failing.clear();
});

Deno.test("Checkpointer checkpoints once more when it is disposed of, and leaves no timer [SM7 stop]", async () => {
  const test = setUp();
  test.commit(1);
  await test.clock.advance(100);
  await test.checkpointer[Symbol.asyncDispose]();
  deepStrictEqual(test.take().map((line) => line.replace(/ at .*/, "")), ["save 1", "sync", "delete j1"]);
  strictEqual(test.clock.pending, 0);
});

Deno.test("Checkpointer ends although the disk refuses, also in the wait before a retry", async () => {
  const test = setUp();
  test.failing.add("sync");
  test.commit(1);
  await test.clock.advance(1000);
  await test.checkpointer[Symbol.asyncDispose]();
  strictEqual(test.clock.pending, 0);
});

Deno.test("Checkpointer that had nothing to do ends at once", async () => {
  const test = setUp();
  await test.clock.advance(1000);
  await test.checkpointer[Symbol.asyncDispose]();
  deepStrictEqual([test.take(), test.clock.pending], [[], 0]);
});
