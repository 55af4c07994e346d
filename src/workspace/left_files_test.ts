import { deepStrictEqual } from "node:assert/strict";
import { dirname, join, relative } from "node:path";
import { createFaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "./disk.ts";
import { sweepLeftFiles } from "./left_files.ts";
import { workspacePaths } from "./workspace_paths.ts";

const stored = "00000000-0000-4000-8000-000000000001";
const never = "00000000-0000-4000-8000-000000000002";
const tmp = "0123abcd.tmp";

async function makeWorkspace(names: readonly string[]) {
  const temp = await makeTempFolder();
  const paths = workspacePaths(temp.path);
  for (const path of [`.volcanic/a2a/tasks/${stored}.json`, ...names].map((name) => join(temp.path, name))) {
    await Deno.mkdir(dirname(path), { recursive: true });
    await Deno.writeTextFile(path, "x");
  }
  return { ...temp, paths, disk: createFaultyDisk(createDisk(systemClock)) };
}

async function namesBelow(root: string, folder = root): Promise<string[]> {
  const names: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    names.push(...isDirectory ? await namesBelow(root, path) : [relative(root, path)]);
  }
  return names.sort();
}

const left = [
  `.volcanic/a2a/host.json.${tmp}`,
  `.volcanic/a2a/callers.json.${tmp}`,
  `.volcanic/a2a/pending.json.${tmp}`,
  `.volcanic/a2a/webhook.secret.${tmp}`,
  `inbox/ann/${stored}/a.txt.${tmp}`,
  `inbox/ann/${never}/a.txt`,
  `inbox/@other/${never}/a.txt`,
];
const kept = [
  ".volcanic/a2a/callers.json",
  `.volcanic/a2a/card.json.${tmp}`,
  `inbox/a2a/${never}/a.txt.${tmp}`,
  `inbox/ann/${stored}/a.txt`,
  "inbox/ann/notes.txt",
  `inbox/notes/today.${tmp}`,
];

Deno.test("sweepLeftFiles() removes what a crash left, and nothing else [DM0 tmp-removed, SM8 1]", async () => {
  await using workspace = await makeWorkspace([...left, ...kept]);
  await sweepLeftFiles(workspace.disk, workspace.paths);
  const locks = [".volcanic/a2a/edit.lock", ".volcanic/a2a/pending.lock"];
  deepStrictEqual(await namesBelow(workspace.path), [...kept, ...locks, `.volcanic/a2a/tasks/${stored}.json`].sort());
});

Deno.test("sweepLeftFiles() leaves alone what another process may be writing [DM0 tmp-removed]", async () => {
  const writing = `.volcanic/a2a/callers.json.${tmp}`;
  await using workspace = await makeWorkspace([writing]);
  using _lock = await workspace.disk.lock(workspace.paths.editLock, 0);
  await sweepLeftFiles(workspace.disk, workspace.paths);
  deepStrictEqual((await namesBelow(workspace.path)).filter((name) => name.endsWith(".tmp")), [writing]);
});

Deno.test("sweepLeftFiles() goes on when something cannot be removed, and never throws", async () => {
  await using workspace = await makeWorkspace(left);
  workspace.disk.rule({ on: "remove", path: "host.json", code: "EIO" });
  await sweepLeftFiles(workspace.disk, workspace.paths);
  deepStrictEqual((await namesBelow(workspace.path)).filter((name) => !name.endsWith(".lock")), [
    `.volcanic/a2a/host.json.${tmp}`,
    `.volcanic/a2a/tasks/${stored}.json`,
  ]);
});
