import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { createFaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { makePool } from "@tests/fakes/pool_setting.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { parseCallerName } from "@/protocol/ids.ts";
import { systemClock, type TimeMs } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { callerScope } from "./session_scope.ts";
import { sweepTranscripts } from "./transcript_sweep.ts";

const alice = parseCallerName("alice");
const before = Date.parse("2026-10-08T12:00:00.000Z") as TimeMs;
const ageOf = { old: new Date(before - 1000), young: new Date(before + 1000) };

/** A folder of files, and what a sweep over it did. */
async function sweep(
  files: Readonly<Record<string, keyof typeof ageOf>>,
  { tasks = [], open = [], code }: { tasks?: readonly string[]; open?: readonly string[]; code?: string } = {},
) {
  await using temp = await makeTempFolder();
  for (const [name, age] of Object.entries(files)) {
    await Deno.writeTextFile(`${temp.path}/${name}`, "");
    await Deno.utime(`${temp.path}/${name}`, ageOf[age], ageOf[age]);
  }
  const disk = createFaultyDisk(createDisk(systemClock));
  if (code !== undefined) disk.rule({ on: "remove", code, times: 1 });
  const order: string[] = [];
  const removed = await sweepTranscripts({
    disk,
    folder: temp.path,
    before,
    hasTasks: (caller, contextId) => Promise.resolve(caller === alice && tasks.includes(contextId)),
    sessions: {
      async removeTranscript(scope, names) {
        if (open.includes(scope)) return false;
        for (const name of names) {
          await disk.remove(`${temp.path}/${name}`);
          order.push(name);
        }
        return true;
      },
    },
  });
  return { removed, order, left: [...Deno.readDirSync(temp.path)].map(({ name }) => name).sort() };
}

const scope = callerScope(alice, "c1");

Deno.test("sweepTranscripts() removes all files of an old conversation, the newest last [§7 retention]", async () => {
  const parts = [`${scope}.jsonl`, `${scope}.10.jsonl`, `${scope}.2.jsonl`, `${scope}.1.jsonl`];
  const { removed, order, left } = await sweep(Object.fromEntries(parts.map((name) => [name, "old"])));
  deepStrictEqual([removed, left], [1, []]);
  deepStrictEqual(order, ["1.", "2.", "10.", ""].map((part) => `${scope}.${part}jsonl`));
});

const kept: readonly { name: string; files: Parameters<typeof sweep>[0]; setting?: Parameters<typeof sweep>[1] }[] = [
  {
    name: "a conversation that was written to since",
    files: { [`${scope}.1.jsonl`]: "old", [`${scope}.jsonl`]: "young" },
  },
  { name: "one that has a task", files: { [`${scope}.jsonl`]: "old" }, setting: { tasks: ["c1"] } },
  { name: "one whose session is open", files: { [`${scope}.jsonl`]: "old" }, setting: { open: [scope] } },
  { name: "the owner's own", files: { "ws-owner.jsonl": "old", "ws-owner.1.jsonl": "old" } },
  { name: "what is none of ours", files: { "notes.jsonl": "old", "x.txt": "old", [`${scope}.jsonl.bad`]: "old" } },
];
for (const { name, files, setting } of kept) {
  Deno.test(`sweepTranscripts() keeps ${name} [§7 retention]`, async () => {
    const { removed, left } = await sweep(files, setting);
    deepStrictEqual([removed, left], [0, Object.keys(files).sort()]);
  });
}

Deno.test("sweepTranscripts() goes on after one that cannot be removed [§7 retention]", async () => {
  const { removed, left } = await sweep({ "ws-a2a-a_c.jsonl": "old", "ws-a2a-b_c.jsonl": "old" }, { code: "EIO" });
  deepStrictEqual([removed, left.length], [1, 1]);
});

Deno.test("sweepTranscripts() finds nothing in a folder that is missing", async () => {
  const disk = createDisk(systemClock);
  const sessions = { removeTranscript: () => Promise.resolve(true) };
  const hasTasks = () => Promise.resolve(false);
  strictEqual(await sweepTranscripts({ disk, folder: "/nowhere/at-all", before, hasTasks, sessions }), 0);
});

Deno.test("sweepTranscripts() and a pool: an old conversation goes, and its scope begins anew [§7 retention]", async () => {
  await using setting = await makePool({ idleMs: 1000 });
  await setting.play("hello");
  const folder = setting.disk.log.find((entry) => entry.startsWith("list "))!.slice(5);
  const options = { disk: setting.disk, folder, before: Date.now() + 1e9 as TimeMs, sessions: setting.pool };
  const hasTasks = () => Promise.resolve(false);
  strictEqual(await sweepTranscripts({ ...options, hasTasks }), 0); // it is open
  await setting.clock.advance(1000);
  strictEqual(await sweepTranscripts({ ...options, hasTasks }), 1);
  const outcome = await setting.outcome("recall");
  deepStrictEqual(outcome, { kind: "answered", text: "0 turns before this one", truncated: false });
});
