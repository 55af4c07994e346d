import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { systemRandom } from "@/random.ts";
import { systemClock } from "@/time/clock.ts";
import { swappers } from "@tests/fakes/swapping.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { listConfined } from "./confined_folder.ts";
import type { Confinement } from "./confined_path.ts";
import { createDisk } from "./disk.ts";

const disk = createDisk(systemClock);

async function makeWorkspace() {
  const outer = await makeTempFolder();
  const root = `${outer.path}/ws`;
  await Deno.mkdir(`${root}/.volcanic/a2a`, { recursive: true });
  await Deno.mkdir(`${root}/docs/deep`, { recursive: true });
  for (const path of [".volcanic/a2a/k.json", "docs/k.json", "docs/B.md", "a.md", "x.secret"]) {
    await Deno.writeTextFile(`${root}/${path}`, "x");
  }
  const within: Confinement = {
    ...{ disk, random: systemRandom, root, hidden: [`${root}/.volcanic`] },
    isHidden: (path) => path.endsWith(".secret"),
  };
  return { root, outside: outer.path, within, [Symbol.asyncDispose]: () => outer[Symbol.asyncDispose]() };
}

async function names(within: Confinement, path: string): Promise<string> {
  const listed = await listConfined(within, path);
  if (listed.kind === "refused") return listed.why;
  return `${listed.path}: ${listed.entries.map(({ name, kind }) => kind === "folder" ? `${name}/` : name).join(" ")}`;
}

const noSuch = "there is no such file, or it is hidden";

const rows: readonly (readonly [path: string, says: string])[] = [
  ["", ": a.md docs/ linked/ linked.md"],
  [".", ": a.md docs/ linked/ linked.md"],
  ["docs", "docs: B.md deep/ k.json"],
  ["docs/", "docs: B.md deep/ k.json"],
  ["docs/../docs/deep", "docs/deep: "],
  ["linked", "docs: B.md deep/ k.json"],
  ["a.md", "it is no folder"],
  ["linked.md", "it is no folder"],
  ["none", noSuch],
  [".volcanic", noSuch],
  [".volcanic/a2a", noSuch],
  ["in", noSuch],
  ["out", noSuch],
  ["dead", noSuch],
  ["x.secret", noSuch],
  ["..", "it is outside"],
  ["/etc", "it is outside"],
  ["docs\0", "it is no path"],
];

for (const [path, says] of rows) {
  Deno.test(`listConfined() of ${JSON.stringify(path)} says ${says} [§6 file-tools, §6 hidden]`, async () => {
    await using workspace = await makeWorkspace();
    const { root, within } = workspace;
    const links = { linked: "docs", "linked.md": "a.md", in: ".volcanic/a2a", out: "..", dead: "none", loop: "loop" };
    for (const [name, target] of Object.entries(links)) await Deno.symlink(target, `${root}/${name}`);
    ok((await new Deno.Command("mkfifo", { args: [`${root}/fifo`] }).output()).success);
    strictEqual(await names(within, path), says);
  });
}

Deno.test("listConfined() lists once where the caller can change nothing on the way, else many times [§6 hidden]", async () => {
  await using workspace = await makeWorkspace();
  let lists = 0;
  const counting = { ...disk, list: (path: string) => (lists++, disk.list(path)) };
  const within = { ...workspace.within, disk: counting };
  await listConfined({ ...within, mayChange: (path) => path.startsWith("docs/deep/") }, "docs/deep");
  strictEqual(lists, 1);
  await listConfined({ ...within, mayChange: (path) => path.startsWith("docs/deep") }, "docs/deep");
  ok(lists > 5, String(lists));
});

for (const { name, isMissing, start } of swappers) {
  Deno.test({
    name: `listConfined() shows no hidden name while ${name} [threats symlink-race, §6 race]`,
    ignore: isMissing,
    fn: async () => {
      await using workspace = await makeWorkspace();
      const { root, within } = workspace;
      await Deno.writeTextFile(`${root}/.volcanic/a2a/callers.json`, "x");
      await using _swapping = await start(root, { folder: "docs", hidden: ".volcanic/a2a", text: "x" });
      const seen = { listed: 0, refused: 0 };
      for (let round = 0; round < 1000 || (seen.refused === 0 && round < 20_000); round++) {
        const listed = await listConfined(within, "d");
        seen[listed.kind]++;
        if (listed.kind === "listed") ok(!listed.entries.some((entry) => entry.name === "callers.json"));
      }
      ok(seen.refused > 0, "the loop never showed the hidden folder");
      deepStrictEqual(await names(within, "docs"), "docs: B.md deep/ k.json");
    },
  });
}
