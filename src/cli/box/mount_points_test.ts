import { deepStrictEqual } from "node:assert/strict";
import { join } from "node:path";
import { takeLog } from "@tests/fakes/log_lines.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { MountPoints } from "./mount_points.ts";

const disk = createDisk(systemClock);

Deno.test("MountPoints removes what no box needs any more and is empty, and disposing waits for it [§6 box-attacks]", async () => {
  await using temp = await makeTempFolder();
  const points = new MountPoints(disk);
  const paths = ["a", "b", "c", "gone"].map((name) => join(temp.path, name));
  await points.hold(paths);
  await points.hold(paths.slice(0, 1));
  for (const path of paths.slice(0, 3)) await Deno.writeTextFile(path, path.endsWith("b") ? "the owner's" : "");
  void points.giveBack(paths);
  await points[Symbol.asyncDispose]();
  deepStrictEqual([...Deno.readDirSync(temp.path)].map(({ name }) => name).sort(), ["a", "b"]);
});

Deno.test("MountPoints goes on after one that cannot be removed, and says so [§6 box-attacks]", async () => {
  using log = takeLog("warning");
  await using temp = await makeTempFolder();
  const remove = (path: string) => path.endsWith("a") ? Promise.reject(new Error("EIO")) : disk.remove(path);
  const points = new MountPoints({ ...disk, remove });
  const paths = ["a", "b"].map((name) => join(temp.path, name));
  await points.hold(paths);
  for (const path of paths) await Deno.writeTextFile(path, "");
  await points.giveBack(paths);
  deepStrictEqual([...Deno.readDirSync(temp.path)].map(({ name }) => name), ["a"]);
  deepStrictEqual(log.lines.length, 1);
});
