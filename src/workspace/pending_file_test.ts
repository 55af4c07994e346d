import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { systemRandom } from "@/random.ts";
import { systemClock } from "@/time/clock.ts";
import { createFaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { createDisk } from "./disk.ts";
import { PendingFile, pendingRecordsMax } from "./pending_file.ts";
import { type PendingRecord, readPendingRecord } from "./pending_records.ts";

const disk = createDisk(systemClock);
const writer = fileURLToPath(import.meta.resolve("@tests/processes/pending_writer.ts"));

async function makeFile(content?: string) {
  const folder = await makeTempFolder();
  const a2a = `${folder.path}/.volcanic/a2a`;
  const path = `${a2a}/pending.json`;
  await Deno.mkdir(a2a, { recursive: true });
  if (content !== undefined) await Deno.writeTextFile(path, content);
  const options = { disk, clock: createTestClock(), random: systemRandom, path, lock: `${a2a}/pending.lock` };
  const names = async () => (await Array.fromAsync(Deno.readDir(a2a), ({ name }) => name)).sort();
  return {
    file: new PendingFile(options),
    options,
    path,
    names,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

function record(number: number, change: Partial<PendingRecord> = {}): PendingRecord {
  return {
    watchId: `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`,
    ...{ target: "owner", agent: "bot", taskId: `task-${number}`, contextId: null, pushToken: null },
    startedAt: "2026-10-08T12:00:00.000Z",
    ...{ source: "poll" as const, undelivered: null },
    ...change,
  };
}

const put = (file: PendingFile, record: PendingRecord) => file.update(record.watchId, () => record);

Deno.test("readPendingRecord() reads 000's example: an offset, a chat as target, no fields of ours [seed 000 pending.json]", () => {
  const read = readPendingRecord({
    ...{ watchId: "3f0c2a00-0000-4000-8000-000000000000", target: "111111111", agent: "travel-bot", taskId: "5c1e" },
    ...{
      contextId: "7f20",
      pushToken: null,
      startedAt: "2026-10-08T14:00:00+02:00",
      source: "poll",
      undelivered: null,
    },
  });
  deepStrictEqual(read, {
    ...{ watchId: "3f0c2a00-0000-4000-8000-000000000000", target: "telegram:111111111", agent: "travel-bot" },
    ...{ taskId: "5c1e", contextId: "7f20", pushToken: null, startedAt: "2026-10-08T12:00:00.000Z", source: "poll" },
    undelivered: null,
  });
});

Deno.test("readPendingRecord() keeps every field of ours, and cuts a text over 60 KB [DM4 fields]", () => {
  const full = record(1, {
    ...{
      taskId: null,
      messageId: "m",
      origin: "https://x:443",
      hops: 2,
      attempts: 1,
      finishedAt: "2026-10-08T12:00:00.000Z",
    },
    ...{ target: "telegram:-5", pushToken: "a".repeat(64), undelivered: "text" },
  });
  deepStrictEqual(readPendingRecord(full), full);
  const long = readPendingRecord(record(1, { undelivered: "é".repeat(40_000) }));
  ok(!("why" in long) && long.undelivered === "é".repeat(30 * 1024));
});

const bad: readonly Record<string, unknown>[] = [
  { watchId: "../x" },
  { target: "" },
  { target: "workspace-a" },
  { target: 1.5 },
  { agent: "" },
  { agent: null },
  { taskId: null },
  { taskId: 5 },
  { pushToken: "short" },
  { startedAt: "yesterday" },
  { startedAt: null },
  { source: "magic" },
  { undelivered: 1 },
  { attempts: -1 },
  { hops: "1" },
];

for (const change of bad) {
  Deno.test(`PendingFile skips a record with ${JSON.stringify(change)}, and no update loses it [DM4]`, async () => {
    const odd = { ...record(1), ...change };
    await using pending = await makeFile(JSON.stringify([odd, record(2)]));
    const read = pending.file.read();
    deepStrictEqual([read.records, read.malformed, read.problems.length], [[record(2)], false, 1]);
    deepStrictEqual(await put(pending.file, record(3)), { kind: "updated" });
    deepStrictEqual(JSON.parse(await Deno.readTextFile(pending.path)), [odd, record(2), record(3)]);
  });
}

Deno.test("PendingFile.update() adds, changes and removes one record, and leaves the others as they are [DM4]", async () => {
  await using pending = await makeFile(JSON.stringify([{ ...record(1), custom: 1 }]));
  const { file } = pending;
  await put(file, record(2));
  await file.update(record(2).watchId, (before, others) => {
    deepStrictEqual([before, others], [record(2), [record(1)]]);
    return { ...before!, attempts: 1 };
  });
  deepStrictEqual(file.read().records, [record(1), record(2, { attempts: 1 })]);
  strictEqual(JSON.parse(await Deno.readTextFile(pending.path))[0].custom, 1);
  await file.update(record(1).watchId, () => undefined);
  deepStrictEqual(file.read().records, [record(2, { attempts: 1 })]);
  deepStrictEqual(await file.update(record(9).watchId, () => undefined), { kind: "updated" });
  strictEqual((await Deno.stat(pending.path)).mode! & 0o777, 0o600);
});

Deno.test("PendingFile.update() that changes nothing writes nothing", async () => {
  await using pending = await makeFile(JSON.stringify([record(1)]));
  const faulty = createFaultyDisk(disk);
  const file = new PendingFile({ ...pending.options, disk: faulty });
  await file.update(record(1).watchId, (before) => before);
  strictEqual(faulty.bytesWritten, 0);
});

Deno.test("PendingFile.update() holds 1,000 records, then is full, and still changes and removes [DM4, DM12]", async () => {
  const many = Array.from({ length: pendingRecordsMax }, (_, number) => record(number));
  await using pending = await makeFile(JSON.stringify(many));
  const { file } = pending;
  deepStrictEqual(await put(file, record(5000)), { kind: "full" });
  strictEqual(file.read().records.length, pendingRecordsMax);
  deepStrictEqual(await put(file, record(1, { undelivered: "x" })), { kind: "updated" });
  deepStrictEqual(await file.update(record(2).watchId, () => undefined), { kind: "updated" });
  deepStrictEqual(await put(file, record(5000)), { kind: "updated" });
});

Deno.test("PendingFile.update() never stores what the next reader could not read", async () => {
  await using pending = await makeFile("[]");
  await rejects(put(pending.file, record(1, { target: "nobody" })), RangeError);
  strictEqual(await Deno.readTextFile(pending.path), "[]");
});

for (const content of ["", "[{", "{}"]) {
  Deno.test(`PendingFile moves a malformed file aside under the lock, and reading it does not: ${JSON.stringify(content)} [DM4 malformed]`, async () => {
    await using pending = await makeFile(content);
    const { file, path } = pending;
    deepStrictEqual([file.read().malformed, file.read().records], [true, []]);
    deepStrictEqual(await pending.names(), ["pending.json"]);
    await file.repair();
    deepStrictEqual(await pending.names(), ["pending.json.bad-2026-10-08T12-00-00.000Z", "pending.lock"]);
    await put(file, record(1));
    deepStrictEqual(file.read().records, [record(1)]);
    strictEqual(await Deno.readTextFile(`${path}.bad-2026-10-08T12-00-00.000Z`), content);
  });
}

Deno.test("PendingFile.update() that the disk fails leaves the file as it was and gives the lock up", async () => {
  await using pending = await makeFile(JSON.stringify([record(1)]));
  const faulty = createFaultyDisk(disk);
  faulty.rule({ on: "rename", code: "EIO", times: 1 });
  const file = new PendingFile({ ...pending.options, disk: faulty });
  await rejects(put(file, record(2)), { code: "EIO" });
  deepStrictEqual(file.read().records, [record(1)]);
  deepStrictEqual(await put(file, record(2)), { kind: "updated" });
});

Deno.test("PendingFile.update() in one process at once loses nothing", async () => {
  await using pending = await makeFile();
  await Promise.all(Array.from({ length: 100 }, (_, number) => put(pending.file, record(number))));
  strictEqual(pending.file.read().records.length, 100);
});

Deno.test("two processes that make 150 updates each at once lose none [§4 shared-files-locked, DM4 no-lost-update]", async () => {
  await using pending = await makeFile();
  const { path, lock } = pending.options;
  const folder = path.slice(0, path.indexOf("/.volcanic"));
  const children = ["1", "2"].map((name) =>
    new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "--no-prompt", "--quiet", `--allow-read=${folder}`, `--allow-write=${folder}`],
        ...[writer, name, "150", path, lock],
      ],
      stderr: "piped",
      stdout: "piped",
    }).output()
  );
  for (const { success, stderr } of await Promise.all(children)) ok(success, new TextDecoder().decode(stderr));
  const { records } = pending.file.read();
  strictEqual(new Set(records.map(({ watchId }) => watchId)).size, 300);
  for (const { attempts, agent } of records) {
    strictEqual(attempts, 1); // each record was added, then changed
    match(agent, /^writer-[12]$/);
  }
  deepStrictEqual(await pending.names(), ["pending.json", "pending.lock"]);
});
