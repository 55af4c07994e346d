import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { createFaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { sampleId } from "@tests/fakes/sample_tasks.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { createTestRandom } from "@tests/fakes/test_random.ts";
import { Counters } from "@/counters.ts";
import type { CallerName } from "@/protocol/ids.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { NotificationsFile } from "@/workspace/notifications_file.ts";
import { ownerNotices } from "./owner_notices.ts";

Deno.test("ownerNotices() answers when the notice is on disk [DM9 durable-notice]", async () => {
  await using setting = await makeNotices(20);
  const go = Promise.withResolvers<void>();
  setting.disk.rule({ on: "flush", until: go.promise });
  let isAnswered = false;
  const told = setting.tell("ann", "hello").then((result) => {
    isAnswered = true;
    return result;
  });
  await setting.clock.settle();
  strictEqual(isAnswered, false);
  go.resolve();
  deepStrictEqual(await told, { kind: "done" });
  const [line] = await setting.lines();
  deepStrictEqual([line?.kind, line?.from, line?.taskId, line?.contextId, line?.text], [
    ...["notify", "ann", sampleId(1), "c1", "hello"],
  ]);
});

Deno.test("ownerNotices() refuses the 21st of a caller in an hour, calls at once included [DM9 hourly-limit]", async () => {
  await using setting = await makeNotices(20);
  const results = await Promise.all(Array.from({ length: 21 }, () => setting.tell("ann", "x")));
  deepStrictEqual(results.filter(({ kind }) => kind === "done").length, 20);
  deepStrictEqual(results[20], { kind: "refused", why: "the owner takes 20 notices an hour" });
  strictEqual((await setting.tell("bob", "x")).kind, "done");
  await setting.clock.advance(3_599_999);
  strictEqual((await setting.tell("ann", "x")).kind, "refused");
  await setting.clock.advance(1);
  strictEqual((await setting.tell("ann", "x")).kind, "done");
  strictEqual((await setting.lines()).length, 22);
  deepStrictEqual(setting.counted(), { notices: 22, refused: 2 });
});

Deno.test("ownerNotices() says that no room is left, and throws what is no matter of room", async () => {
  await using setting = await makeNotices(20);
  const full = setting.disk.rule({ on: "write", code: "ENOSPC" });
  deepStrictEqual(await setting.tell("ann", "x"), { kind: "refused", why: "no room is left to keep it" });
  full.end();
  const broken = setting.disk.rule({ on: "write", code: "EIO" });
  strictEqual(await setting.tell("ann", "x").catch((error) => error.code), "EIO");
  broken.end();
  strictEqual((await setting.tell("ann", "x")).kind, "done");
});

async function makeNotices(perHourMax: number) {
  const temp = await makeTempFolder();
  const clock = createTestClock();
  const disk = createFaultyDisk(createDisk(systemClock), clock);
  const counters = new Counters();
  const path = `${temp.path}/notifications.jsonl`;
  const file = new NotificationsFile({ disk, clock, random: createTestRandom(), path });
  const notify = ownerNotices({ file, clock, counters, perHourMax });
  return {
    clock,
    disk,
    tell: (from: string, text: string) =>
      notify({ from: from as CallerName, taskId: sampleId(1), contextId: "c1", text }),
    counted() {
      const { notices, "notices.refused": refused } = counters.snapshot();
      return { notices, refused };
    },
    async lines(): Promise<Record<string, unknown>[]> {
      return (await Deno.readTextFile(path)).trimEnd().split("\n").slice(1).map((line) => JSON.parse(line));
    },
    async [Symbol.asyncDispose]() {
      await file[Symbol.asyncDispose]();
      await temp[Symbol.asyncDispose]();
    },
  };
}
