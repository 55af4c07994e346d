import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { systemRandom } from "@/random.ts";
import { systemClock } from "@/time/clock.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { swappers } from "@tests/fakes/swapping.ts";
import { openConfined, writeConfined } from "./confined_files.ts";
import type { Confinement } from "./confined_path.ts";
import { createDisk } from "./disk.ts";

const disk = createDisk(systemClock);
const rounds = 2000;
/** What `d` is shown as, in turn. */
const places = { folder: "docs", hidden: ".volcanic/a2a", text: "harmless" };
/** How long a test waits to see the attack at work at all, on a busy machine. */
const roundsMax = 100_000;

async function makeWorkspace() {
  const outer = await makeTempFolder();
  const root = `${outer.path}/ws`;
  await Deno.mkdir(`${root}/.volcanic/a2a`, { recursive: true });
  await Deno.mkdir(`${root}/docs`);
  await Deno.writeTextFile(`${root}/.volcanic/a2a/k.json`, "SECRET");
  await Deno.writeTextFile(`${root}/docs/k.json`, "harmless");
  await Deno.writeTextFile(`${outer.path}/k.json`, "OUTSIDE");
  const within: Confinement = { disk, random: systemRandom, root, hidden: [`${root}/.volcanic`] };
  return { root, outside: outer.path, within, [Symbol.asyncDispose]: () => outer[Symbol.asyncDispose]() };
}

async function readText(within: Confinement, path: string, links?: "inside" | "none"): Promise<string> {
  const opened = await openConfined(within, path, { links });
  if (opened.kind === "refused") return `refused: ${opened.why}`;
  using file = opened.file;
  return new TextDecoder().decode(await file.read());
}

const write = (within: Confinement, path: string, text: string) =>
  writeConfined(within, path, new TextEncoder().encode(text));

const refusedPaths: readonly {
  name: string;
  path: string;
  why: RegExp;
  make?: (root: string) => Promise<void> | void;
}[] = [
  { name: "a hidden file", path: ".volcanic/a2a/k.json", why: /hidden/ },
  { name: "the hidden folder", path: ".volcanic", why: /hidden/ },
  { name: "a hidden file by a detour", path: "docs/../.volcanic/a2a/k.json", why: /hidden/ },
  { name: "a path upwards", path: "../k.json", why: /outside/ },
  { name: "an absolute path outside", path: "/etc/hostname", why: /outside/ },
  { name: "the root", path: ".", why: /folder/ },
  { name: "an empty path", path: "", why: /no path/ },
  { name: "a path with NUL", path: "docs/k.json\0.png", why: /no path/ },
  { name: "a path of 5000 characters", path: "a/".repeat(2500), why: /no path/ },
  { name: "a folder", path: "docs", why: /not a regular file/ },
  { name: "a file that is not there", path: "docs/none.txt", why: /no such file/ },
  { name: "a file as a folder", path: "docs/k.json/x", why: /no such file/ },
  {
    name: "a link to a hidden file",
    path: "l",
    why: /hidden/,
    make: (root) => Deno.symlink(".volcanic/a2a/k.json", `${root}/l`),
  },
  {
    name: "a link to an outside file",
    path: "l",
    why: /no such file/,
    make: (root) => Deno.symlink("../k.json", `${root}/l`),
  },
  {
    name: "a file behind a link to a hidden folder",
    path: "l/k.json",
    why: /hidden/,
    make: (root) => Deno.symlink(".volcanic/a2a", `${root}/l`),
  },
  {
    name: "a file behind a link out",
    path: "l/hostname",
    why: /no such file/,
    make: (root) => Deno.symlink("/etc", `${root}/l`),
  },
  {
    name: "a link to a device",
    path: "l",
    why: /no such file/,
    make: (root) => Deno.symlink("/dev/zero", `${root}/l`),
  },
  { name: "a loop of links", path: "l", why: /no such file/, make: (root) => Deno.symlink("l", `${root}/l`) },
  { name: "a dead link", path: "l", why: /no such file/, make: (root) => Deno.symlink("none", `${root}/l`) },
  { name: "a FIFO", path: "fifo", why: /not a regular file/, make: (root) => run("mkfifo", `${root}/fifo`) },
];

for (const { name, path, why, make } of refusedPaths) {
  Deno.test(`openConfined() refuses ${name} without waiting [§4 confined-paths]`, async () => {
    await using workspace = await makeWorkspace();
    await make?.(workspace.root);
    match(await readText(workspace.within, path), new RegExp(`^refused: .*${why.source}`));
  });
}

Deno.test("openConfined() refuses a socket [§4 confined-paths]", async () => {
  await using workspace = await makeWorkspace();
  using _listener = Deno.listen({ transport: "unix", path: `${workspace.root}/socket` });
  match(await readText(workspace.within, "socket"), /^refused: /);
});

Deno.test("openConfined() opens regular files, by relative and absolute path, and through links that stay inside [§4]", async () => {
  await using workspace = await makeWorkspace();
  const { root, within } = workspace;
  await Deno.symlink("docs", `${root}/l`);
  await Deno.writeTextFile(`${root}/top.txt`, "top");
  for (const path of ["docs/k.json", `${root}/docs/k.json`, "./docs//k.json", "l/k.json"]) {
    const opened = await openConfined(within, path);
    strictEqual(opened.kind, "opened");
    if (opened.kind !== "opened") continue;
    strictEqual(opened.path, "docs/k.json");
    opened.file[Symbol.dispose]();
  }
  strictEqual(await readText(within, "top.txt"), "top");
});

Deno.test("openConfined() without links refuses each of them, also one that stays inside [DM2 not-through-a-link]", async () => {
  await using workspace = await makeWorkspace();
  const { root, within } = workspace;
  await Deno.symlink("docs", `${root}/folder`);
  await Deno.symlink("docs/k.json", `${root}/file`);
  match(await readText(within, "folder/k.json", "none"), /^refused: /);
  match(await readText(within, "file", "none"), /^refused: /);
  strictEqual(await readText(within, "docs/k.json", "none"), "harmless");
});

Deno.test("openConfined() knows what is hidden by inode, not by name [threats: state folder]", async () => {
  await using workspace = await makeWorkspace();
  const { root, within } = workspace;
  await Deno.symlink(".volcanic", `${root}/alias`);
  const byAlias: Confinement = { ...within, hidden: [`${root}/alias`] };
  match(await readText(byAlias, ".volcanic/a2a/k.json"), /^refused: /);
  const oneFile: Confinement = { ...within, hidden: [`${root}/docs/k.json`] };
  match(await readText(oneFile, "docs/k.json"), /^refused: .*hidden/);
  const byShape: Confinement = { ...within, isHidden: (path) => path.endsWith(".json") };
  match(await readText(byShape, "docs/k.json"), /^refused: .*hidden/);
});

Deno.test("openConfined() works when the root itself is reached through a link", async () => {
  await using workspace = await makeWorkspace();
  const alias = `${workspace.outside}/alias`;
  await Deno.symlink(workspace.root, alias);
  const within: Confinement = { ...workspace.within, root: alias };
  strictEqual(await readText(within, `${alias}/docs/k.json`), "harmless");
  match(await readText(within, ".volcanic/a2a/k.json"), /^refused: /);
});

Deno.test("writeConfined() makes files and folders, and replaces all of what was there [DM11]", async () => {
  await using workspace = await makeWorkspace();
  const { root, within } = workspace;
  deepStrictEqual(await write(within, "a/b/c.txt", "one, long"), { kind: "written", path: "a/b/c.txt" });
  deepStrictEqual(await write(within, "a/b/c.txt", "two"), { kind: "written", path: "a/b/c.txt" });
  strictEqual(await Deno.readTextFile(`${root}/a/b/c.txt`), "two");
  strictEqual((await Deno.stat(`${root}/a/b/c.txt`)).mode! & 0o777, 0o600);
  deepStrictEqual(await write(within, "empty", ""), { kind: "written", path: "empty" });
  await Deno.chmod(`${root}/docs/k.json`, 0o640);
  await write(within, "docs/k.json", "x");
  strictEqual((await Deno.stat(`${root}/docs/k.json`)).mode! & 0o777, 0o640);
});

Deno.test("writeConfined() writes through no link, not even one that stays inside [§6 no-link-written]", async () => {
  await using workspace = await makeWorkspace();
  const { root, outside, within } = workspace;
  await Deno.symlink("docs", `${root}/folder`);
  await Deno.symlink("docs/k.json", `${root}/file`);
  const before = await snapshot(outside);
  for (const path of ["folder/new.txt", "folder/k.json", "folder/new/f", "file"]) {
    strictEqual((await write(within, path, "FORGED")).kind, "refused", path);
  }
  deepStrictEqual(await snapshot(outside), before);
});

Deno.test("writeConfined() makes and changes only what may be changed, folders too [§6 own-folders]", async () => {
  await using workspace = await makeWorkspace();
  const { root, outside } = workspace;
  await Deno.mkdir(`${root}/mine`);
  const within: Confinement = { ...workspace.within, mayChange: (path) => path === "mine" || path.startsWith("mine/") };
  deepStrictEqual(await write(within, "mine/a/b.txt", "x"), { kind: "written", path: "mine/a/b.txt" });
  const before = await snapshot(outside);
  for (const path of ["docs/k.json", "docs/new.txt", "new/f", "mine2/f", "top.txt", "mine/../docs/k.json"]) {
    deepStrictEqual(await write(within, path, "FORGED"), { kind: "refused", why: "it may not be changed" }, path);
  }
  deepStrictEqual(await snapshot(outside), before);
});

Deno.test("openConfined() says the same of what is hidden, outside behind a link, and not there [§6 hidden]", async () => {
  await using workspace = await makeWorkspace();
  const { root, within } = workspace;
  const targets = [".volcanic/a2a/k.json", ".volcanic/a2a/none", "../k.json", "../none", "none", "l"];
  const said = new Set<string>();
  for (const target of targets) {
    await Deno.symlink(target, `${root}/l`);
    said.add(await readText(within, "l"));
    await Deno.remove(`${root}/l`);
  }
  for (const path of [".volcanic/a2a/k.json", ".volcanic/none", "none"]) said.add(await readText(within, path));
  deepStrictEqual([...said], ["refused: there is no such file, or it is hidden"]);
});

const refusedWrites = refusedPaths.filter(({ name }) => !name.includes("not there"));
for (const { name, path, make } of refusedWrites) {
  Deno.test(`writeConfined() refuses ${name} and changes nothing [§4 confined-paths]`, async () => {
    await using workspace = await makeWorkspace();
    await make?.(workspace.root);
    const before = await snapshot(workspace.outside);
    strictEqual((await write(workspace.within, path, "FORGED")).kind, "refused");
    deepStrictEqual(await snapshot(workspace.outside), before);
  });
}

Deno.test("writeConfined() makes no folder outside or below a hidden one [§4 confined-paths]", async () => {
  await using workspace = await makeWorkspace();
  const { root, outside, within } = workspace;
  await Deno.symlink("..", `${root}/up`);
  await Deno.symlink(".volcanic/a2a", `${root}/in`);
  const before = await snapshot(outside);
  for (const path of ["up/new/f", "in/new/f", ".volcanic/new/f", "docs/k.json/new/f"]) {
    strictEqual((await write(within, path, "FORGED")).kind, "refused", path);
  }
  deepStrictEqual(await snapshot(outside), before);
});

for (const swapper of swappers) {
  const { name, isMissing } = swapper;

  Deno.test({
    name: `openConfined() leaks nothing while ${name} [threats symlink-race]`,
    ignore: isMissing,
    fn: async () => {
      await using workspace = await makeWorkspace();
      await using _swapping = await swapper.start(workspace.root, places);
      const seen = { harmless: 0, refused: 0 };
      for (let round = 0; round < rounds || (seen.refused === 0 && round < roundsMax); round++) {
        const text = await readText(workspace.within, "d/k.json", round % 8 === 0 ? "none" : "inside");
        ok(text === "harmless" || text.startsWith("refused: "), text);
        seen[text === "harmless" ? "harmless" : "refused"]++;
      }
      ok(seen.refused > 0, "the loop never showed the hidden folder");
    },
  });

  Deno.test({
    name: `writeConfined() puts no byte into the hidden folder while ${name} [threats symlink-race]`,
    ignore: isMissing,
    fn: async () => {
      await using workspace = await makeWorkspace();
      const { root, within } = workspace;
      await using _swapping = await swapper.start(root, places);
      const seen = { written: 0, refused: 0 };
      for (let round = 0; round < rounds || (seen.refused === 0 && round < roundsMax); round++) {
        const path = ["d/k.json", `d/new-${round}`, `d/folder-${round % 50}/f`][round % 3]!;
        seen[(await write(within, path, "FORGED")).kind]++;
        strictEqual(await Deno.readTextFile(`${root}/.volcanic/a2a/k.json`), "SECRET");
      }
      const forged = Object.values(await snapshot(`${root}/.volcanic`)).filter((text) => text.includes("FORGED"));
      deepStrictEqual(forged, []);
      ok(seen.refused > 0, "the loop never showed the hidden folder");
    },
  });
}

/** Every path below a folder with its content, links not followed. */
async function snapshot(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { name, kind } of await disk.list(folder)) {
    const path = `${folder}/${name}`;
    if (kind === "folder") Object.assign(found, { [path]: "" }, await snapshot(path));
    else found[path] = kind === "file" ? await Deno.readTextFile(path) : kind;
  }
  return found;
}

async function run(command: string, ...args: string[]): Promise<void> {
  ok((await new Deno.Command(command, { args }).output()).success);
}
