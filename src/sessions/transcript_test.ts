import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { createFaultyDisk, type FaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk, isDiskFull } from "@/workspace/disk.ts";
import { FenceRefused, type TranscriptOptions, Transcripts } from "./transcript.ts";
import { charsKept, turnsKept } from "./turn_history.ts";

const scope = "ws-a2a-alice_c1";
const fields = { runId: "r1", taskId: "t1", from: "caller", text: "hello", files: [], hops: 0 } as const;

interface Place extends AsyncDisposable {
  readonly disk: FaultyDisk;
  readonly folder: string;
  readonly path: string;
  readonly transcripts: Transcripts;
  /** New, as after a restart. */
  restarted(fileBytesMax?: number): Transcripts;
  lines(part?: number): Promise<Record<string, unknown>[]>;
}

async function makePlace(fileBytesMax?: number): Promise<Place> {
  const temp = await makeTempFolder();
  const folder = `${temp.path}/sessions`;
  const disk = createFaultyDisk(createDisk(systemClock));
  const restarted = (max?: number) =>
    new Transcripts({ disk, clock: createTestClock(), folder, hostVersion: "0.1.0", fileBytesMax: max });
  return {
    disk,
    folder,
    path: `${folder}/${scope}.jsonl`,
    transcripts: restarted(fileBytesMax),
    restarted,
    async lines(part) {
      const text = await Deno.readTextFile(`${folder}/${scope}${part === undefined ? "" : `.${part}`}.jsonl`);
      ok(text.endsWith("\n"), "the file ends with a whole line");
      return text.trimEnd().split("\n").map((line) => JSON.parse(line));
    },
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

function opening(fence: number, more: Partial<TranscriptOptions> = {}): TranscriptOptions {
  return { scope, caller: "alice", contextId: "c1", engine: "faux", fence, ...more };
}

const kinds = (lines: readonly Record<string, unknown>[]) => lines.map(({ kind }) => kind);

Deno.test("Transcript writes the lines of the data model in order [DM7 lines]", async () => {
  await using place = await makePlace();
  const transcript = await place.transcripts.open(opening(5, { model: "m" }));
  await transcript.beginTurn({ ...fields, messageId: "m1", files: [{ path: "a", mediaType: "text/plain", bytes: 1 }] });
  await transcript.note({ role: "tool" });
  await transcript.endTurn({
    outcome: "asked",
    text: "Well.",
    question: "Which?",
    usage: { inputTokens: 1, outputTokens: 2 },
  });
  await transcript.add({ kind: "agent", sessionId: "s1", how: "new" });
  await transcript.add({ kind: "compact", upToTurn: 1, summary: "They met." });
  await transcript.close();
  const at = "2026-10-08T12:00:00.000Z";
  deepStrictEqual(await place.lines(), [
    {
      kind: "open",
      v: 1,
      at,
      scope,
      caller: "alice",
      contextId: "c1",
      engine: "faux",
      model: "m",
      fence: 5,
      hostVersion: "0.1.0",
    },
    {
      kind: "turn",
      at,
      turn: 1,
      ...fields,
      messageId: "m1",
      files: [{ path: "a", mediaType: "text/plain", bytes: 1 }],
    },
    { kind: "entry", at, turn: 1, body: { role: "tool" } },
    { kind: "ask", at, turn: 1, question: "Which?" },
    { kind: "end", at, turn: 1, outcome: "asked", usage: { inputTokens: 1, outputTokens: 2 }, text: "Well." },
    { kind: "agent", at, sessionId: "s1", how: "new" },
    { kind: "compact", at, upToTurn: 1, summary: "They met." },
  ]);
  strictEqual((await Deno.stat(place.path)).mode! & 0o777, 0o600);
});

Deno.test("Transcript flushes at a turn and at its end, not at entries [DM7 flushed]", async () => {
  await using place = await makePlace();
  const transcript = await place.transcripts.open(opening(1));
  const flushes = () => place.disk.log.filter((operation) => operation === `flush ${place.path}`).length;
  strictEqual(flushes(), 0);
  await transcript.beginTurn(fields);
  strictEqual(flushes(), 1);
  await transcript.note("x");
  strictEqual(flushes(), 1);
  await transcript.endTurn({ outcome: "answered", text: "hi" });
  strictEqual(flushes(), 2);
  await transcript.close();
});

Deno.test("Transcripts.open() gives the turns as they were before it was closed [§5.4 resume]", async () => {
  await using place = await makePlace();
  const first = await place.transcripts.open(opening(1));
  const long = "\ud83d\ude00 and more ".repeat(40_000); // cut in pieces, one of them within a surrogate pair
  await first.beginTurn({ ...fields, text: long });
  await first.note({ tool: "search" });
  await first.endTurn({ outcome: "answered", text: `${long}!` });
  await first.beginTurn({ ...fields, text: "" });
  await first.endTurn({ outcome: "asked", text: "Well.", question: "Which?" });
  await first.beginTurn({ ...fields, from: "delivery", taskId: undefined });
  await first.endTurn({ outcome: "failed", reason: "no" });
  await first.beginTurn({ ...fields, from: "owner" });
  await first.endTurn({ outcome: "aborted" });
  await first.beginTurn(fields);
  await first.endTurn({ outcome: "answered", text: "" });
  const turns = [...first.turns];
  await first.close();
  deepStrictEqual(turns.map(({ outcome, reply }) => [outcome, reply]), [
    ["answered", `${long}!`],
    ["asked", "Which?"],
    ["failed", undefined],
    ["aborted", undefined],
    ["answered", ""],
  ]);
  deepStrictEqual(turns[0]!.entries, [{ tool: "search" }]);
  strictEqual(turns[0]!.text, long);

  const second = await place.restarted().open(opening(2));
  deepStrictEqual(second.turns, turns);
  await second.beginTurn(fields);
  await second.close();
  strictEqual((await place.lines()).at(-1)!.turn, 6);
  for (const line of (await Deno.readTextFile(place.path)).split("\n")) {
    ok(new TextEncoder().encode(line).length < 1024 * 1024);
  }
});

Deno.test("Transcripts.open() cuts a torn last line [DM7 torn-last-line]", async () => {
  await using place = await makePlace();
  const first = await place.transcripts.open(opening(1));
  await first.beginTurn(fields);
  await first.endTurn({ outcome: "answered", text: "hi" });
  await first.close();
  await Deno.writeTextFile(place.path, '{"kind":"turn","turn":2,"te', { append: true });
  const second = await place.restarted().open(opening(2));
  deepStrictEqual(second.turns.map(({ reply }) => reply), ["hi"]);
  await second.close();
  deepStrictEqual(kinds(await place.lines()), ["open", "turn", "end", "open"]);
});

Deno.test("Transcripts.open() closes a turn without an end as failed, server restarted [DM7 turn-without-end]", async () => {
  await using place = await makePlace();
  const first = await place.transcripts.open(opening(1));
  await first.beginTurn(fields);
  await first.note({ tool: "search" });
  await first.close(); // as a crash leaves it
  const second = await place.restarted().open(opening(2));
  deepStrictEqual(second.turns.map(({ outcome, entries }) => [outcome, entries]), [["failed", [{ tool: "search" }]]]);
  await second.close();
  const lines = await place.lines();
  deepStrictEqual(kinds(lines), ["open", "turn", "entry", "open", "end"]);
  deepStrictEqual([lines[4]!.turn, lines[4]!.outcome, lines[4]!.reason], [1, "failed", "server restarted"]);
  const third = await place.restarted().open(opening(3));
  strictEqual(third.turns.length, 1);
  await third.close();
});

Deno.test("Transcripts.open() leaves damaged lines out and keeps the others [SM4 closed]", async () => {
  await using place = await makePlace();
  const first = await place.transcripts.open(opening(1));
  await first.beginTurn(fields);
  await first.endTurn({ outcome: "answered", text: "hi" });
  await first.close();
  await Deno.writeTextFile(place.path, '\u0000\u0000\n{"kind":"end","turn":9,"outcome":"answered"}\n', {
    append: true,
  });
  const second = await place.restarted().open(opening(2));
  deepStrictEqual(second.turns.map(({ reply }) => reply), ["hi"]);
  await second.close();
});

for (const fence of [3, 5]) {
  Deno.test(`Transcripts.open() refuses fence ${fence} after 5 of the file [SM2 fence]`, async () => {
    await using place = await makePlace();
    const first = await place.transcripts.open(opening(5));
    await first.close();
    const before = await Deno.readTextFile(place.path);
    await rejects(place.restarted().open(opening(fence)), FenceRefused);
    strictEqual(await Deno.readTextFile(place.path), before);
    const next = await place.transcripts.open(opening(6)); // the refused one holds nothing
    await next.close();
  });

  Deno.test(`Transcripts.open() refuses fence ${fence} while 5 writes, and leaves it alone [SM2 fence]`, async () => {
    await using place = await makePlace();
    const first = await place.transcripts.open(opening(5));
    await rejects(place.transcripts.open(opening(fence)), FenceRefused);
    await first.beginTurn(fields);
    await first.close();
    deepStrictEqual(kinds(await place.lines()), ["open", "turn"]);
  });
}

Deno.test("Transcript refuses lines once a newer writer opens, after those it took before [SM2 fence]", async () => {
  await using place = await makePlace();
  const old = await place.transcripts.open(opening(5));
  await old.beginTurn(fields);
  const gate = Promise.withResolvers<void>();
  place.disk.rule({ on: "write", path: scope, until: gate.promise, times: 1 });
  const early = old.note("early");
  const opens = place.transcripts.open(opening(6));
  const late = old.note("late");
  await rejects(late, FenceRefused);
  gate.resolve();
  await early;
  const newer = await opens;
  await rejects(old.endTurn({ outcome: "answered", text: "x" }), FenceRefused);
  await newer.beginTurn(fields);
  await newer.close();
  await old.close();
  deepStrictEqual(kinds(await place.lines()), ["open", "turn", "entry", "open", "end", "turn"]);
});

Deno.test("Transcript.adopt() goes on with a newer lease and bars what is older [SM2 fence]", async () => {
  await using place = await makePlace();
  const transcript = await place.transcripts.open(opening(5));
  transcript.adopt(5);
  transcript.adopt(9);
  await rejects(place.transcripts.open(opening(8)), FenceRefused);
  await rejects(async () => await transcript.adopt(8), FenceRefused);
  const next = await place.transcripts.open(opening(10));
  await next.close();
});

Deno.test("Transcript.note() rejects outside of a turn, over 1 MiB and after close [DM7 entry]", async () => {
  await using place = await makePlace();
  const transcript = await place.transcripts.open(opening(1));
  await rejects(transcript.note("x"), RangeError);
  await transcript.beginTurn(fields);
  await rejects(transcript.note("x".repeat(1024 * 1024)), RangeError);
  await transcript.note("fits");
  await transcript.close();
  await rejects(transcript.note("x"), /it is closed/);
  deepStrictEqual(kinds(await place.lines()), ["open", "turn", "entry"]);
});

Deno.test("Transcript.endTurn() does nothing when no turn runs", async () => {
  await using place = await makePlace();
  const transcript = await place.transcripts.open(opening(1));
  await transcript.endTurn({ outcome: "failed" });
  await transcript.close();
  deepStrictEqual(kinds(await place.lines()), ["open"]);
});

Deno.test("Transcript scrubs before it writes, and remembers the scrubbed text [DM7 scrubbed]", async () => {
  await using place = await makePlace();
  const scrub = (text: string) => text.replaceAll("sk-1", "[key]");
  const transcript = await place.transcripts.open(opening(1, { scrub }));
  await transcript.beginTurn({ ...fields, text: "my sk-1" });
  await transcript.note({ out: ["sk-1"] });
  await transcript.endTurn({ outcome: "asked", text: "sk-1 here", question: "sk-1?", reason: "sk-1" });
  deepStrictEqual(transcript.turns[0]!.text, "my [key]");
  await transcript.close();
  ok(!(await Deno.readTextFile(place.path)).includes("sk-1"));
});

for (const code of ["ENOSPC", "EIO"]) {
  Deno.test(`Transcript rejects with ${code} and leaves nothing torn behind [DM0 write-J]`, async () => {
    await using place = await makePlace();
    const transcript = await place.transcripts.open(opening(1));
    await transcript.beginTurn(fields);
    place.disk.rule({ on: "write", path: scope, code, times: 1 });
    await rejects(
      transcript.endTurn({ outcome: "answered", text: "hi" }),
      (error) => isDiskFull(error) === (code === "ENOSPC"),
    );
    deepStrictEqual(kinds(await place.lines()), ["open", "turn"]);
    await transcript.endTurn({ outcome: "failed" }); // the disk has room again
    await transcript.close();
    deepStrictEqual(kinds(await place.lines()), ["open", "turn", "end"]);
  });
}

Deno.test("Transcripts.open() rejects when its line cannot be written, and can be tried again [DM0 write-J]", async () => {
  await using place = await makePlace();
  place.disk.rule({ on: "write", path: scope, code: "ENOSPC", times: 1 });
  await rejects(place.transcripts.open(opening(1)), (error) => isDiskFull(error));
  const transcript = await place.transcripts.open(opening(2));
  await transcript.close();
  deepStrictEqual(kinds(await place.lines()), ["open"]);
});

Deno.test("Transcripts.open() leaves a file of a newer version alone [DM0 newer-format]", async () => {
  await using place = await makePlace();
  await Deno.mkdir(place.folder);
  const line = '{"kind":"open","v":2,"fence":1}\n';
  await Deno.writeTextFile(place.path, line);
  await rejects(place.transcripts.open(opening(2)), /a newer version of this program wrote it/);
  strictEqual(await Deno.readTextFile(place.path), line);
});

Deno.test("Transcript goes on in a new file when one is full, and both are read [DM7 file-at-most-64-MiB]", async () => {
  await using place = await makePlace(2000);
  const transcript = await place.transcripts.open(opening(1));
  await transcript.beginTurn({ ...fields, text: "a".repeat(600) });
  await transcript.endTurn({ outcome: "answered", text: "b".repeat(600) });
  await transcript.add({ kind: "compact", upToTurn: 1, summary: "They met." });
  transcript.adopt(4);
  await transcript.beginTurn({ ...fields, text: "second" });
  await transcript.note("c".repeat(300));
  await transcript.endTurn({ outcome: "answered", text: "d".repeat(600) });
  await transcript.beginTurn({ ...fields, text: "third" });
  await transcript.endTurn({ outcome: "answered", text: "e".repeat(800) });
  const turns = [...transcript.turns];
  await transcript.close();
  deepStrictEqual(kinds(await place.lines(1)), ["open", "turn", "end", "compact", "turn"]);
  deepStrictEqual(kinds(await place.lines(2)), ["open", "compact", "turn", "entry", "end", "turn"]);
  const lines = await place.lines();
  deepStrictEqual(kinds(lines), ["open", "compact", "turn", "end"]);
  deepStrictEqual([lines[0]!.fence, lines[1]!.summary, lines[2]!.turn], [4, "They met.", 3]);
  for (const part of ["", ".1", ".2"]) ok((await Deno.stat(`${place.folder}/${scope}${part}.jsonl`)).size <= 2000);

  const again = await place.restarted(2000).open(opening(5));
  deepStrictEqual(again.turns, turns); // of the newest file and the one before; the first has its summary
  strictEqual(again.compact?.summary, "They met.");
  await again.close();
});

for (const on of ["rename", "openAppend", "write", "flush", "syncFolder"] as const) {
  Deno.test(`Transcript goes on with its new file where a failed ${on} left off [DM7 file-at-most-64-MiB]`, async () => {
    await using place = await makePlace(2000);
    const transcript = await place.transcripts.open(opening(1));
    await transcript.beginTurn({ ...fields, text: "a".repeat(1500) });
    const end = () => transcript.endTurn({ outcome: "answered", text: "b".repeat(300) });
    const rule = place.disk.rule({ on, code: "ENOSPC", path: place.folder });
    for (let round = 0; round < 3; round++) await rejects(end(), (error) => isDiskFull(error));
    rule.end();
    await end();
    const turns = [...transcript.turns];
    await transcript.close();
    for (const part of [1, undefined]) deepStrictEqual(kinds(await place.lines(part)).slice(0, 2), ["open", "turn"]);
    const again = await place.restarted(2000).open(opening(2));
    deepStrictEqual([again.turns, again.turns.length], [turns, 1]);
    await again.close();
  });
}

Deno.test("Transcripts.open() finds a conversation whose new file was not made before a crash [DM7 file-at-most-64-MiB]", async () => {
  await using place = await makePlace();
  const first = await place.transcripts.open(opening(7));
  await first.beginTurn(fields);
  await first.close();
  await Deno.rename(place.path, `${place.folder}/${scope}.1.jsonl`);
  await rejects(place.restarted().open(opening(7)), FenceRefused);
  const second = await place.restarted().open(opening(8));
  deepStrictEqual(second.turns.map(({ outcome }) => outcome), ["failed"]);
  await second.beginTurn(fields);
  await second.close();
  deepStrictEqual((await place.lines()).map(({ kind, turn }) => [kind, turn]), [["open", undefined], ["end", 1], [
    "turn",
    2,
  ]]);
});

Deno.test("Transcript keeps a bounded part of a long conversation in memory [DM7 file-at-most-64-MiB]", async () => {
  await using place = await makePlace();
  const first = await place.transcripts.open(opening(1));
  const turns = turnsKept + 50;
  for (let turn = 1; turn <= turns; turn++) {
    await first.beginTurn({ ...fields, text: `turn ${turn}` });
    await first.endTurn({ outcome: "answered", text: "ok" });
  }
  strictEqual(first.turns.length, turnsKept);
  strictEqual(first.turns.at(-1)!.text, `turn ${turns}`);
  const kept = [...first.turns];
  await first.close();
  const second = await place.restarted().open(opening(2));
  deepStrictEqual(second.turns, kept);
  const big = "x".repeat(1024 * 1024);
  for (let turn = 0; turn < 6; turn++) {
    await second.beginTurn({ ...fields, text: "big" });
    await second.endTurn({ outcome: "answered", text: big });
  }
  ok(second.turns.reduce((sum, { reply }) => sum + reply!.length, 0) <= charsKept);
  strictEqual(second.turns.length, 3);
  await second.beginTurn(fields);
  await second.endTurn({ outcome: "answered", text: big.repeat(6) });
  strictEqual(second.turns.length, 1); // the newest stays, whatever its size
  strictEqual(second.turns[0]!.reply!.length, big.length * 6);
  await second.close();
  match((await place.lines()).at(-1)!.kind as string, /end/);
});
