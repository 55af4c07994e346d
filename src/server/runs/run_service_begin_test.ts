import { strictEqual } from "node:assert/strict";
import { makeRuns } from "@tests/fakes/run_service_fixture.ts";
import type { TaskStore } from "@/server/tasks/task_store.ts";

Deno.test("a queued run that gets its slot before its submitter hears of its commit runs once [SM3 queued-slot]", async () => {
  const gate = Promise.withResolvers<void>();
  let created = 0;
  await using made = await makeRuns({
    limits: { runsMax: 1 },
    wrap: (store) => withLateCreate(store, () => ++created === 2 ? gate.promise : Promise.resolve()),
  });
  using _first = await made.send("first");
  const second = made.send("second");
  await made.clock.settle();
  (await made.sessions.next()).answer("done");
  await made.clock.settle();
  const turn = await made.sessions.next();
  strictEqual(turn.request.text, "second");
  gate.resolve();
  using accepted = await second;
  await made.clock.settle();
  strictEqual(made.sessions.turns.length, 2);
  turn.answer("done");
  strictEqual((await accepted.settled()).status.state, "TASK_STATE_COMPLETED");
  strictEqual(made.counters.snapshot()["runs.started"], 2);
});

/** The store, whose `create` is over only when `late` is, though the task is there before. */
function withLateCreate(store: TaskStore, late: () => Promise<void>): TaskStore {
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (name !== "create") return value.bind(target);
      return async (...given: Parameters<TaskStore["create"]>) => {
        const created = await target.create(...given);
        await late();
        return created;
      };
    },
  });
}
