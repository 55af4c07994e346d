import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { replacing } from "@tests/fakes/replacing.ts";
import { alice, makeRuns, type RunFixture, type Sent, statusText } from "@tests/fakes/run_service_fixture.ts";
import type { TaskId } from "@/protocol/ids.ts";
import { contentCharsMax, recordText } from "@/server/tasks/record_json.ts";

/** Sends a message that leaves no room for another character of content. */
async function sendFull(made: RunFixture, sent: Sent & { readonly contextId: string }) {
  using probe = await made.send("x", { ...sent, contextId: `${sent.contextId}-` });
  const chars = recordText(await made.record(probe.task.id)).length;
  await made.cancel(probe.task.id);
  const full = await made.send("x".repeat(contentCharsMax - chars), sent);
  const { length } = recordText(await made.record(full.task.id));
  ok(length <= contentCharsMax && length > contentCharsMax - 200);
  return full;
}

/** The turn of a task that was just sent. */
function turnOf(made: RunFixture, contextId: string) {
  return made.sessions.turns.find(({ request }) => request.contextId === contextId)!;
}

const minute = 60_000;
const ends: readonly {
  readonly name: string;
  readonly end: (made: RunFixture, turn: ReturnType<typeof turnOf>) => Promise<unknown>;
  readonly says: string | undefined;
}[] = [
  { name: "at its deadline [SM1 T9]", end: (made) => made.clock.advance(60 * minute), says: "stopped after 1 h" },
  { name: "with its caller [SM1 T15]", end: (made) => made.runs.expel(alice), says: "access ended" },
  {
    name: "when its run fails [SM1 T8]",
    end: (_, turn) => Promise.resolve(turn.end({ kind: "failed", message: "The model is away." })),
    says: "The model is away.",
  },
  {
    name: "when its run answers more than fits",
    end: (_, turn) => Promise.resolve(turn.answer("x".repeat(1_000))),
    says: "The task is over the limit of 4 MiB, files aside",
  },
  {
    name: "when it is canceled with text that does not fit [SM1 T10]",
    async end(made, turn) {
      turn.say("x".repeat(1_000));
      await made.clock.settle();
      await made.cancel(turn.request.taskId as TaskId);
    },
    says: undefined,
  },
];

for (const { name, end, says } of ends) {
  Deno.test(`a task that is as long as a record may be ends ${name} [DM5 bounds]`, async () => {
    await using made = await makeRuns({ limits: { runMs: 60 * minute } });
    using full = await sendFull(made, { contextId: "c" });
    await made.clock.settle();
    const turn = turnOf(made, "c");
    await end(made, turn);
    await made.clock.settle();
    const { task, run } = await made.record(full.task.id);
    deepStrictEqual([run, statusText(task)], [null, says]);
    strictEqual(turn.isOver, true);
    using next = await made.send("next", { contextId: "c" });
    strictEqual(next.task.status.state, "TASK_STATE_WORKING");
  });
}

Deno.test("a queued task that is as long as a record may be begins when a run slot is free [DM5 bounds, SM1 T2]", async () => {
  await using made = await makeRuns({ limits: { runsMax: 1 } });
  using first = await made.send("first", { contextId: "first" });
  using full = await sendFull(made, { contextId: "c" });
  strictEqual(full.task.status.state, "TASK_STATE_SUBMITTED");
  turnOf(made, "first").answer("done");
  await first.settled();
  await made.clock.settle();
  strictEqual(await made.state(full.task.id), "working");
});

Deno.test("a task that is as long as a record may be fails after its host was lost [DM5 bounds, SM1 T14]", async () => {
  await using made = await makeRuns();
  using full = await sendFull(made, { contextId: "c" });
  made.view.block();
  made.newHost();
  await made.clock.advance(3 * minute);
  const { task } = await made.record(full.task.id);
  deepStrictEqual([task.status.state, statusText(task)], ["TASK_STATE_FAILED", "server restarted"]);
});

Deno.test("an answer that does not fit into its task is refused, and the question stays open [DM5 bounds]", async () => {
  await using made = await makeRuns();
  using asked = await made.send("hello");
  (await made.sessions.next()).ask("Which?");
  await asked.settled();
  const refused = await made.submit("x".repeat(contentCharsMax), { taskId: asked.task.id });
  strictEqual(refused.kind === "refused" && refused.why, "too large");
  strictEqual(await made.state(asked.task.id), "input-required");
});

Deno.test("an expulsion that cannot be stored stops the engine all the same", async () => {
  await using made = await makeRuns({
    wrap: (store) =>
      replacing(store, {
        commit: (expected, next, options) =>
          next.task.status.state === "TASK_STATE_CANCELED"
            ? Promise.reject(new TypeError("a bug"))
            : store.commit(expected, next, options),
      }),
  });
  using _accepted = await made.send("hello");
  const turn = await made.sessions.next();
  await rejects(made.runs.expel(alice), /a bug/);
  strictEqual(turn.signal.aborted, true);
});
