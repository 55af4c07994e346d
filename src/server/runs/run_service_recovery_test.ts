import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import {
  alice,
  briefly,
  makeRuns,
  type RunFixture,
  type RunFixtureOptions,
  type RunHost,
  statusText,
} from "@tests/fakes/run_service_fixture.ts";
import type { TaskId } from "@/protocol/ids.ts";
import type { RunLimits } from "./run_limits.ts";

const day = 24 * 3_600_000;

Deno.test("a run that had not begun when its host died is queued again with a new fence, and runs [SM1 T13, §5.5 crash-not-begun]", async () => {
  await using dead = await crashed();
  const { made, ids } = dead;
  const before = (await made.record(ids.queued)).run!;
  const next = await dead.restart();
  const after = (await made.record(ids.queued)).run!;
  deepStrictEqual([after.runId, after.attempt, after.queuedAt], [before.runId, 2, before.queuedAt]);
  ok(after.fence > before.fence);
  const turn = await next.sessions.next();
  strictEqual(turn.request.text, "queued");
  turn.answer("done");
  await made.clock.settle();
  strictEqual(await made.state(ids.queued), "completed");
  strictEqual(made.counters.snapshot()["tasks.requeued"], 1);
});

Deno.test("a run that had begun when its host died fails its task, is pushed and never run again [SM1 T14, §5.5 crash-begun, case 35]", async () => {
  const woken: TaskId[] = [];
  await using dead = await crashed({ service: { onCommitted: ({ task }) => void woken.push(task.id) } });
  const { made, ids } = dead;
  woken.length = 0;
  const next = await dead.restart();
  const { task, run } = await made.record(ids.working);
  deepStrictEqual([task.status.state, statusText(task), run], ["TASK_STATE_FAILED", "server restarted", null]);
  ok(woken.includes(ids.working));
  ok(next.sessions.turns.every(({ request }) => request.taskId !== ids.working));
  strictEqual(made.counters.snapshot()["tasks.lost"], 1);
});

Deno.test("a question survives the death of its host and is answerable [§5.5 input-survives]", async () => {
  await using dead = await crashed();
  const next = await dead.restart();
  strictEqual(await dead.made.state(dead.ids.asking), "input-required");
  using continued = await next.send("red", { taskId: dead.ids.asking });
  (await next.sessions.next()).answer("done"); // the one that was queued before
  const turn = await next.sessions.next();
  strictEqual(turn.request.text, "red");
  turn.answer("painted");
  strictEqual((await continued.settled()).status.state, "TASK_STATE_COMPLETED");
});

Deno.test("readers never put right what a crash left: only the sweep does [§5.5 sweep-not-reader]", async () => {
  await using dead = await crashed();
  const { made, ids } = dead;
  const held = made.gate.hold(); // what the sweep does is not done yet
  const doors = made.newHost();
  await held.reached;
  strictEqual(await doors.state(ids.working), "working");
  const following = briefly(await doors.follow(ids.working));
  await made.store.list({ caller: alice, pageSize: 10, pageToken: "" });
  strictEqual((await doors.submit("x", { taskId: ids.working })).kind, "refused");
  strictEqual((await made.record(ids.working)).rev, 1);
  held.release();
  deepStrictEqual(await following, ["task working", "failed"]);
});

Deno.test("a run that is lost a second time before it began fails its task [SM1 T13]", async () => {
  await using dead = await crashed();
  const { made, ids } = dead;
  const second = await dead.restart({ runsMax: 0 });
  strictEqual((await made.record(ids.queued)).run?.attempt, 2);
  await dead.die(second);
  await dead.restart();
  const { task } = await made.record(ids.queued);
  deepStrictEqual([task.status.state, statusText(task)], ["TASK_STATE_FAILED", "server restarted"]);
});

Deno.test("a lost run whose context is taken by now is queued again by the next sweep", async () => {
  await using dead = await crashed({}, "c");
  const { made, ids } = dead;
  const held = made.gate.hold("failed"); // the sweep is at the other task first
  const next = made.newHost();
  await held.reached;
  using newer = await next.send("newer", { contextId: "c" });
  held.release();
  await made.clock.settle();
  strictEqual((await made.record(ids.queued)).run?.attempt, 1);
  next.sessions.turns.at(-1)!.answer("done");
  await newer.settled();
  await made.clock.advance(60_000);
  strictEqual((await made.record(ids.queued)).run?.attempt, 2);
});

Deno.test("a live run is never taken for lost, however often one sweeps", async () => {
  await using made = await makeRuns({ limits: { runsMax: 1 } });
  using working = await made.send("one");
  using queued = await made.send("two");
  for (let minute = 0; minute < 5; minute++) {
    await made.clock.advance(60_000);
    await Promise.all([made.runs.sweep(), made.runs.sweep()]);
  }
  deepStrictEqual([await made.state(working.task.id), await made.state(queued.task.id)], ["working", "submitted"]);
  strictEqual((await made.record(queued.task.id)).run?.attempt, 1);
});

Deno.test("a question without an answer for 30 days fails [SM1 T12, §5.5 input-timeout]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello", { contextId: "c" });
  (await made.sessions.next()).ask("Which?");
  await accepted.settled();
  made.clock.jump(30 * day - 1000);
  await made.runs.sweep();
  strictEqual(await made.state(accepted.task.id), "input-required");
  made.clock.jump(2000);
  await made.clock.advance(60_000);
  const { task } = await made.record(accepted.task.id);
  deepStrictEqual([task.status.state, statusText(task)], ["TASK_STATE_FAILED", "no answer came"]);
  using next = await made.send("new", { contextId: "c" });
  strictEqual(next.task.status.state, "TASK_STATE_WORKING");
});

Deno.test("a finished task goes after 30 days with all that came with it, one that is owed a push stays [SM1 T17, §7 retention]", async () => {
  await using made = await makeRuns();
  const parts = [{ raw: btoa("x"), filename: "a.txt" }];
  using old = await made.send("", { parts });
  using owed = await made.send("", { parts, push: { id: "p", url: "https://hooks.example/" } });
  using running = await made.send("", { parts });
  for (const turn of made.sessions.turns.slice(0, 2)) turn.answer("done");
  await Promise.all([old.settled(), owed.settled()]);
  const folder = (id: TaskId) => made.paths.inboxOf(alice, id);
  made.clock.jump(30 * day - 1000);
  await made.runs.sweep();
  strictEqual(await made.state(old.task.id), "completed");
  made.clock.jump(2000);
  await made.runs.sweep();
  strictEqual(await made.store.read(old.task.id, alice), undefined);
  strictEqual(made.disk.stampSync(folder(old.task.id)), undefined);
  for (const { task } of [owed, running]) {
    ok(await made.store.read(task.id, alice));
    ok(made.disk.stampSync(folder(task.id)));
  }
  strictEqual(made.counters.snapshot()["tasks.pruned"], 1);
});

Deno.test("without limits nothing is timed out or pruned [§7 zero-is-none]", async () => {
  await using made = await makeRuns({ limits: { inputMs: Infinity, keepMs: Infinity } });
  using asking = await made.send("one");
  using ended = await made.send("two");
  const [first, second] = made.sessions.turns;
  first!.ask("Which?");
  second!.answer("done");
  await Promise.all([asking.settled(), ended.settled()]);
  made.clock.jump(10_000 * day);
  await made.runs.sweep();
  deepStrictEqual([await made.state(asking.task.id), await made.state(ended.task.id)], ["input-required", "completed"]);
});

Deno.test("a sweep that fails is logged and the next one works", async () => {
  let isBroken = true;
  await using made = await makeRuns({
    wrap: (store) =>
      new Proxy(store, {
        get(target, name) {
          if (name === "abandoned" && isBroken) return () => Promise.reject(new Error("EIO"));
          const value = Reflect.get(target, name, target);
          return typeof value === "function" ? value.bind(target) : value;
        },
      }),
  });
  using accepted = await made.send("hello");
  (await made.sessions.next()).ask("Which?");
  await accepted.settled();
  made.clock.jump(31 * day);
  await made.clock.advance(60_000);
  strictEqual(await made.state(accepted.task.id), "input-required");
  isBroken = false;
  await made.clock.advance(60_000);
  strictEqual(await made.state(accepted.task.id), "failed");
});

interface Crashed extends AsyncDisposable {
  readonly made: RunFixture;
  readonly ids: { readonly working: TaskId; readonly queued: TaskId; readonly asking: TaskId };
  /** Starts a host over what is left; its first sweep is done. */
  restart(limits?: Partial<RunLimits>): Promise<ReturnType<RunFixture["newHost"]>>;
  /** A host is heard of no more, and its leases run out. */
  die(host: RunHost): Promise<void>;
}

/** A host died with a run at work, one in the queue (of `contextId`), and a question open. */
async function crashed(options: RunFixtureOptions = {}, contextId?: string): Promise<Crashed> {
  const made = await makeRuns({ ...options, limits: { runsMax: 1, ...options.limits } });
  using ask = await made.send("asking");
  (await made.sessions.next()).ask("Which?");
  await ask.settled();
  await made.clock.settle();
  using working = await made.send("working");
  using queued = await made.send("queued", { contextId });
  const die: Crashed["die"] = async ({ view }) => {
    view.block();
    await made.clock.advance(61_000);
  };
  await die(made);
  return {
    made,
    die,
    ids: { working: working.task.id, queued: queued.task.id, asking: ask.task.id },
    async restart(limits) {
      const host = made.newHost(limits && { limits: { ...made.limits, ...limits } });
      await made.clock.settle();
      return host;
    },
    [Symbol.asyncDispose]: () => made[Symbol.asyncDispose](),
  };
}
