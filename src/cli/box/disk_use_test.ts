import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk, type Disk } from "@/workspace/disk.ts";
import { DiskUse } from "./disk_use.ts";

const real = createDisk(systemClock);

async function makeUse(list: Disk["list"] = real.list) {
  const temp = await makeTempFolder();
  await Deno.mkdir(join(temp.path, "deep/er"), { recursive: true });
  await Deno.writeTextFile(join(temp.path, "deep/er/large"), "x".repeat(10_000));
  await Deno.writeTextFile(join(temp.path, "small"), "x");
  const clock = createTestClock();
  const use = new DiskUse({ disk: { ...real, list }, clock });
  return {
    clock,
    folder: temp.path,
    bytes: () => use.bytesIn([temp.path]),
    [Symbol.asyncDispose]: temp[Symbol.asyncDispose],
  };
}

Deno.test("DiskUse counts each file as a block at least, at most once in 1.5 s [§7 disk-quota]", async () => {
  await using made = await makeUse();
  const first = await made.bytes();
  strictEqual(first >= 10_000 + 4096, true);
  await Deno.writeTextFile(join(made.folder, "more"), "x".repeat(5_000));
  strictEqual(await made.bytes(), first);
  await made.clock.advance(1_500);
  strictEqual(await made.bytes(), first + 5_000);
});

const troubles = [
  { name: "is gone meanwhile", error: () => new Deno.errors.NotFound(), isFull: false },
  { name: "was locked by a program", error: () => new Deno.errors.PermissionDenied(), isFull: true },
  { name: "cannot be read", error: () => new Error("EIO"), isFull: true },
];

for (const { name, error, isFull } of troubles) {
  Deno.test(`DiskUse ${isFull ? "takes the disk for full" : "goes on"} when a folder ${name} [§7 disk-quota]`, async () => {
    await using made = await makeUse((path) => path.endsWith("er") ? Promise.reject(error()) : real.list(path));
    deepStrictEqual(await made.bytes() === Infinity, isFull);
  });
}
