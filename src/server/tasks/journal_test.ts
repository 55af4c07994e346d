import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { createFaultyDisk, type DiskRule, type FaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { sampleId } from "@tests/fakes/sample_tasks.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock, type TestClock } from "@tests/fakes/test_clock.ts";
import { Counters } from "@/counters.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { Journal, journalName, journalNumber, type JournalOptions } from "./journal.ts";
import { StorageFull } from "./task_store.ts";

interface SetUp extends AsyncDisposable {
  readonly disk: FaultyDisk;
  readonly clock: TestClock;
  readonly folder: string;
  readonly journal: Journal;
  readonly counters: Counters;
  /** Appends a line of task `n`, which is also its text. */
  append(n: number): Promise<void>;
  /** Numbers of the lines that became durable, in order. */
  readonly durable: readonly number[];
  /** What is in a journal file, without the header. */
  lines(number: number): string[];
  files(): string[];
  /** Writes and flushes so far, since the last call. */
  operations(): string[];
}

async function setUp(options: Partial<JournalOptions> = {}): Promise<SetUp> {
  const temp = await makeTempFolder();
  const folder = temp.path;
  const disk = createFaultyDisk(createDisk(systemClock));
  const clock = createTestClock();
  const counters = new Counters();
  const made = { disk, clock, folder, epoch: 7, lastNumber: 0, durability: "disk", counters } as const;
  const journal = new Journal({ ...made, ...options });
  const durable: number[] = [];
  let seen = 0;
  return {
    disk,
    clock,
    folder,
    journal,
    counters,
    durable,
    append: (n) => journal.append(sampleId(n), String(n), { onDurable: () => void durable.push(n) }),
    lines: (number) => Deno.readTextFileSync(`${folder}/${journalName(number)}`).split("\n").slice(1, -1),
    files: () => [...Deno.readDirSync(folder)].map(({ name }) => name).sort(),
    operations() {
      const since = disk.log.slice(seen).map((line) => line.replace(`${folder}/`, "").replace(folder, "."));
      seen = disk.log.length;
      return since;
    },
    async [Symbol.asyncDispose]() {
      await journal[Symbol.asyncDispose]();
      await temp[Symbol.asyncDispose]();
    },
  };
}

/** Lets what waits for promises go on. */
const turn = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("Journal append() writes a header and whole lines, and makes the name durable before the first [DM6 group-commit]", async () => {
  await using test = await setUp();
  await test.append(1);
  const text = Deno.readTextFileSync(`${test.folder}/journal-1.jsonl`);
  strictEqual(text, '{"v":1,"journal":1,"epoch":7}\n1\n');
  deepStrictEqual(test.operations(), [
    "createNew journal-1.jsonl",
    "write journal-1.jsonl",
    "syncFolder .",
    "write journal-1.jsonl",
    "flush journal-1.jsonl",
  ]);
  strictEqual(Deno.statSync(`${test.folder}/journal-1.jsonl`).mode! & 0o777, 0o600);
});

Deno.test("Journal append() sends what came during a flush out in one write and one flush [DM6 group-commit]", async () => {
  await using test = await setUp();
  await test.append(0);
  test.operations();
  const gate = Promise.withResolvers<void>();
  test.disk.rule({ on: "flush", times: 1, until: gate.promise });
  const first = test.append(1);
  while (!test.disk.log.at(-1)!.startsWith("flush")) await turn();
  const others = Array.from({ length: 10 }, (_, n) => test.append(n + 2));
  await turn();
  deepStrictEqual(test.durable, [0]);
  gate.resolve();
  await Promise.all([first, ...others]);
  const operation = (name: string) => `${name} journal-1.jsonl`;
  deepStrictEqual(test.operations(), ["write", "flush", "write", "flush"].map(operation));
  deepStrictEqual(test.durable, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  deepStrictEqual(test.lines(1), test.durable.map(String));
  strictEqual(test.counters.snapshot()["journal.flushes"], 3);
});

Deno.test("Journal append() runs onDurable before anyone can close the journal [DM6 checkpoint]", async () => {
  await using test = await setUp();
  const gate = Promise.withResolvers<void>();
  test.disk.rule({ on: "flush", times: 1, until: gate.promise });
  const appended = test.append(1);
  const closed = test.journal.close().then((journals) => ({ durable: [...test.durable], journals }));
  await turn();
  gate.resolve();
  const { durable, journals } = await closed;
  deepStrictEqual([durable, journals.map(({ ids }) => [...ids])], [[1], [[sampleId(1)]]]);
  await appended;
});

Deno.test("Journal append() leaves the flush out for durability process [DM6 durability-process]", async () => {
  await using test = await setUp({ durability: "process" });
  await test.append(1);
  deepStrictEqual(test.operations(), ["createNew", "write", "write"].map((name) => `${name} journal-1.jsonl`));
});

const failures: readonly DiskRule[] = (["ENOSPC", "EIO"] as const).flatMap((code) =>
  (["createNew", "write", "syncFolder", "flush"] as const).map((on) => ({ on, code, times: 1 }))
);
for (const { on, code } of failures) {
  Deno.test(`Journal append() rejects all of a batch, leaving nothing of it, when ${on} fails with ${code} [DM6 failed-write]`, async () => {
    await using test = await setUp();
    test.disk.rule({ on, code, times: 1 });
    const results = await Promise.allSettled([test.append(1), test.append(2)]);
    // The second came while the first was on its way, so it may be in the next batch.
    ok(results[0]!.status === "rejected" && results[0].reason instanceof StorageFull);
    strictEqual((results[0].reason.cause as { code?: string }).code, code);
    await test.append(3);
    const all = test.files().flatMap((name) => test.lines(journalNumber(name)!.number));
    deepStrictEqual(all, test.durable.map(String));
    strictEqual(test.durable.includes(1), false);
    strictEqual(test.files().length, 1);
  });
}

Deno.test("Journal append() keeps the good lines of a file whose next batch failed [DM6 failed-write]", async () => {
  await using test = await setUp();
  await test.append(1);
  test.disk.rule({ on: "write", code: "ENOSPC", times: 1 });
  await rejects(test.append(2), StorageFull);
  await test.append(3);
  deepStrictEqual([test.lines(1), test.lines(2)], [["1"], ["3"]]);
  deepStrictEqual((await test.journal.close()).map(({ ids }) => [...ids]), [[sampleId(1)], [sampleId(3)]]);
});

Deno.test("Journal append() collects no files while the disk stays full [DM6 failed-write]", async () => {
  await using test = await setUp();
  await test.append(0);
  const full = test.disk.rule({ on: "flush", code: "ENOSPC" });
  for (let n = 1; n <= 20; n++) await rejects(test.append(n), StorageFull);
  deepStrictEqual(test.files(), ["journal-1.jsonl"]);
  full.end();
  await test.append(21);
  deepStrictEqual([test.lines(1), test.files().length], [["0"], 2]);
});

Deno.test("Journal append() tells a bug of one commit to that commit only", async () => {
  await using test = await setUp();
  const bug = test.journal.append(sampleId(1), "1", {
    onDurable: () => {
      throw new RangeError("bug");
    },
  });
  const other = test.append(2);
  await rejects(bug, RangeError);
  await other;
  deepStrictEqual([test.lines(1), test.durable], [["1", "2"], [2]]);
});

Deno.test("Journal begins a new file when one is over its size [DM6 rotation]", async () => {
  await using test = await setUp({ journalBytesMax: 10 });
  for (const n of [11111, 22222, 33333, 44444, 55555]) await test.append(n);
  deepStrictEqual([test.lines(1), test.lines(2), test.lines(3)], [["11111", "22222"], ["33333", "44444"], ["55555"]]);
  const closed = await test.journal.close();
  deepStrictEqual(closed.map(({ path, bytes }) => [path.slice(-15), bytes]), [
    ["journal-1.jsonl", 12],
    ["journal-2.jsonl", 12],
    ["journal-3.jsonl", 6],
  ]);
});

Deno.test("Journal append() waits while too much is not checkpointed, and goes on after [DM6 back-pressure]", async () => {
  await using test = await setUp({ backlogBytesMax: 10 });
  await test.append(11111);
  await test.append(22222);
  const waiting = [test.append(33333), test.append(44444)];
  await turn();
  deepStrictEqual(test.durable, [11111, 22222]);
  for (const closed of await test.journal.close()) await test.journal.delete(closed);
  await Promise.all(waiting);
  deepStrictEqual(test.durable, [11111, 22222, 33333, 44444]);
});

Deno.test("Journal append() waits for room for 30 s, and then refuses [SM0 commit-fails]", async () => {
  await using test = await setUp({ backlogBytesMax: 1 });
  await test.append(1);
  const refused: unknown[] = [];
  const waiting = test.append(2).catch((error) => void refused.push(error));
  await test.clock.advance(29_999);
  strictEqual(refused.length, 0);
  await test.clock.advance(1);
  await waiting;
  ok(refused[0] instanceof StorageFull);
  strictEqual(test.clock.pending, 0);
  deepStrictEqual(test.durable, [1]);
});

Deno.test("Journal append() refuses at once when the last checkpoint failed and no room is left [SM0 commit-fails]", async () => {
  await using test = await setUp({ backlogBytesMax: 10 });
  test.journal.checkpointed("not all");
  await test.append(11111); // there is room
  await test.append(22222);
  await rejects(test.append(33333), StorageFull);
  test.journal.checkpointed("all");
  const waiting = test.append(44444);
  await turn();
  test.journal.checkpointed("not all");
  await rejects(waiting, StorageFull);
  for (const closed of await test.journal.close()) await test.journal.delete(closed);
  await test.append(55555);
  deepStrictEqual([test.durable, test.clock.pending], [[11111, 22222, 55555], 0]);
});

Deno.test("Journal refuses what waits when it is disposed of, and does not hang [DM6 back-pressure]", async () => {
  await using test = await setUp({ backlogBytesMax: 1 });
  await test.append(1);
  const waiting = test.append(2);
  await turn();
  await test.journal[Symbol.asyncDispose]();
  await rejects(waiting, StorageFull);
  await rejects(test.append(3), StorageFull);
});

Deno.test("Journal close() gives nothing new when nothing was appended, and again what was not deleted", async () => {
  await using test = await setUp();
  deepStrictEqual(await test.journal.close(), []);
  await test.append(1);
  const [closed] = await test.journal.close();
  deepStrictEqual(await test.journal.close(), [closed]);
  await test.journal.delete(closed!);
  deepStrictEqual([await test.journal.close(), test.files()], [[], []]);
});

Deno.test("Journal close() between two batches, under steady load [DM6 checkpoint]", async () => {
  await using test = await setUp();
  await test.append(1);
  const gate = Promise.withResolvers<void>();
  test.disk.rule({ on: "write", times: 1, until: gate.promise });
  const second = test.append(2);
  await turn();
  const third = test.append(3);
  const closing = test.journal.close();
  gate.resolve();
  const closed = await closing;
  await Promise.all([second, third]);
  deepStrictEqual(closed.map(({ ids }) => [...ids]), [[sampleId(1), sampleId(2)]]);
  deepStrictEqual(test.lines(2), ["3"]);
});

Deno.test("Journal numbers go on from those that were there", async () => {
  await using test = await setUp({ lastNumber: 41 });
  await test.append(1);
  deepStrictEqual(test.files(), ["journal-42.jsonl"]);
});

const names: readonly (readonly [string, { number: number; isBad: boolean } | undefined])[] = [
  ["journal-1.jsonl", { number: 1, isBad: false }],
  ["journal-0042.jsonl", { number: 42, isBad: false }],
  ["journal-3.jsonl.bad", { number: 3, isBad: true }],
  ["journal-.jsonl", undefined],
  ["journal-1.json", undefined],
  ["xjournal-1.jsonl", undefined],
  ["journal-1.jsonl.tmp", undefined],
  ["journal-1234567890123456.jsonl", undefined],
];
for (const [name, number] of names) {
  Deno.test(`journalNumber() reads ${name}`, () => deepStrictEqual(journalNumber(name), number));
}
