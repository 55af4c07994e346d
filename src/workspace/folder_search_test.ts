import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { systemRandom } from "@/random.ts";
import { systemClock } from "@/time/clock.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import type { Confinement } from "./confined_path.ts";
import { createDisk } from "./disk.ts";
import { searchFolder, searchLimits } from "./folder_search.ts";
import { parseLinePattern } from "./line_pattern.ts";

const disk = createDisk(systemClock);

async function makeWorkspace(files: Readonly<Record<string, string | Uint8Array>>) {
  const folder = await makeTempFolder();
  const root = folder.path;
  for (const [path, content] of Object.entries(files)) {
    await Deno.mkdir(`${root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeFile(`${root}/${path}`, typeof content === "string" ? new TextEncoder().encode(content) : content);
  }
  const within: Confinement = {
    ...{ disk, random: systemRandom, root, hidden: [`${root}/.volcanic`] },
    isHidden: (path) => path.endsWith(".env"),
  };
  const search = (text: string, path = "", signal = new AbortController().signal) => {
    const pattern = parseLinePattern(text);
    ok(pattern.kind === "pattern");
    return searchFolder(within, { pattern, path, clock: systemClock, signal });
  };
  return { root, search, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

const files = {
  "b.md": "one\r\nneedle two\r\n",
  "a/z.txt": "needle",
  "a/b/c.txt": "x\nx\nneedle\nneedle",
  "a.txt": "a needle\n",
  ".volcanic/a2a/k.json": "needle",
  "prod.env": "needle",
  ".git/HEAD": "needle",
  "node_modules/x/index.js": "needle",
  "picture.bin": new Uint8Array([0, ...new TextEncoder().encode("needle")]),
  "large.txt": `needle\n${"x".repeat(searchLimits.fileBytes)}`,
  "long.txt": `needle ${"y".repeat(1000)}`,
};

Deno.test("searchFolder() finds lines in the order of paths, and passes over what it must [§6 search]", async () => {
  await using workspace = await makeWorkspace(files);
  await Deno.symlink("a", `${workspace.root}/linked`);
  const long = `needle ${"y".repeat(293)}… (cut, 1007 characters in all)`;
  deepStrictEqual(await workspace.search("needle"), {
    kind: "found",
    matches: [
      { path: "a/b/c.txt", line: 3, text: "needle" },
      { path: "a/b/c.txt", line: 4, text: "needle" },
      { path: "a/z.txt", line: 1, text: "needle" },
      { path: "a.txt", line: 1, text: "a needle" },
      { path: "b.md", line: 2, text: "needle two" },
      { path: "long.txt", line: 1, text: long },
    ],
    isCut: false,
  });
});

const rows: readonly (readonly [path: string, says: unknown])[] = [
  ["a/b", {
    kind: "found",
    matches: [3, 4].map((line) => ({ path: "a/b/c.txt", line, text: "needle" })),
    isCut: false,
  }],
  ["linked/z.txt", { kind: "found", matches: [{ path: "a/z.txt", line: 1, text: "needle" }], isCut: false }],
  ["none", { kind: "refused", why: "there is no such file, or it is hidden" }],
  [".volcanic", { kind: "refused", why: "there is no such file, or it is hidden" }],
  [".volcanic/a2a/k.json", { kind: "refused", why: "there is no such file, or it is hidden" }],
  ["prod.env", { kind: "refused", why: "there is no such file, or it is hidden" }],
  ["large.txt", { kind: "refused", why: "it has over 1 MiB" }],
  ["picture.bin", { kind: "refused", why: "it is no text in UTF-8" }],
  ["..", { kind: "refused", why: "it is outside" }],
];

for (const [path, says] of rows) {
  Deno.test(`searchFolder() below ${path} answers as it should [§6 search]`, async () => {
    await using workspace = await makeWorkspace(files);
    await Deno.symlink("a", `${workspace.root}/linked`);
    deepStrictEqual(await workspace.search("needle", path), says);
  });
}

Deno.test("searchFolder() stops at its most matches and says that there are more [§6 search]", async () => {
  await using workspace = await makeWorkspace({ "a.txt": "x\n".repeat(searchLimits.matches), "b.txt": "y" });
  const all = await workspace.search("x");
  ok(all.kind === "found");
  deepStrictEqual([all.matches.length, all.isCut], [searchLimits.matches, false]);
  const cut = await workspace.search("[xy]");
  ok(cut.kind === "found");
  deepStrictEqual([cut.matches.length, cut.isCut], [searchLimits.matches, true]);
});

Deno.test("searchFolder() gives way to other work, and ends with its signal [§6 search-ends]", async () => {
  // No two stretches are alike, so that every character is as slow as it gets.
  let state = 1;
  const letter = () => "ab"[(state = (state * 1_103_515 + 12_345) % 2 ** 31) >> 16 & 1];
  const letters = Array.from({ length: 400_000 }, (_, at) => at % 2000 === 0 ? "\nc" : letter());
  await using workspace = await makeWorkspace({ "a.txt": letters.join("") });
  const cancel = new AbortController();
  const search = workspace.search("(a|b)*a(a|b){60}c", "", cancel.signal);
  let turns = 0;
  const done = rejects(search, (error) => error === cancel.signal.reason);
  for (; turns < 5; turns++) await systemClock.sleep(1); // each needs the event loop
  cancel.abort(new Error("enough"));
  await done;
  strictEqual(turns, 5);
  await rejects(workspace.search("x", "", cancel.signal), /enough/);
});
