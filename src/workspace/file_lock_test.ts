import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { systemClock } from "@/time/clock.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createDisk, type Disk } from "./disk.ts";
import { holdHostLock, withLock } from "./file_lock.ts";

const disk = createDisk(systemClock);

Deno.test("withLock() does one piece of work at a time, and gives up the lock however the work ends [DM0 locks]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/edit.lock`;
  let count = 0;
  const add = () =>
    withLock({ disk, path }, async () => {
      const before = count;
      await disk.list(folder.path);
      count = before + 1;
    });
  await Promise.all(Array.from({ length: 60 }, add));
  strictEqual(count, 60);
  await rejects(withLock({ disk, path }, () => Promise.reject(new RangeError("bad"))), RangeError);
  await add();
  strictEqual(count, 61);
  strictEqual((await Deno.stat(path)).size, 0);
});

Deno.test("withLock() is busy, and does nothing, when the wait is over [DM0 locks]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/edit.lock`;
  using held = await holdHostLock(disk, path);
  ok(held);
  deepStrictEqual(await withLock({ disk, path, waitMs: 30 }, () => Promise.reject(new Error("not held"))), {
    kind: "busy",
  });
});

Deno.test("holdHostLock() lets one host have a workspace [§4 host.lock]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/host.lock`;
  const first = await holdHostLock(disk, path);
  ok(first?.holds());
  strictEqual(await holdHostLock(disk, path), undefined);
  first?.[Symbol.dispose]();
  using second = await holdHostLock(disk, path);
  ok(second?.holds());
});

Deno.test("withLock() takes the lock again when its file was replaced before it had it [DM0 locks]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/edit.lock`;
  let takes = 0;
  const racing: Disk = {
    ...disk,
    async lock(path, waitMs) {
      const lock = await disk.lock(path, waitMs);
      if (takes++ === 0) {
        await Deno.remove(path);
        await Deno.writeTextFile(path, "");
      }
      return lock;
    },
  };
  strictEqual(await withLock({ disk: racing, path }, () => Promise.resolve("done")), "done");
  strictEqual(takes, 2);
});
