import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { systemRandom } from "@/random.ts";
import { systemClock } from "@/time/clock.ts";
import { createFaultyDisk, type DiskOperation } from "@tests/fakes/faulty_disk.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { isTemporaryName, temporaryPath } from "./atomic_write.ts";
import { createDisk } from "./disk.ts";
import { sha256Hex } from "./sha256.ts";
import { writeStream } from "./stream_write.ts";

Deno.test("writeStream() writes a 0600 file piece by piece, flushes it and gives it its name, in this order [DM0 write-A]", async () => {
  await using test = await makeTest();
  const written = await test.write(["ab", "", "cde"]);
  deepStrictEqual(written, { bytes: 5, sha256: sha256Hex("abcde") });
  const operations = test.disk.log.map((line) => line.split(" ")[0]);
  deepStrictEqual(operations, ["createNew", "write", "write", "write", "flush", "rename"]);
  deepStrictEqual(await test.files(), { "a.bin": "abcde" });
  strictEqual((await Deno.stat(`${test.folder}/a.bin`)).mode! & 0o777, 0o600);
});

Deno.test("writeStream() writes an empty file, and knows no limit with Infinity", async () => {
  await using test = await makeTest();
  deepStrictEqual(await test.write([], Infinity), { bytes: 0, sha256: sha256Hex("") });
  deepStrictEqual(await test.files(), { "a.bin": "" });
});

Deno.test("writeStream() keeps what is just at its limit, and nothing of what is over it; then it reads no more", async () => {
  await using test = await makeTest();
  strictEqual(await test.write(["abc", "d", "never read"], 3), "too large");
  deepStrictEqual([await test.files(), test.read, test.isLeft], [{}, ["abc", "d"], true]);
  deepStrictEqual(await test.write(["abc"], 3), { bytes: 3, sha256: sha256Hex("abc") });
});

for (const on of ["createNew", "write", "flush", "rename"] as const satisfies readonly DiskOperation[]) {
  Deno.test(`writeStream() leaves nothing when ${on} fails, and rejects with its error`, async () => {
    await using test = await makeTest();
    test.disk.rule({ on, code: "ENOSPC" });
    await rejects(test.write(["abc"]), { code: "ENOSPC" });
    deepStrictEqual(await test.files(), {});
  });
}

Deno.test("writeStream() leaves nothing when its source breaks, or its name may not be", async () => {
  await using test = await makeTest();
  await rejects(test.write(["abc", new Error("broken")]), /broken/);
  const pathOf = () => {
    throw new Error("not there");
  };
  await rejects(test.write(["abc"], 10, pathOf), /not there/);
  deepStrictEqual(await test.files(), {});
});

Deno.test("writeStream() stopped in the middle leaves what a start sweeps, and only that [DM0 tmp-removed]", async () => {
  await using test = await makeTest();
  const stopped = Promise.withResolvers<void>();
  test.disk.rule({ on: "flush", until: stopped.promise });
  const writing = test.write(["abc"]);
  while (!test.disk.log.some((line) => line.startsWith("flush"))) await test.disk.realPath(test.folder);
  deepStrictEqual(Object.keys(await test.files()).map((name) => isTemporaryName(name, ["a.bin"])), [true]);
  stopped.resolve();
  await writing;
});

async function makeTest() {
  const temp = await makeTempFolder();
  const disk = createFaultyDisk(createDisk(systemClock));
  const path = `${temp.path}/a.bin`;
  const read: string[] = [];
  const test = {
    ...{ disk, read, folder: temp.path, isLeft: false },
    write: (pieces: readonly (string | Error)[], bytesMax = 10, pathOf = () => path) =>
      writeStream(disk, temporaryPath(path, systemRandom), { bytes: source(pieces), bytesMax, pathOf }),
    async files(): Promise<Record<string, string>> {
      const entries = await Array.fromAsync(Deno.readDir(temp.path));
      const texts = entries.map(async ({ name }) => [name, await Deno.readTextFile(`${temp.path}/${name}`)]);
      return Object.fromEntries(await Promise.all(texts));
    },
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
  async function* source(pieces: readonly (string | Error)[]) {
    try {
      for (const piece of pieces) {
        if (piece instanceof Error) throw piece;
        read.push(piece);
        yield new TextEncoder().encode(piece);
      }
    } finally {
      test.isLeft = true;
    }
  }
  return test;
}
