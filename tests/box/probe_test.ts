import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { probeBox } from "@/cli/box/box_probe.ts";
import { systemRandom } from "@/random.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk, type Disk } from "@/workspace/disk.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { needsBox } from "./box_setting.ts";

const disk = createDisk(systemClock);

async function probe(changed: Partial<Disk> = {}) {
  await using temp = await makeTempFolder();
  const found = await probeBox({
    disk: { ...disk, ...changed },
    clock: systemClock,
    random: systemRandom,
    folder: temp.path,
  });
  deepStrictEqual([...Deno.readDirSync(temp.path)], []); // nothing is left
  return found;
}

Deno.test("probeBox() finds a box that holds [§6 box-probe]", needsBox, async () => {
  const found = await probe();
  ok(found.kind === "box");
  match(found.version, /^bwrap \d/);
});

Deno.test("probeBox() finds none where bwrap is not installed [§6 box-probe]", async () => {
  const found = await probe({ stampSync: (path) => path.endsWith("bwrap") ? undefined : disk.stampSync(path) });
  deepStrictEqual(found, { kind: "none", why: "bwrap is not installed; its package is called bubblewrap" });
});

Deno.test("probeBox() finds none where a hidden file can be read [§6 box-probe]", needsBox, async () => {
  const list = async (path: string) => (await disk.list(path)).filter(({ name }) => name !== ".env");
  const found = await probe({ list });
  strictEqual(found.kind === "none" && found.why, "a hidden file can be read");
});
