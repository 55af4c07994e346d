import { deepStrictEqual, match, ok } from "node:assert/strict";
import { join } from "node:path";
import type { CallerName } from "@/protocol/ids.ts";
import { systemClock } from "@/time/clock.ts";
import { callerMap } from "@/workspace/caller_map.ts";
import { createDisk } from "@/workspace/disk.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { findMasks, type MaskBounds } from "./box_masks.ts";

const disk = createDisk(systemClock);

async function masksOf(root: string, access: "read" | "write" = "read", bounds: MaskBounds = {}) {
  const paths = workspacePaths(root);
  const map = callerMap({ paths, caller: "bob" as CallerName, access, hide: [], otherStates: [] });
  return await findMasks(map, { disk, ...bounds });
}

async function makeFiles(root: string): Promise<void> {
  for (const path of [".volcanic/x", ".env", "a/b/c.pem", "a/plain", ".git/config", "a/.vscode/x", "work/al/x.pem"]) {
    await Deno.mkdir(join(root, path, ".."), { recursive: true });
    await Deno.writeTextFile(join(root, path), "");
  }
  await Deno.symlink("a", join(root, "link.pem"));
  await new Deno.Command("mkfifo", { args: [join(root, "pipe")] }).output();
}

Deno.test("findMasks() finds what is hidden and special, at any depth, and follows no link [§6 box-masks]", async () => {
  await using temp = await makeTempFolder();
  await makeFiles(temp.path);
  const found = await masksOf(temp.path);
  ok(found.kind === "masks");
  const { hiddenFiles, hiddenFolders, fixed, missingFiles, missingFolders } = found.masks;
  deepStrictEqual([...hiddenFiles].sort(), [".env", ".git/config", "a/b/c.pem", "pipe"]);
  deepStrictEqual([hiddenFolders, fixed, missingFiles, missingFolders], [[".volcanic"], [], [], []]);
});

Deno.test('findMasks() fixes control paths for access "write", those that are missing too [§6 box-masks]', async () => {
  await using temp = await makeTempFolder();
  await makeFiles(temp.path);
  const found = await masksOf(temp.path, "write");
  ok(found.kind === "masks");
  ok(found.masks.fixed.includes(".git") && found.masks.fixed.includes("a/.vscode"));
  ok(found.masks.hiddenFiles.includes(".git/config"));
  ok(found.masks.missingFiles.includes("CLAUDE.md") && found.masks.missingFolders.includes(".claude"));
  await Deno.symlink("a", join(temp.path, "AGENTS.md"));
  const refused = await masksOf(temp.path, "write");
  ok(refused.kind === "refused");
  match(refused.why, /AGENTS.md is a link/);
});

Deno.test("findMasks() finds state that a link leads to [§6 box-masks]", async () => {
  await using temp = await makeTempFolder();
  await Deno.mkdir(join(temp.path, "elsewhere"));
  await Deno.symlink("elsewhere", join(temp.path, ".volcanic"));
  const found = await masksOf(temp.path);
  ok(found.kind === "masks");
  deepStrictEqual(found.masks.hiddenFolders, ["elsewhere"]);
});

const bounds = [
  { bound: { entriesMax: 3 }, why: /over 3 files to look at/ },
  { bound: { depthMax: 1 }, why: /over 1 deep/ },
  { bound: { masksMax: 3 }, why: /over 3 of its files are to be hidden/ },
];

for (const { bound, why } of bounds) {
  Deno.test(`findMasks() refuses beyond ${JSON.stringify(bound)} [§6 box-masks]`, async () => {
    await using temp = await makeTempFolder();
    await makeFiles(temp.path);
    const found = await masksOf(temp.path, "read", bound);
    ok(found.kind === "refused");
    match(found.why, why);
  });
}
