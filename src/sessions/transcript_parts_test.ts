import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { createFaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { TranscriptParts } from "./transcript_parts.ts";

async function makeFolder(names: readonly string[]) {
  const temp = await makeTempFolder();
  for (const name of names) await Deno.writeTextFile(`${temp.path}/${name}`, "");
  const disk = createFaultyDisk(createDisk(systemClock));
  const parts = new TranscriptParts({ disk, folder: temp.path });
  return { disk, parts, [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose]() };
}

Deno.test("TranscriptParts knows the newest number of each scope, gaps or not [DM7 file-at-most-64-MiB]", async () => {
  const names = ["a.jsonl", "a.2.jsonl", "a.10.jsonl", "b.jsonl", "a_c.3.jsonl", "d.1.jsonl.bad", "e.x.jsonl"];
  await using folder = await makeFolder(names);
  const newest = ["a", "b", "a_c", "d", "e", "never"].map((scope) => folder.parts.newest(scope));
  deepStrictEqual(await Promise.all(newest), [10, 0, 3, 0, 0, 0]);
});

Deno.test("TranscriptParts lists the folder once, however many ask, and counts on from there", async () => {
  await using folder = await makeFolder(["a.1.jsonl"]);
  await Promise.all(["a", "b", "c"].map((scope) => folder.parts.newest(scope)));
  await folder.parts.added("a", 2);
  strictEqual(await folder.parts.newest("a"), 2);
  strictEqual(folder.disk.log.filter((line) => line.startsWith("list")).length, 1);
});

Deno.test("TranscriptParts newest() rejects when the folder cannot be listed, and lists again for the next", async () => {
  await using folder = await makeFolder(["a.1.jsonl"]);
  folder.disk.rule({ on: "list", times: 1, code: "EIO" });
  await rejects(folder.parts.newest("a"), /EIO/);
  strictEqual(await folder.parts.newest("a"), 1);
});
