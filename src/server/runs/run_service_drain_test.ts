import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { replacing } from "@tests/fakes/replacing.ts";
import { alice, briefly, makeRuns, statusText } from "@tests/fakes/run_service_fixture.ts";

Deno.test("drain lets what runs end within the grace, and takes nothing new [SM3 drain, SM7 drain]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  const turn = await made.sessions.next();
  let isDrained = false;
  const draining = made.runs.drain(30_000).then(() => isDrained = true);
  for (const sent of [{}, { taskId: accepted.task.id }, { hops: 9 }, { dedupe: "h" }]) {
    const refused = await made.submit("new", sent);
    ok(refused.kind === "refused");
    deepStrictEqual([refused.why, refused.retryAfterMs], ["shutting down", 10_000]);
  }
  await made.clock.advance(20_000);
  deepStrictEqual([isDrained, turn.signal.aborted], [false, false]);
  turn.answer("in time");
  await draining;
  strictEqual(made.clock.elapsed(), 20_000);
  strictEqual(await made.state(accepted.task.id), "completed");
  strictEqual(made.counters.snapshot()["runs.refused.draining"], 4);
});

Deno.test("drain fails what is at work after the grace as a restart would, and aborts it [SM3 drain, SM3 turning abort]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  const turn = await made.sessions.next();
  const draining = made.runs.drain(30_000);
  await made.clock.advance(29_999);
  strictEqual(await made.state(accepted.task.id), "working");
  const held = made.gate.hold("failed");
  await made.clock.advance(1);
  await held.reached;
  strictEqual(turn.signal.aborted, false);
  held.release();
  await draining;
  strictEqual(turn.signal.aborted, true);
  deepStrictEqual((await briefly(accepted.events)).at(-1), "failed");
  strictEqual(statusText((await made.record(accepted.task.id)).task), "server restarted");
});

Deno.test("drain waits at most 5 s for a turn that ignores its abort, and kills it [SM3 stopping-killed]", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello", { contextId: "c" });
  (await made.sessions.next()).ignoreAbort();
  let isDrained = false;
  const draining = made.runs.drain(0).then(() => isDrained = true);
  await made.clock.advance(4_999);
  deepStrictEqual([isDrained, await made.state(accepted.task.id)], [false, "failed"]);
  await made.clock.advance(1);
  await draining;
  deepStrictEqual(made.sessions.killed, ["ws-a2a-alice_c"]);
});

Deno.test("drain leaves queued runs queued, gives up every lease, and the next start runs them [SM3 drain]", async () => {
  await using made = await makeRuns({ limits: { runsMax: 1 } });
  using running = await made.send("running", { contextId: "c1" });
  using queued = await made.send("queued", { contextId: "c2" });
  const draining = made.runs.drain(10_000);
  await made.clock.advance(1_000);
  (await made.sessions.next()).answer("done");
  await draining;
  deepStrictEqual([await made.state(running.task.id), await made.state(queued.task.id)], ["completed", "submitted"]);
  strictEqual(made.sessions.turns.length, 1);
  deepStrictEqual((await made.store.abandoned(10)).map(({ task }) => task.id), [queued.task.id]);
  const next = made.newHost();
  await made.clock.settle();
  strictEqual((await next.sessions.next()).request.text, "queued");
  strictEqual((await made.record(queued.task.id)).run?.attempt, 2);
});

Deno.test("a message that waits for a drained context when the host drains is refused", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("one", { contextId: "c" });
  (await made.sessions.next()).ignoreAbort();
  await made.cancel(accepted.task.id);
  const waiting = made.submit("two", { contextId: "c" });
  await made.clock.settle();
  const draining = made.runs.drain(60_000);
  await made.clock.advance(5_000);
  const refused = await waiting;
  strictEqual(refused.kind === "refused" && refused.why, "shutting down");
  await draining;
  strictEqual(made.clock.elapsed(), 5_000);
});

Deno.test("a message that is being stored when the host drains is accepted, and its run gets the grace", async () => {
  await using made = await makeRuns();
  const held = made.gate.hold("working");
  const sending = made.send("hello");
  await held.reached;
  const draining = made.runs.drain(10_000);
  await made.clock.settle();
  held.release();
  using accepted = await sending;
  (await made.sessions.next()).answer("done");
  await draining;
  strictEqual(await made.state(accepted.task.id), "completed");
});

Deno.test("drain can be asked for again, and cancel and read still answer while it waits", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello");
  const [first, second] = [made.runs.drain(60_000), made.runs.drain(0)];
  strictEqual(first, second);
  const events = briefly(await made.follow(accepted.task.id));
  strictEqual((await made.cancel(accepted.task.id)).kind, "canceled");
  await first;
  deepStrictEqual(await events, ["task working", "canceled"]);
  strictEqual(made.clock.elapsed(), 0);
});

Deno.test("a lease is renewed while a long grace goes on", async () => {
  await using made = await makeRuns();
  using accepted = await made.send("hello", { contextId: "c" });
  const draining = made.runs.drain(300_000);
  await made.clock.advance(200_000);
  deepStrictEqual(await made.store.abandoned(10), []);
  (await made.sessions.next()).answer("done");
  await draining;
  strictEqual(await made.state(accepted.task.id), "completed");
});

Deno.test("who waits for a task when the store closes gets it as it stands, and is not left waiting", async () => {
  const made = await makeRuns();
  const accepted = await made.send("hello", { contextId: "c" });
  (await made.sessions.next()).ask("Which?");
  await accepted.settled();
  const { id } = accepted.task;
  const following = briefly(await made.follow(id));
  const working = await made.send("other");
  const settled = working.settled();
  await made[Symbol.asyncDispose]();
  deepStrictEqual(await following, ["task input-required"]);
  deepStrictEqual([(await settled).status.state, statusText(await settled)], ["TASK_STATE_FAILED", "server restarted"]);
});

const histories: Readonly<Record<string, (made: Awaited<ReturnType<typeof makeRuns>>) => Promise<void>>> = {
  "nothing happened": () => Promise.resolve(),
  async "all kinds of runs are there"(made) {
    const sent = [];
    for (let n = 0; n < 6; n++) sent.push(await made.send(`${n}`, { contextId: `c${n}` }));
    const [first, second, third] = made.sessions.turns;
    first!.ask("Which?");
    second!.ignoreAbort();
    third!.break(new Error("bug"));
    await made.clock.settle();
    await made.cancel(sent[1]!.task.id);
    await made.cancel(sent[5]!.task.id);
    await made.runs.follow(sent[0]!.task.id, alice, new AbortController().signal);
  },
};

for (const [name, happen] of Object.entries(histories)) {
  Deno.test(`disposing leaves no timer and no lease when ${name} [SM7 stop]`, async () => {
    await using made = await makeRuns();
    await happen(made);
    const closing = made.runs[Symbol.asyncDispose]();
    await made.clock.advance(5_000);
    await closing;
    strictEqual(made.clock.pending, 0);
    for (let n = 0; n < 6; n++) {
      const lease = await made.store.lease({ caller: alice, contextId: `c${n}` }, await anyTask(made), 1);
      strictEqual("kind" in lease, false);
    }
    await made.runs[Symbol.asyncDispose]();
  });
}

Deno.test("a follower costs nothing once it left: the store follows only what is at work", async () => {
  const follows = { now: 0 };
  await using made = await makeRuns({
    wrap: (store) =>
      new Proxy(store, {
        get(target, name) {
          const value = Reflect.get(target, name, target);
          if (name !== "follow") return typeof value === "function" ? value.bind(target) : value;
          return async (...args: Parameters<typeof store.follow>) => {
            const items = await target.follow(...args);
            follows.now++;
            let isOpen = true;
            const over = () => {
              if (isOpen) follows.now--;
              isOpen = false;
            };
            args[2].addEventListener("abort", over);
            return items && {
              async next() {
                const item = await items.next();
                if (item.done) over();
                return item;
              },
              async return() {
                over();
                return await items.return!();
              },
              [Symbol.asyncIterator]() {
                return this;
              },
            };
          };
        },
      }),
  });
  const accepted = await made.send("hello", { messageId: "m", dedupe: "h" });
  const again = await made.send("hello", { messageId: "m", dedupe: "h" });
  const unread = await made.send("hello", { messageId: "m", dedupe: "h" });
  const settled = accepted.settled();
  await made.clock.settle();
  strictEqual(follows.now, 5);
  unread[Symbol.dispose]();
  strictEqual(follows.now, 4);
  (await made.sessions.next()).answer("done");
  await settled;
  await briefly(again.events);
  await briefly(accepted.events);
  await made.clock.settle();
  strictEqual(follows.now, 0);
});

async function anyTask(made: Awaited<ReturnType<typeof makeRuns>>) {
  const page = await made.store.list({ caller: alice, pageSize: 1, pageToken: "" });
  if (page.kind === "page" && page.tasks[0] !== undefined) return page.tasks[0].task.id;
  return "00000000-0000-4000-8000-000000000000" as never;
}

Deno.test("drain waits for no list and no key that the store does not give, and refuses who waits for one", async () => {
  const never = () => new Promise<never>(() => {});
  await using made = await makeRuns({
    wrap: (store) => replacing(store, { abandoned: never, aged: never, duplicateOf: never }),
  });
  const waiting = made.submit("hello", { dedupe: "h" });
  await made.clock.settle();
  await made.runs.drain(60_000);
  const refused = await waiting;
  strictEqual(refused.kind === "refused" && refused.why, "shutting down");
});

Deno.test("drain begins no queued run while it waits for a sweep", async () => {
  let held = Promise.resolve();
  await using made = await makeRuns({
    limits: { runsMax: 1 },
    wrap: (store) => replacing(store, { renew: (...args) => held.then(() => store.renew(...args)) }),
  });
  using running = await made.send("running", { contextId: "c1" });
  using queued = await made.send("queued", { contextId: "c2" });
  const gate = Promise.withResolvers<void>();
  held = gate.promise;
  const sweeping = made.runs.sweep();
  const draining = made.runs.drain(60_000);
  (await made.sessions.next()).answer("done");
  await made.clock.settle();
  gate.resolve();
  await Promise.all([sweeping, draining]);
  deepStrictEqual([await made.state(running.task.id), await made.state(queued.task.id)], ["completed", "submitted"]);
});
