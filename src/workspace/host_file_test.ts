import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { systemRandom } from "@/random.ts";
import { systemClock, type TimeMs } from "@/time/clock.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createDisk } from "./disk.ts";
import { beginEpoch, fenceBase, readHost, writeHost } from "./host_file.ts";

const disk = createDisk(systemClock);
const now = Date.parse("2026-10-08T12:00:00.000Z") as TimeMs;
const start = { random: systemRandom, now, pid: 42, version: "0.1.0" };

Deno.test("beginEpoch() counts starts, and each one's fences are above all earlier ones [DM10 epoch]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/host.json`;
  deepStrictEqual(await readHost(disk, path), { kind: "none" });
  const host = {
    v: 1,
    format: 1,
    epoch: 1,
    pid: 42,
    startedAt: "2026-10-08T12:00:00.000Z",
    version: "0.1.0",
    control: null,
  };
  deepStrictEqual(await beginEpoch(disk, path, start), { kind: "begun", host, fenceBase: 2 ** 26 });
  deepStrictEqual(await readHost(disk, path), { kind: "host", host });
  const second = await beginEpoch(disk, path, { ...start, pid: 43 });
  ok(second.kind === "begun");
  deepStrictEqual([second.host.epoch, second.host.pid, second.fenceBase], [2, 43, 2 ** 27]);
  const third = await beginEpoch(disk, path, { ...start, epochMin: 9 });
  ok(third.kind === "begun");
  strictEqual(third.host.epoch, 10);
});

Deno.test("writeHost() adds the address for control, and the holder's pid stays readable [DM10 shape]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/host.json`;
  const begun = await beginEpoch(disk, path, start);
  ok(begun.kind === "begun");
  await writeHost(disk, path, {
    host: { ...begun.host, control: { url: "http://127.0.0.1:5100" } },
    random: systemRandom,
  });
  const read = await readHost(disk, path);
  ok(read.kind === "host");
  deepStrictEqual([read.host.pid, read.host.control], [42, { url: "http://127.0.0.1:5100" }]);
});

for (const text of ['{"v":1,"format":2,"what":"ever"}', '{"v":2,"format":1}', '{"format":7}']) {
  Deno.test(`beginEpoch() leaves a folder of a newer format as it is: ${text} [DM0 newer-format]`, async () => {
    await using folder = await makeTempFolder();
    const path = `${folder.path}/host.json`;
    await Deno.writeTextFile(path, text);
    strictEqual((await beginEpoch(disk, path, start)).kind, "newer");
    strictEqual(await Deno.readTextFile(path), text);
    deepStrictEqual(await Array.fromAsync(Deno.readDir(folder.path), ({ name }) => name), ["host.json"]);
  });
}

for (const text of ["", "{", "[]", '{"v":1,"format":1}', '{"v":1,"format":1,"epoch":-3,"pid":1}', '{"format":"1"}']) {
  Deno.test(`beginEpoch() after a malformed file only goes up: ${JSON.stringify(text)} [DM10]`, async () => {
    await using folder = await makeTempFolder();
    const path = `${folder.path}/host.json`;
    await Deno.writeTextFile(path, text);
    deepStrictEqual(await readHost(disk, path), { kind: "malformed" });
    const begun = await beginEpoch(disk, path, start);
    ok(begun.kind === "begun");
    ok(begun.host.epoch > 1_000_000 && Number.isSafeInteger(fenceBase(begun.host.epoch + 1)));
    const next = await beginEpoch(disk, path, start);
    ok(next.kind === "begun" && next.host.epoch === begun.host.epoch + 1);
  });
}
