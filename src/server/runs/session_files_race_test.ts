import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { makeCallerFiles } from "@tests/fakes/caller_files.ts";
import { swappers } from "@tests/fakes/swapping.ts";

const rounds = 4000;
/** How long a test waits to see the attack at work at all, on a busy machine. */
const roundsMax = 100_000;

for (const { name, isMissing, start } of swappers) {
  Deno.test({
    name: `CallerFiles leak nothing in ${rounds} reads while ${name} [§6 race, threats symlink-race]`,
    ignore: isMissing,
    fn: async () => {
      await using setting = await makeCallerFiles({
        "work/alice/mine/k.json": "harmless",
        "work/bob/k.json": "SECRET of bob",
        ".volcanic/a2a/k.json": "SECRET of the host",
      });
      const { files, root } = setting;
      const hidden = name.startsWith("perl") ? "../bob" : "../../.volcanic/a2a";
      await using _swapping = await start(join(root, "work/alice"), { folder: "mine", hidden, text: "harmless" });
      const seen = { harmless: 0, refused: 0 };
      for (let round = 0; round < rounds || (seen.refused === 0 && round < roundsMax); round++) {
        const read = await files.read("work/alice/d/k.json");
        if (read.kind === "text") strictEqual(read.text, "harmless");
        else strictEqual(read.kind, "refused");
        seen[read.kind === "text" ? "harmless" : "refused"]++;
      }
      ok(seen.refused > 0, "the loop never showed the hidden folder");
    },
  });

  Deno.test({
    name:
      `CallerFiles change nothing hidden or steering in ${rounds} writes while ${name} [§6 race, threats symlink-race]`,
    ignore: isMissing,
    fn: async () => {
      const kept = { ".volcanic/a2a/k.json": "SECRET", ".git/hooks/k.json": "HOOK" };
      await using setting = await makeCallerFiles({ ...kept, "docs/k.json": "harmless" }, { access: "write" });
      const { files, root } = setting;
      const hidden = name.startsWith("perl") ? ".git/hooks" : ".volcanic/a2a";
      await using _swapping = await start(root, { folder: "docs", hidden, text: "harmless" });
      const seen = { done: 0, refused: 0 };
      for (let round = 0; round < rounds || (seen.refused === 0 && round < roundsMax); round++) {
        const path = ["d/k.json", `d/new-${round}`, `d/folder-${round % 50}/f`][round % 3]!;
        seen[(await files.write(path, "FORGED")).kind]++;
      }
      ok(seen.refused > 0, "the loop never showed the hidden folder");
      for (const [path, text] of Object.entries(kept)) strictEqual(await setting.textOf(path), text);
      deepStrictEqual(await forgedBelow(`${root}/.volcanic`), []);
      deepStrictEqual(await forgedBelow(`${root}/.git`), []);
    },
  });
}

/** The files below a folder that hold what was written. */
async function forgedBelow(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) found.push(...await forgedBelow(path));
    else if ((await Deno.readTextFile(path)).includes("FORGED")) found.push(path);
  }
  return found;
}
