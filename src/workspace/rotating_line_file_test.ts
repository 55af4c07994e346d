import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { systemClock } from "@/time/clock.ts";
import { createFaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { createTestRandom } from "@tests/fakes/test_random.ts";
import { parseCallerName } from "@/protocol/ids.ts";
import { AuditFile, auditLine } from "./audit_file.ts";
import { cutText } from "./cut_text.ts";
import { createDisk } from "./disk.ts";
import { readLines } from "./line_reader.ts";
import { NotificationsFile } from "./notifications_file.ts";
import { rotatedPaths, RotatingLineFile } from "./rotating_line_file.ts";

const plain = createDisk(systemClock);
const values = async (path: string) => (await readLines(plain, path, { bytesMax: 1e9 })).values;

Deno.test("RotatingLineFile begins each file with its version, and keeps five full ones, newest first [DM8 rotated, DM9 rotated]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/new/audit.jsonl`;
  await using file = new RotatingLineFile({ disk: plain, path, bytesMax: 20 });
  for (let line = 1; line <= 9; line++) await file.append([`"line ${line}"`]);
  const kept = await Promise.all(rotatedPaths(path).map(values));
  deepStrictEqual(kept, [9, 8, 7, 6, 5, 4].map((line) => [{ v: 1 }, `line ${line}`]));
  deepStrictEqual(rotatedPaths(path)[1], `${folder.path}/new/audit.1.jsonl`);
  strictEqual((await Array.fromAsync(Deno.readDir(`${folder.path}/new`))).length, 6);
});

Deno.test("RotatingLineFile goes on with what is there, and writes a line over the limit all the same", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/audit.jsonl`;
  await Deno.writeTextFile(path, '{"v":1}\n1\n{"torn');
  {
    await using file = new RotatingLineFile({ disk: plain, path, bytesMax: 30 });
    await file.append(["2"]);
    await file.append([`"${"x".repeat(50)}"`]);
  }
  deepStrictEqual(await values(`${folder.path}/audit.1.jsonl`), [{ v: 1 }, 1, 2]);
  deepStrictEqual(await values(path), [{ v: 1 }, "x".repeat(50)]);
});

Deno.test("RotatingLineFile writes to the path, also after a person moved the file away", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/audit.jsonl`;
  await using file = new RotatingLineFile({ disk: plain, path });
  await file.append(["1"]);
  await Deno.rename(path, `${path}.old`);
  await file.append(["2"]);
  deepStrictEqual(await values(path), [{ v: 1 }, 2]);
});

Deno.test("RotatingLineFile loses at most the oldest file when a rename fails, and goes on [DM8 rotated]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/audit.jsonl`;
  const disk = createFaultyDisk(plain);
  await using file = new RotatingLineFile({ disk, path, bytesMax: 20 });
  for (let line = 1; line <= 6; line++) await file.append([`"line ${line}"`]);
  disk.rule({ on: "rename", path: "audit.3.jsonl", code: "EIO", times: 1 });
  await rejects(file.append(['"line 7"']), { code: "EIO" });
  await file.append(['"line 8"']);
  const left = (await Promise.all(rotatedPaths(path).map(values))).flat().filter((value) => typeof value === "string");
  deepStrictEqual(left.toSorted(), [2, 3, 4, 5, 6, 8].map((line) => `line ${line}`));
});

Deno.test("NotificationsFile.append() resolves when the line is durable, with its id and time [DM9 durable-notice]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/notifications.jsonl`;
  const disk = createFaultyDisk(plain);
  await using file = new NotificationsFile({ disk, path, clock: createTestClock(), random: createTestRandom() });
  const line = await file.append({ kind: "notify", from: parseCallerName("bot"), text: "é".repeat(5000), taskId: "t" });
  deepStrictEqual(line, {
    ...{ id: "00000000-0000-4000-8000-000000000001", at: "2026-10-08T12:00:00.000Z", kind: "notify", from: "bot" },
    ...{ taskId: "t", contextId: undefined, text: "é".repeat(4096), sent: {} },
  });
  deepStrictEqual(disk.log.map((entry) => entry.split(" ")[0]).slice(-3), ["write", "flush", "syncFolder"]);
  await file.append({ id: line.id, kind: "notify", from: "host", text: "x\ny", sent: { command: "failed" } });
  const [version, first, second] = await values(path) as [unknown, { id: string }, { id: string; text: string }];
  deepStrictEqual([version, first.id === second.id, second.text], [{ v: 1 }, true, "x\ny"]);
  disk.rule({ on: "flush", code: "EIO" });
  await rejects(file.append({ kind: "host", from: "host", text: "lost" }), { code: "EIO" });
});

const entry = {
  op: "SendMessage",
  binding: "jsonrpc",
  caller: "bot",
  outcome: "ok",
  status: 200,
  ms: 3,
  in: 10,
  out: 20,
} as const;

Deno.test("AuditFile.append() returns at once; what waits is written at the close, together [DM8 best-effort]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/audit.jsonl`;
  const disk = createFaultyDisk(plain);
  {
    await using file = new AuditFile({ disk, path, clock: createTestClock() });
    for (let line = 0; line < 100; line++) file.append({ ...entry, ms: line });
  }
  const [version, first, ...others] = await values(path);
  deepStrictEqual([version, first], [{ v: 1 }, { at: "2026-10-08T12:00:00.000Z", ...entry, ms: 0 }]);
  strictEqual(others.length, 99);
  strictEqual(disk.log.filter((line) => line.startsWith("write ")).length, 1);
});

Deno.test("AuditFile.append() never fails, whatever the disk does, and writes again when it can [DM8 best-effort]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/audit.jsonl`;
  const clock = createTestClock();
  const disk = createFaultyDisk(plain, clock);
  await using file = new AuditFile({ disk, path, clock });
  const rule = disk.rule({ on: "openAppend", code: "ENOSPC" });
  file.append(entry);
  await clock.settle();
  rule.end();
  file.append({ ...entry, op: "GetTask" });
  await file[Symbol.asyncDispose]();
  file.append(entry);
  deepStrictEqual((await values(path)).length, 2);
});

Deno.test("auditLine() stays within 1 KiB, and keeps its time [DM8 line]", () => {
  const long = {
    ...entry,
    op: "\x00".repeat(5000),
    peer: "é".repeat(5000),
    version: "x".repeat(5000),
    asserted: "\u2028".repeat(999),
  };
  const line = auditLine("2026-10-08T12:00:00.000Z", long);
  ok(new TextEncoder().encode(line).length < 1024);
  match(line, /^\{"at":"2026-10-08T12:00:00\.000Z",/);
  strictEqual(JSON.parse(line).status, 200);
});

Deno.test("cutText() cuts between two characters [DM9 text]", () => {
  const cases: [string, number, string][] = [["abc", 3, "abc"], ["abc", 2, "ab"], ["é", 1, ""], ["aé", 2, "a"], [
    "😀b",
    4,
    "😀",
  ], ["😀b", 3, ""]];
  for (const [text, bytes, cut] of cases) strictEqual(cutText(text, bytes), cut);
});
