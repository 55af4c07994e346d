import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { systemRandom } from "@/random.ts";
import { systemClock } from "@/time/clock.ts";
import { createFaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { addAgent, removeAgent } from "./agents_editor.ts";
import { addCaller, addLocalCaller, type CallersEditing, removeCaller, rotateCaller } from "./callers_editor.ts";
import { acceptsKey, CallersFile } from "./callers_file.ts";
import { createDisk } from "./disk.ts";
import { hashKey } from "./key_hash.ts";

const disk = createDisk(systemClock);

async function makeFiles(content?: string) {
  const folder = await makeTempFolder();
  const a2a = `${folder.path}/.volcanic/a2a`;
  const path = `${a2a}/callers.json`;
  if (content !== undefined) {
    await Deno.mkdir(a2a, { recursive: true });
    await Deno.writeTextFile(path, content);
  }
  const clock = createTestClock();
  const file: CallersEditing = { disk, random: systemRandom, clock, path, lock: `${a2a}/edit.lock` };
  const json = async () => JSON.parse(await Deno.readTextFile(path));
  const read = () => new CallersFile({ disk, clock, path }).read();
  return { file, clock, path, json, read, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

Deno.test("addCaller() gives the key once, stores its hash and hint, and makes what is missing [§3 callers-add]", async () => {
  await using files = await makeFiles();
  const made = await addCaller(files.file, { name: "bot", note: "for trips" });
  ok(made.kind === "made");
  const key = made.key.reveal();
  match(key, /^k_[0-9a-f]{64}$/);
  deepStrictEqual(await files.json(), [{
    name: "bot",
    note: "for trips",
    keyHash: hashKey(key),
    keyHint: key.slice(-4),
  }]);
  const text = await Deno.readTextFile(files.path);
  strictEqual(text.includes(key), false);
  ok(text.startsWith('[\n  {\n    "name"') && text.endsWith("]\n"));
  strictEqual((await Deno.stat(files.path)).mode! & 0o777, 0o600);
  ok(acceptsKey(files.read().callers[0]!, hashKey(key), files.clock.now()));
});

Deno.test("addCaller() keeps other entries and their unknown fields as they are, bad ones too [DM0 unknown-fields-kept]", async () => {
  const before = [{ name: "old", key: "k", custom: { deep: [1] } }, { name: "BAD" }, "odd"];
  await using files = await makeFiles(JSON.stringify(before));
  strictEqual((await addCaller(files.file, { name: "new", limits: { contexts: 3 } })).kind, "made");
  const after = await files.json();
  deepStrictEqual(after.slice(0, 3), before);
  deepStrictEqual([after.length, after[3].limits], [4, { contexts: 3 }]);
});

const refusals: readonly { name: string; caller: { name: string } & Record<string, unknown>; why: RegExp }[] = [
  { name: "a name that is taken", caller: { name: "old" }, why: /name is taken/ },
  { name: "a name that a bad entry has", caller: { name: "bad" }, why: /name is taken/ },
  { name: "a bad name", caller: { name: "No Good" }, why: /"name" must be/ },
  { name: "a reserved name", caller: { name: "owner" }, why: /reserved/ },
  { name: "a field that is wrong", caller: { name: "x", access: "all" }, why: /"access" must be/ },
  { name: "a key of its own", caller: { name: "x", key: "k_mine" }, why: /exactly one/ },
];

for (const { name, caller, why } of refusals) {
  Deno.test(`addCaller() refuses ${name} and leaves the file alone [§3 callers-add]`, async () => {
    const before = '[{"name":"old","key":"k"}, {"name":"bad","mode":"?"}]';
    await using files = await makeFiles(before);
    const refused = await addCaller(files.file, caller);
    ok(refused.kind === "refused");
    match(refused.why, why);
    strictEqual(await Deno.readTextFile(files.path), before);
  });
}

for (const content of ["", '[{"name":', "{}"]) {
  Deno.test(`no edit writes over a malformed file: ${JSON.stringify(content)} [§4]`, async () => {
    await using files = await makeFiles(content);
    const { file } = files;
    const edits = [
      await addCaller(file, { name: "x" }),
      await addLocalCaller(file, { name: "x", workspace: "y" }),
      await rotateCaller(file, "x"),
      await removeCaller(file, "x"),
      await addAgent(file, { name: "x", url: "https://x.example" }),
      await removeAgent(file, "x"),
    ];
    for (const edit of edits) ok(edit.kind === "refused" && edit.why.includes("repair the file first"));
    strictEqual(await Deno.readTextFile(files.path), content);
  });
}

Deno.test("rotateCaller() ends the old key at once, or after the overlap it is given [§3 callers-rotate]", async () => {
  await using files = await makeFiles('[{"name":"x","key":"k_clear","note":"n","custom":1}]');
  const { clock } = files;
  const first = await rotateCaller(files.file, "x", { overlapMs: 60_000 });
  ok(first.kind === "made");
  const [entry] = await files.json();
  deepStrictEqual(entry, {
    ...{ name: "x", note: "n", custom: 1, keyHash: hashKey(first.key.reveal()), keyHint: first.key.hint() },
    ...{ previousKeyHash: hashKey("k_clear"), previousUntil: "2026-10-08T12:01:00.000Z" },
  });
  const accepts = (key: string) => acceptsKey(files.read().callers[0]!, hashKey(key), clock.now());
  deepStrictEqual([accepts("k_clear"), accepts(first.key.reveal())], [true, true]);
  clock.jump(60_000);
  strictEqual(accepts("k_clear"), false);
  const second = await rotateCaller(files.file, "x");
  ok(second.kind === "made");
  deepStrictEqual([accepts(first.key.reveal()), accepts(second.key.reveal())], [false, true]);
  strictEqual("previousKeyHash" in (await files.json())[0], false);
});

Deno.test("rotateCaller() refuses who is unknown, local, or there twice", async () => {
  await using files = await makeFiles('[{"name":"l","workspace":"w"},{"name":"d","key":"1"},{"name":"d","key":"2"}]');
  for (const name of ["none", "l", "d"]) strictEqual((await rotateCaller(files.file, name)).kind, "refused", name);
});

Deno.test("removeCaller() removes all entries of the name, so that no second key takes over [§3 callers-remove]", async () => {
  await using files = await makeFiles('[{"name":"d","key":"1"},{"name":"e","key":"3"},{"name":"d","key":"2"}]');
  deepStrictEqual(await removeCaller(files.file, "d"), { kind: "removed" });
  deepStrictEqual(await files.json(), [{ name: "e", key: "3" }]);
  strictEqual((await removeCaller(files.file, "d")).kind, "refused");
});

Deno.test("addLocalCaller() lets a workspace in once [§12]", async () => {
  await using files = await makeFiles();
  deepStrictEqual(await addLocalCaller(files.file, { name: "x", workspace: "w" }), { kind: "added" });
  deepStrictEqual(files.read().callers.map(({ caller }) => caller as string), ["@w"]);
  strictEqual((await addLocalCaller(files.file, { name: "y", workspace: "w" })).kind, "refused");
  strictEqual((await addLocalCaller(files.file, { name: "x", workspace: "v" })).kind, "refused");
});

Deno.test("edits at once all hold [§4 shared-files-locked]", async () => {
  await using files = await makeFiles();
  await Promise.all(Array.from({ length: 30 }, (_, index) => addCaller(files.file, { name: `bot-${index}` })));
  strictEqual(files.read().callers.length, 30);
});

Deno.test("an edit that the disk fails leaves the file as it was, and one of a full file is refused", async () => {
  await using files = await makeFiles('[{"name":"x","key":"k"}]');
  const faulty = createFaultyDisk(disk);
  faulty.rule({ on: "flush", code: "ENOSPC" });
  const failed = await addCaller({ ...files.file, disk: faulty }, { name: "y" }).catch((error) => error.code);
  strictEqual(failed, "ENOSPC");
  deepStrictEqual(await files.json(), [{ name: "x", key: "k" }]);
  const full = JSON.stringify(Array.from({ length: 1000 }, (_, index) => ({ name: `c${index}`, key: "k" })));
  await Deno.writeTextFile(files.path, full);
  strictEqual((await addCaller(files.file, { name: "y" })).kind, "refused");
  strictEqual(await Deno.readTextFile(files.path), full);
});

Deno.test("an edit goes through a link of the owner's, and keeps it", async () => {
  await using files = await makeFiles("[]");
  await Deno.rename(files.path, `${files.path}.real`);
  await Deno.symlink("callers.json.real", files.path);
  strictEqual((await addCaller(files.file, { name: "x" })).kind, "made");
  ok((await Deno.lstat(files.path)).isSymlink);
  strictEqual(JSON.parse(await Deno.readTextFile(`${files.path}.real`)).length, 1);
});
