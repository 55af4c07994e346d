import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { alice } from "@tests/fakes/run_service_fixture.ts";
import { sampleId } from "@tests/fakes/sample_tasks.ts";
import { createFaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { createTestRandom } from "@tests/fakes/test_random.ts";
import type { PartJson } from "@/protocol/task.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { sha256Hex } from "@/workspace/sha256.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";
import { InputFiles, type StoredInput } from "./input_files.ts";

const task = { id: sampleId(1), caller: alice };
const folder = `inbox/alice/${task.id}`;

Deno.test("InputFiles.store() writes bytes and puts notes in their place, in order [DM11 per-caller]", async () => {
  await using setting = await makeInputs();
  const { message } = await setting.store([{ text: "see" }, file("a.txt", "AAA"), { data: 1 }]);
  const sha256 = sha256Hex(new TextEncoder().encode("AAA"));
  const path = `${folder}/a.txt`;
  deepStrictEqual(message.parts, [
    { text: "see" },
    { filename: "a.txt", mediaType: "text/plain", data: { "volcanic.file": { bytes: 3, sha256, path } } },
    { data: 1 },
  ]);
  strictEqual(await setting.read(path), "AAA");
  strictEqual(((await Deno.stat(`${setting.root}/${path}`)).mode ?? 0) & 0o777, 0o600);
});

Deno.test("InputFiles.store() touches no disk for a message without bytes", async () => {
  await using setting = await makeInputs();
  const parts = [{ text: "x" }, { url: "https://example.com/x" }, { data: { raw: "AAAA" } }];
  deepStrictEqual((await setting.store(parts)).message.parts, parts);
  deepStrictEqual(setting.disk.log, []);
});

Deno.test("InputFiles.store() makes files and the folders above durable before it resolves", async () => {
  await using setting = await makeInputs();
  await setting.store([file("a.txt", "AAA")]);
  const synced = setting.disk.log.filter((line) => line.startsWith("syncFolder ")).map((line) => line.slice(11));
  const expected = [folder, "inbox/alice", "inbox", ""].map((path) => `${setting.root}/${path}`.replace(/\/$/, ""));
  deepStrictEqual(synced, expected);
});

const names: readonly (readonly [filename: string | undefined, kept: string])[] = [
  ["../../.env", "env"],
  ["/etc/passwd", "passwd"],
  ["C:\\temp\\CON.txt", "_CON.txt"],
  ["a\u0000b\nc.txt", "a_b_c.txt"],
  [undefined, "file"],
  ["...", "file"],
];

for (const [filename, kept] of names) {
  Deno.test(`InputFiles.store() keeps ${JSON.stringify(filename)} as ${kept} [DM11 names-cleaned]`, async () => {
    await using setting = await makeInputs();
    await setting.store([file(filename, "x")]);
    deepStrictEqual(await setting.tree(), [`${folder}/${kept}`]);
  });
}

Deno.test("InputFiles.store() gives clashing names a number, those of earlier messages included", async () => {
  await using setting = await makeInputs();
  await setting.store([file("a.txt", "1"), file("A.TXT", "2")]);
  await setting.store([file("a.txt", "3")]);
  deepStrictEqual(await setting.tree(), [`${folder}/A-2.TXT`, `${folder}/a-3.txt`, `${folder}/a.txt`]);
  strictEqual(await setting.read(`${folder}/a-3.txt`), "3");
});

Deno.test("InputFiles.store() notes a file over the limit by its size and does not keep it [DM11 size-limit]", async () => {
  await using setting = await makeInputs();
  const { message } = await setting.store([file("big.bin", "x".repeat(1001)), file("fits.bin", "x".repeat(1000))]);
  deepStrictEqual(message.parts[0]?.data, { "volcanic.file": { bytes: 1001 } });
  deepStrictEqual(await setting.tree(), [`${folder}/fits.bin`]);
});

for (const on of ["createNew", "write", "flush", "rename", "syncFolder", "makeFolder"] as const) {
  Deno.test(`InputFiles.store() leaves nothing of a new task when ${on} finds the disk full`, async () => {
    await using setting = await makeInputs();
    const rule = setting.disk.rule({ on, path: on === "write" || on === "createNew" ? "b.txt" : "", code: "ENOSPC" });
    strictEqual(await setting.tryStore([file("a.txt", "A"), file("b.txt", "B")]), "storage full");
    rule.end();
    deepStrictEqual(await setting.tree(), []);
    strictEqual(await exists(`${setting.root}/${folder}`), false);
  });
}

Deno.test("InputFiles.store() rejects for a disk that fails otherwise, and leaves nothing", async () => {
  await using setting = await makeInputs();
  setting.disk.rule({ on: "write", path: "b.txt", code: "EIO" });
  await rejects(setting.tryStore([file("a.txt", "A"), file("b.txt", "B")]), /EIO/);
  strictEqual(await exists(`${setting.root}/${folder}`), false);
});

Deno.test("InputFiles.remove() takes a refused message's files away: all of a new task, else only its own", async () => {
  await using setting = await makeInputs();
  const first = await setting.store([file("a.txt", "1")]);
  await setting.inputs.remove(first.paths);
  strictEqual(await exists(`${setting.root}/${folder}`), false);
  await setting.store([file("a.txt", "1")]);
  const second = await setting.store([file("a.txt", "2"), file("b.txt", "2")]);
  await setting.inputs.remove(second.paths);
  deepStrictEqual(await setting.tree(), [`${folder}/a.txt`]);
  await setting.inputs.forget(task);
  strictEqual(await exists(`${setting.root}/${folder}`), false);
});

Deno.test("InputFiles.store() does not write through a link that stands where the folder should be [DM11 no-link]", async () => {
  await using setting = await makeInputs();
  await Deno.mkdir(`${setting.root}/inbox/alice`, { recursive: true });
  await Deno.mkdir(`${setting.root}/elsewhere`);
  await Deno.symlink(`${setting.root}/elsewhere`, `${setting.root}/${folder}`);
  await rejects(setting.tryStore([file("a.txt", "A")]), /it is a link/);
  deepStrictEqual(await setting.tree("elsewhere"), []);
});

Deno.test("InputFiles.withoutBytes() notes the sizes and keeps nothing", async () => {
  await using setting = await makeInputs();
  const parts = [{ text: "x" }, file("a.txt", "AAA")];
  const { parts: noted } = setting.inputs.withoutBytes({ messageId: "m", role: "ROLE_USER", parts });
  deepStrictEqual(noted, [
    { text: "x" },
    { filename: "a.txt", mediaType: "text/plain", data: { "volcanic.file": { bytes: 3 } } },
  ]);
  deepStrictEqual(setting.disk.log, []);
});

function file(filename: string | undefined, text: string): PartJson {
  return { raw: btoa(text), ...(filename !== undefined && { filename }) };
}

async function makeInputs() {
  const temp = await makeTempFolder();
  const clock = createTestClock();
  const disk = createFaultyDisk(createDisk(systemClock), clock);
  const paths = workspacePaths(temp.path);
  const inputs = new InputFiles({ disk, random: createTestRandom(), paths, fileBytesMax: 1000 });
  const tryStore = (parts: readonly PartJson[]) => inputs.store({ messageId: "m", role: "ROLE_USER", parts }, task);
  return {
    ...{ inputs, disk, tryStore, root: temp.path },
    async store(parts: readonly PartJson[]): Promise<StoredInput> {
      const stored = await tryStore(parts);
      if (stored === "storage full") throw new Error("Storage full");
      return stored;
    },
    read: (path: string) => Deno.readTextFile(`${temp.path}/${path}`),
    async tree(under = folder): Promise<string[]> {
      const found: string[] = [];
      if (!await exists(`${temp.path}/${under}`)) return found;
      for await (const { name } of Deno.readDir(`${temp.path}/${under}`)) found.push(`${under}/${name}`);
      return found.sort();
    },
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}
