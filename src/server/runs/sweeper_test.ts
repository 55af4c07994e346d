import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { replacing } from "@tests/fakes/replacing.ts";
import { alice, makeRuns } from "@tests/fakes/run_service_fixture.ts";
import { sampleId, sampleTask } from "@tests/fakes/sample_tasks.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";

Deno.test("a sweep does what it can: a record that breaks it keeps no other from its turn [SM1 T12, SM1 T14, SM1 T17]", async () => {
  const broken = [1, 2, 3].map((n) => sampleTask({ n: 900 + n, working: true }));
  const isBroken = (id: string) => broken.some(({ task }) => task.id === id);
  const behind = async (first: TaskRecord, others: Promise<readonly TaskRecord[]>) => [first, ...await others];
  await using made = await makeRuns({
    limits: { inputMs: 120_000, keepMs: 120_000 },
    wrap: (store) =>
      replacing(store, {
        abandoned: (limit) => behind(broken[0]!, store.abandoned(limit)),
        aged: (state, before, limit) => behind(broken[state === "waiting" ? 1 : 2]!, store.aged(state, before, limit)),
        read: (id, caller) => isBroken(id) ? Promise.reject(new TypeError("broken")) : store.read(id, caller),
        remove: (id, rev) => isBroken(id) ? Promise.reject(new TypeError("broken")) : store.remove(id, rev),
      }),
  });
  using asked = await made.send("hello");
  (await made.sessions.next()).ask("Which?");
  using done = await made.send("hello");
  (await made.sessions.next()).answer("done");
  await Promise.all([asked.settled(), done.settled()]);
  const lost = { ...sampleTask({ n: 7, working: true }), caller: alice };
  await made.store.create(lost);
  await made.clock.advance(180_000);
  deepStrictEqual(await made.state(asked.task.id), "failed");
  strictEqual(await made.store.read(done.task.id, alice), undefined);
  strictEqual(await made.state(sampleId(7)), "failed");
});
