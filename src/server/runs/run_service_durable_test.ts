import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { stateWord } from "@tests/fakes/commit_gate.ts";
import { alice, briefEvent, briefly, makeRuns, type RunFixture } from "@tests/fakes/run_service_fixture.ts";
import type { PlayedTurn } from "@tests/fakes/scripted_sessions.ts";
import type { TaskId } from "@/protocol/ids.ts";
import type { StreamJson, TaskJson } from "@/protocol/task.ts";
import { parseTime } from "@/time/clock.ts";
import type { TaskStore } from "@/server/tasks/task_store.ts";

/** A task that stands where something is about to happen to it. */
interface Ready {
  readonly made: RunFixture;
  readonly id: TaskId;
  readonly turn: PlayedTurn;
}

interface Change {
  readonly name: string;
  readonly from: "working" | "input-required" | "submitted";
  readonly to: string;
  /** What a follower sees of it; `to` when absent. */
  readonly event?: string;
  /** Someone asks for it: the promise must not resolve before it is durable. */
  readonly asked?: (ready: Ready) => Promise<unknown>;
  /** The engine or the time does it. */
  readonly act?: (ready: Ready) => void;
}

/** What happens to a task that exists: each is one commit. */
const changes: readonly Change[] = [
  { name: "T2 started", from: "submitted", to: "working", event: "working", act: ({ turn }) => turn.answer("free") },
  {
    ...{ name: "T4 file sent", from: "working", to: "working", event: "file a.txt" },
    async asked({ turn: { request: { tools } } }) {
      const { path } = await tools.write!("a.txt", new Uint8Array(1));
      await tools.send!(path!);
    },
  },
  { ...{ name: "T5 asked", from: "working", to: "input-required" }, act: ({ turn }) => turn.ask("?") },
  { ...{ name: "T6 answered", from: "working", to: "completed" }, act: ({ turn }) => turn.answer("x") },
  {
    ...{ name: "T7 answered with nothing", from: "working", to: "failed" },
    act: ({ turn }) => turn.end({ kind: "answered", text: "", truncated: false }),
  },
  { ...{ name: "T8 failed", from: "working", to: "failed" }, act: ({ turn }) => turn.break(new Error("bug")) },
  {
    ...{ name: "T9 deadline passed", from: "working", to: "failed" },
    act: ({ made }) => void made.clock.advance(600_000),
  },
  { ...{ name: "T10 canceled", from: "working", to: "canceled" }, asked: ({ made, id }) => made.cancel(id) },
  { ...{ name: "T10 canceled queued", from: "submitted", to: "canceled" }, asked: ({ made, id }) => made.cancel(id) },
  { ...{ name: "T10 canceled asking", from: "input-required", to: "canceled" }, asked: (r) => r.made.cancel(r.id) },
  {
    ...{ name: "T11 continued", from: "input-required", to: "working" },
    asked: async ({ made, id }) => (await made.send("that", { taskId: id }))[Symbol.dispose](),
  },
  {
    ...{ name: "T12 not answered", from: "input-required", to: "failed" },
    async asked({ made }) {
      made.clock.jump(31 * 24 * 3_600_000);
      await made.runs.sweep();
    },
  },
  { ...{ name: "T15 expelled", from: "working", to: "canceled" }, asked: ({ made }) => made.runs.expel(alice) },
];

for (const change of changes) {
  Deno.test(`${change.name} is durable before anyone sees it [§5.5 durable-before-seen]`, async () => {
    const { from, to, event = to } = change;
    const woken: string[] = [];
    const onCommitted = ({ task }: { task: TaskJson }) => void woken.push(`${stateWord({ task })} ${task.id}`);
    await using made = await makeRuns({ limits: { runsMax: 1, runMs: 600_000 }, service: { onCommitted } });
    const ready = await readyFor(made, from);
    const { id } = ready;
    const before = await made.record(id);
    const seen: string[] = [];
    const reading = watch(made.store, { id, events: await made.follow(id) }, seen);
    await made.clock.settle();
    deepStrictEqual(seen.splice(0), [`task ${from}`]);
    woken.length = 0;
    const held = made.gate.hold(to);
    let isDone = false;
    change.act?.(ready);
    const done = change.asked?.(ready).then(() => isDone = true);
    await held.reached;
    await made.clock.settle();
    strictEqual(await made.record(id), before);
    deepStrictEqual(seen.filter((brief) => !brief.startsWith("response")), []);
    deepStrictEqual([isDone, woken.includes(`${to} ${id}`)], [false, false]);
    held.release();
    await done;
    await made.clock.settle();
    strictEqual(await made.state(id), to);
    ok(seen.includes(event), `${event} is not in ${seen}`);
    ok(woken.includes(`${to} ${id}`));
    if (["working", "input-required"].includes(to)) await made.cancel(id);
    await reading;
  });
}

for (const [name, hops, state] of [["T1w", 0, "working"], ["T1h", 9, "failed"]] as const) {
  Deno.test(`${name}: a task is durable before its caller or its engine hears of it [§5.5 durable-before-seen]`, async () => {
    await using made = await makeRuns();
    const held = made.gate.hold(state);
    let isAnswered = false;
    const sending = made.send("hello", { hops }).finally(() => isAnswered = true);
    const { task } = await held.reached;
    await made.clock.settle();
    deepStrictEqual([isAnswered, made.sessions.turns.length], [false, 0]);
    strictEqual(await made.store.read(task.id, alice), undefined);
    strictEqual((await made.runs.follow(task.id, alice, new AbortController().signal)).kind, "refused");
    strictEqual(made.counters.snapshot()["tasks.created"], 0);
    held.release();
    using accepted = await sending;
    strictEqual(await made.state(accepted.task.id), state);
  });
}

Deno.test("an answer in the very step in which a question is seen is accepted [§5.4 instant-answer, SM2 running-asked]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  const { id } = accepted.task;
  (await made.sessions.next()).ask("Which?");
  let continued: Promise<string[]> | undefined;
  for await (const event of accepted.events) {
    if (briefEvent(event) !== "input-required") continue;
    const answer = await made.submit("that", { taskId: id });
    ok(answer.kind === "accepted", answer.kind === "refused" ? answer.why : "");
    continued = briefly(answer.events);
  }
  (await made.sessions.next()).answer("done");
  deepStrictEqual((await continued!).at(-1), "completed");
});

Deno.test("a new message in the very step in which an end is seen is accepted [SM2 running-ended, SM1 order-at-end]", async () => {
  const ends = [
    (turn: PlayedTurn) => turn.ask("Which?"),
    (turn: PlayedTurn) => turn.answer("done"),
    (turn: PlayedTurn) => turn.break(),
  ];
  await using made = await makeRuns({ limits: { runsMax: 1 } });
  for (const end of ends) {
    using accepted = await made.send("one", { contextId: "c" });
    end(await made.sessions.next());
    for await (const event of await made.follow(accepted.task.id)) {
      if (!["completed", "input-required", "failed"].includes(briefEvent(event))) continue;
      using next = await made.send("two", { contextId: "c" });
      strictEqual(next.task.status.state, "TASK_STATE_WORKING");
      (await made.sessions.next()).answer("done");
      await next.settled();
      break;
    }
  }
});

Deno.test("who waits for a task to settle can answer at once too [§5.4 instant-answer]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  const answering = accepted.settled().then(({ id }) => made.submit("that", { taskId: id }));
  (await made.sessions.next()).ask("Which?");
  const answer = await answering;
  ok(answer.kind === "accepted");
  answer[Symbol.dispose]();
});

Deno.test("the end of a run is slot, publish, waiters, push wake, in that order [SM1 order-at-end]", async () => {
  const order: string[] = [];
  await using made = await makeRuns({
    service: { onCommitted: (record) => void order.push(`wake ${stateWord(record)}`) },
    wrap: (store) => onCommit(store, (what) => order.push(what)),
  });
  using accepted = await made.send("hello");
  order.length = 0;
  const waiting = accepted.settled().then(() => order.push("waiter"));
  (await made.sessions.next()).answer("done");
  await waiting;
  await made.clock.settle();
  deepStrictEqual(order.slice(0, 2), ["commit", "slot"]);
  deepStrictEqual(order.slice(2).sort(), ["waiter", "wake completed"]);
});

/** Brings a task to `from`, with the turn that the change needs: its own, or the one that has the slot it waits for. */
async function readyFor(made: RunFixture, from: "working" | "input-required" | "submitted"): Promise<Ready> {
  if (from === "submitted") {
    (await made.send("first"))[Symbol.dispose]();
    const turn = await made.sessions.next();
    using accepted = await made.send("hello");
    return { made, id: accepted.task.id, turn };
  }
  using accepted = await made.send("hello");
  const turn = await made.sessions.next();
  if (from === "input-required") {
    turn.ask("Which?");
    await accepted.settled();
    await made.clock.settle();
  }
  return { made, id: accepted.task.id, turn };
}

/** Notes each event, and proves that who sees a status can read it, or a newer one. */
async function watch(
  store: TaskStore,
  { id, events }: { id: TaskId; events: AsyncIterable<StreamJson> },
  seen: string[],
): Promise<void> {
  for await (const event of events) {
    seen.push(briefEvent(event));
    if (!("statusUpdate" in event)) continue;
    const stored = (await store.read(id, alice))!.task.status;
    ok(parseTime(stored.timestamp) >= parseTime(event.statusUpdate.status.timestamp), "seen before it is stored");
  }
}

/** A store that says when a commit is done and when what goes with it is. */
function onCommit(store: TaskStore, say: (what: "commit" | "slot") => void): TaskStore {
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (name === "commit") {
        const commit: TaskStore["commit"] = (expected, next, options = {}) =>
          target.commit(expected, next, {
            ...options,
            onDurable() {
              say("commit");
              options.onDurable?.();
              say("slot");
            },
          });
        return commit;
      }
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
