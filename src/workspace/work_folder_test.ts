import { deepStrictEqual } from "node:assert/strict";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { parseCallerName } from "@/protocol/ids.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "./disk.ts";
import { removeWork } from "./work_folder.ts";
import { workspacePaths } from "./workspace_paths.ts";

Deno.test("removeWork() removes what one caller's sessions made, and what its links lead to stays [DM11 work-pruned]", async () => {
  await using temp = await makeTempFolder();
  const disk = createDisk(systemClock);
  const paths = workspacePaths(temp.path);
  const [alice, other] = ["alice", "@alice"].map(parseCallerName);
  for (const caller of [alice!, other!]) {
    await Deno.mkdir(`${paths.workOf(caller)}/deep`, { recursive: true });
    await Deno.writeTextFile(`${paths.workOf(caller)}/deep/a`, "x");
  }
  await Deno.symlink(paths.workOf(other!), `${paths.workOf(alice!)}/link`);
  await removeWork(disk, paths, alice!);
  await removeWork(disk, paths, alice!); // nothing there is fine
  deepStrictEqual([...Deno.readDirSync(paths.work)].map(({ name }) => name), ["@alice"]);
  deepStrictEqual(await Deno.readTextFile(`${paths.workOf(other!)}/deep/a`), "x");
});
