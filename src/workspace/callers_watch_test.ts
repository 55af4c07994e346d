import { createFaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { deepStrictEqual } from "node:assert/strict";
import { systemClock } from "@/time/clock.ts";
import { CallersFile } from "./callers_file.ts";
import { CallersWatch } from "./callers_watch.ts";
import { createDisk } from "./disk.ts";

const alice = { name: "alice", key: "k-alice" };
const bob = { name: "bob", key: "k-bob" };

const rows: readonly {
  readonly id: string;
  readonly name: string;
  readonly files: unknown[];
  readonly gone: string[][];
}[] = [
  {
    id: "§5.2 expelled",
    name: "a caller that was removed, once",
    files: [[alice, bob], [bob], [bob]],
    gone: [[], ["alice"], []],
  },
  {
    id: "§5.2 expelled",
    name: "all of them, by an empty array",
    files: [[alice, bob], []],
    gone: [[], ["alice", "bob"]],
  },
  {
    id: "§5.2 expelled",
    name: "nobody for a file that is missing, and who is not in it when it comes back",
    files: [[alice, bob], undefined, [bob]],
    gone: [[], [], ["alice"]],
  },
  {
    id: "§5.2 expelled",
    name: "nobody for a file that is empty, cut or no array",
    files: [[alice], "", '[{"name": "al', "{}", [alice]],
    gone: [[], [], [], [], []],
  },
  {
    id: "§5.2 expelled",
    name: "nobody whose entry went bad, but who then goes with it",
    files: [[alice, bob], [{ ...alice, key: "" }, bob], [bob]],
    gone: [[], [], ["alice"]],
  },
  {
    id: "§5.2 expelled",
    name: "who has another name now",
    files: [[alice], [{ ...alice, name: "alicia" }]],
    gone: [[], ["alice"]],
  },
  { id: "§5.2 expelled", name: "nobody whose key is new", files: [[alice], [{ ...alice, key: "k2" }]], gone: [[], []] },
];

for (const { id, name, files, gone } of rows) {
  Deno.test(`CallersWatch finds ${name} [${id}]`, async () => {
    await using folder = await makeTempFolder();
    const clock = createTestClock();
    const path = `${folder.path}/callers.json`;
    const disk = createFaultyDisk(createDisk(systemClock), clock);
    const watch = new CallersWatch({ callers: new CallersFile({ disk, clock, path }), clock });
    const found: string[][] = [];
    for (const file of files) {
      if (file === undefined) await Deno.remove(path);
      else await Deno.writeTextFile(path, typeof file === "string" ? file : JSON.stringify(file));
      found.push([...watch.look().removed]);
    }
    deepStrictEqual(found, gone);
  });
}

Deno.test("CallersWatch names who expired at every look, and does not count it as removed [§5.2 expired-while-running]", async () => {
  await using folder = await makeTempFolder();
  const clock = createTestClock();
  const path = `${folder.path}/callers.json`;
  await Deno.writeTextFile(path, JSON.stringify([{ ...alice, expires: "2026-10-08T12:01:00Z" }, bob]));
  const disk = createFaultyDisk(createDisk(systemClock), clock);
  const watch = new CallersWatch({ callers: new CallersFile({ disk, clock, path }), clock });
  deepStrictEqual(watch.look(), { removed: [], expired: [] });
  await clock.advance(60_000);
  for (const _ of [1, 2]) deepStrictEqual(watch.look(), { removed: [], expired: ["alice"] });
});
