import { deepStrictEqual, ok, rejects, strictEqual, throws } from "node:assert/strict";
import { systemClock } from "@/time/clock.ts";
import { createFaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createDisk } from "./disk.ts";
import { LineFile } from "./line_file.ts";
import { readLines } from "./line_reader.ts";

const plain = createDisk(systemClock);
const all = { bytesMax: 1e9 };

const torn: readonly { name: string; before: string; after: string }[] = [
  { name: "a whole file", before: "1\n2\n", after: "1\n2\n" },
  { name: "an empty file", before: "", after: "" },
  { name: "a torn last line", before: '1\n2\n{"a', after: "1\n2\n" },
  { name: "a file that is one torn line", before: '{"a', after: "" },
  { name: "a last line of zeros, as some file systems leave", before: "1\n\0\0\0", after: "1\n" },
  { name: "a torn line of 600 KiB", before: `1\n${"x".repeat(600 * 1024)}`, after: "1\n" },
];

for (const { name, before, after } of torn) {
  Deno.test(`LineFile.open() cuts ${name} back to its last LF and writes on from there [DM0 write-J]`, async () => {
    await using folder = await makeTempFolder();
    const path = `${folder.path}/a.jsonl`;
    await Deno.writeTextFile(path, before);
    const { file, cutBytes } = await LineFile.open(plain, path);
    using _file = file;
    strictEqual(cutBytes, before.length - after.length);
    strictEqual(file.bytes, after.length);
    await file.append(["3", "4"]);
    strictEqual(file.bytes, after.length + 4);
    strictEqual(await Deno.readTextFile(path), `${after}3\n4\n`);
  });
}

Deno.test("LineFile.open() makes a missing file with mode 0600, and refuses what is no regular file without waiting [DM0]", async () => {
  await using folder = await makeTempFolder();
  const { file } = await LineFile.open(plain, `${folder.path}/new.jsonl`);
  file[Symbol.dispose]();
  strictEqual((await Deno.stat(`${folder.path}/new.jsonl`)).mode! & 0o777, 0o600);
  await new Deno.Command("mkfifo", { args: [`${folder.path}/fifo`] }).output();
  for (const name of ["fifo", ""]) await rejects(LineFile.open(plain, `${folder.path}/${name}`), TypeError);
  await rejects(readLines(plain, `${folder.path}/fifo`, all), TypeError);
});

Deno.test("LineFile.append() writes whole lines in one write each, in the order of the calls [DM0 write-J]", async () => {
  await using folder = await makeTempFolder();
  const disk = createFaultyDisk(plain);
  const { file } = await LineFile.open(disk, `${folder.path}/a.jsonl`);
  using _file = file;
  await Promise.all([file.append(["1", "2"]), file.append(["3"]), file.flush(), file.append(["4"])]);
  deepStrictEqual(disk.log.map((line) => line.split(" ")[0]).slice(1), ["write", "write", "flush", "write"]);
  deepStrictEqual((await readLines(plain, `${folder.path}/a.jsonl`, all)).values, [1, 2, 3, 4]);
  throws(() => file.append(["a\nb"]), TypeError);
});

Deno.test("LineFile.append() that fails leaves nothing behind, and the next one goes on [DM0 write-J]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/a.jsonl`;
  const disk = createFaultyDisk(plain);
  const { file } = await LineFile.open(disk, path);
  using _file = file;
  await file.append(["1"]);
  disk.rule({ on: "write", code: "ENOSPC", times: 1 });
  const failed = file.append(['"a long line that is written by half"']);
  const next = file.append(["2"]);
  await rejects(failed, { code: "ENOSPC" });
  await next;
  strictEqual(await Deno.readTextFile(path), "1\n2\n");
  strictEqual(file.bytes, 4);
});

Deno.test("LineFile.append() rejects as long as a torn line cannot be cut off, and heals then [DM0 write-J]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/a.jsonl`;
  const disk = createFaultyDisk(plain);
  const { file } = await LineFile.open(disk, path);
  using _file = file;
  await file.append(["1"]);
  disk.rule({ on: "write", code: "ENOSPC", times: 1 });
  const noCut = disk.rule({ on: "truncate", code: "EIO" });
  await rejects(file.append(['"half"']), { code: "ENOSPC" });
  await rejects(file.append(["2"]), { code: "EIO" });
  ok((await Deno.readTextFile(path)).startsWith('1\n"h'));
  strictEqual((await readLines(plain, path, all)).tornBytes > 0, true);
  noCut.end();
  await file.append(["3"]);
  strictEqual(await Deno.readTextFile(path), "1\n3\n");
});

Deno.test("LineFile rejects writes after it was closed, and settle() waits for what was asked before", async () => {
  await using folder = await makeTempFolder();
  const { file } = await LineFile.open(plain, `${folder.path}/a.jsonl`);
  const write = file.append(["1"]);
  await file.settle();
  await write;
  file[Symbol.dispose]();
  await rejects(file.append(["2"]), TypeError);
  await rejects(file.flush(), TypeError);
});

Deno.test("readLines() counts bad lines, keeps the others and leaves a torn last line out [DM0 write-J]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/a.jsonl`;
  const before = new TextEncoder().encode('{"v":1}\nnot json\n\n"é"\n');
  await Deno.writeFile(path, new Uint8Array([...before, 34, 0xff, 34, 10, ...new TextEncoder().encode('2\n{"torn')]));
  const read = await readLines(plain, path, all);
  deepStrictEqual(read, { values: [{ v: 1 }, "é", 2], badLines: 3, tornBytes: 6, skippedBytes: 0 });
  deepStrictEqual(await readLines(plain, `${folder.path}/none`, all), {
    ...{ values: [], badLines: 0, tornBytes: 0, skippedBytes: 0 },
  });
});

Deno.test("readLines() of a file over its limit gives the newest whole lines [DM0 write-J]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/a.jsonl`;
  await Deno.writeTextFile(path, Array.from({ length: 100 }, (_, index) => `${100 + index}\n`).join(""));
  const cases = [{ bytesMax: 11, values: [198, 199] }, { bytesMax: 8, values: [198, 199] }, {
    bytesMax: 3,
    values: [],
  }];
  for (const { bytesMax, values } of cases) {
    const read = await readLines(plain, path, { bytesMax });
    deepStrictEqual(read.values, values);
    strictEqual(read.skippedBytes, 400 - values.length * 4);
  }
});

Deno.test("readLines() joins lines over the pieces it reads [DM0 write-J]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/a.jsonl`;
  const long = "é".repeat(300 * 1024);
  await Deno.writeTextFile(path, `${JSON.stringify(long)}\n1\n${JSON.stringify(long)}\n2\n`);
  const { values, badLines } = await readLines(plain, path, all);
  deepStrictEqual([values.length, badLines, values[1], values[2] === long], [4, 0, 1, true]);
});
