import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { systemRandom } from "@/random.ts";
import { systemClock } from "@/time/clock.ts";
import { createFaultyDisk, type DiskOperation } from "@tests/fakes/faulty_disk.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { isTemporaryName, sweepTemporary, writeAtomically } from "./atomic_write.ts";
import { createDisk } from "./disk.ts";
import { makeOwnedFolder } from "./owned_folder.ts";

const random = systemRandom;

async function names(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder), ({ name }) => name)).sort();
}

Deno.test("writeAtomically() writes a new 0600 file, flushes it, renames it and syncs the folder, in this order [DM0 write-A, §4 key-files-private]", async () => {
  await using folder = await makeTempFolder();
  const disk = createFaultyDisk(createDisk(systemClock));
  await writeAtomically(disk, `${folder.path}/a.json`, { text: "é\n", random });
  deepStrictEqual(disk.log.map((line) => line.split(" ")[0]), ["createNew", "write", "flush", "rename", "syncFolder"]);
  strictEqual(await Deno.readTextFile(`${folder.path}/a.json`), "é\n");
  strictEqual((await Deno.stat(`${folder.path}/a.json`)).mode! & 0o777, 0o600);
  deepStrictEqual(await names(folder.path), ["a.json"]);
});

const steps: readonly { on: DiskOperation; after: "old" | "new" }[] = [
  { on: "createNew", after: "old" },
  { on: "write", after: "old" },
  { on: "flush", after: "old" },
  { on: "rename", after: "old" },
  { on: "syncFolder", after: "new" },
];

for (const { on, after } of steps) {
  Deno.test(`writeAtomically() leaves the ${after} content and no rest when ${on} fails, and rejects with its error [DM0 write-A]`, async () => {
    await using folder = await makeTempFolder();
    const path = `${folder.path}/a.json`;
    await Deno.writeTextFile(path, "old");
    const disk = createFaultyDisk(createDisk(systemClock));
    disk.rule({ on, code: "ENOSPC" });
    await rejects(writeAtomically(disk, path, { text: "new", random }), { code: "ENOSPC" });
    strictEqual(await Deno.readTextFile(path), after);
    deepStrictEqual(await names(folder.path), ["a.json"]);
  });

  Deno.test(`writeAtomically() stopped at ${on} for ever leaves the old or the new content, whole [DM0 write-A, §4 atomic-writes]`, async () => {
    await using folder = await makeTempFolder();
    const path = `${folder.path}/a.json`;
    await Deno.writeTextFile(path, "old");
    const disk = createFaultyDisk(createDisk(systemClock));
    const gate = Promise.withResolvers<void>();
    disk.rule({ on, until: gate.promise });
    const write = writeAtomically(disk, path, { text: "new", random });
    while (!disk.log.some((line) => line.startsWith(`${on} `))) await disk.realPath(folder.path);
    strictEqual(await Deno.readTextFile(path), after === "old" ? "old" : "new"); // what a crash here would leave
    for (const name of await names(folder.path)) strictEqual(name === "a.json" || isTemporaryName(name), true, name);
    gate.resolve();
    await write;
    strictEqual(await Deno.readTextFile(path), "new");
  });
}

Deno.test("writeAtomically() rejects with the first error when its rest cannot be removed either", async () => {
  await using folder = await makeTempFolder();
  const disk = createFaultyDisk(createDisk(systemClock));
  disk.rule({ on: "write", code: "ENOSPC" });
  disk.rule({ on: "remove", code: "EIO" });
  await rejects(writeAtomically(disk, `${folder.path}/a`, { text: "new", random }), { code: "ENOSPC" });
  strictEqual(await sweepTemporary(createDisk(systemClock), folder.path), 1);
  deepStrictEqual(await names(folder.path), []);
});

Deno.test("writeAtomically() replaces a link and never writes through it", async () => {
  await using folder = await makeTempFolder();
  await Deno.writeTextFile(`${folder.path}/other`, "theirs");
  await Deno.symlink("other", `${folder.path}/a`);
  await writeAtomically(createDisk(systemClock), `${folder.path}/a`, { bytes: new Uint8Array([65]), random });
  strictEqual(await Deno.readTextFile(`${folder.path}/other`), "theirs");
  strictEqual(await Deno.readTextFile(`${folder.path}/a`), "A");
});

Deno.test("sweepTemporary() removes what crashes left and nothing else [DM0 write-A]", async () => {
  await using folder = await makeTempFolder();
  const keep = ["a.json", "a.tmp", "a.0123456.tmp", "a.0123456g.tmp", ".01234567.tmp", "a.01234567.tmp.json"];
  for (const name of [...keep, "a.json.01234567.tmp", "b.deadbeef.tmp"]) {
    await Deno.writeTextFile(`${folder.path}/${name}`, "");
  }
  await Deno.mkdir(`${folder.path}/folder.01234567.tmp`);
  strictEqual(await sweepTemporary(createDisk(systemClock), folder.path), 2);
  deepStrictEqual(await names(folder.path), [...keep, "folder.01234567.tmp"].sort());
  strictEqual(await sweepTemporary(createDisk(systemClock), `${folder.path}/none`), 0);
});

Deno.test({
  name:
    "writeAtomically() and makeOwnedFolder() as root give what they make to the owner of the folder [DM0 write-A, §4 files-belong-to-folder]",
  ignore: Deno.build.os === "windows" || Deno.uid() !== 0,
  fn: async () => {
    await using folder = await makeTempFolder();
    const disk = createDisk(systemClock);
    await Deno.chown(folder.path, 1234, 2345);
    await makeOwnedFolder(disk, `${folder.path}/.volcanic/a2a`);
    await writeAtomically(disk, `${folder.path}/.volcanic/a2a/a.json`, { text: "x", random });
    for (const path of [".volcanic", ".volcanic/a2a", ".volcanic/a2a/a.json"]) {
      const { owner, group } = disk.stampSync(`${folder.path}/${path}`)!;
      deepStrictEqual({ owner, group }, { owner: 1234, group: 2345 }, path);
    }
  },
});

Deno.test("makeOwnedFolder() is fine with a folder that is there, and says when a file is in the way", async () => {
  await using folder = await makeTempFolder();
  const disk = createDisk(systemClock);
  await makeOwnedFolder(disk, folder.path);
  await Deno.writeTextFile(`${folder.path}/file`, "");
  await rejects(makeOwnedFolder(disk, `${folder.path}/file`));
});
