import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import type { Host } from "@/workspace_host.ts";
import type { EngineEvent, Prompt } from "@/engine/engine.ts";
import { createFauxEngine } from "@/engine/faux_engine.ts";
import { isTerminal, type StatusJson } from "@/protocol/task.ts";
import { systemClock } from "@/time/clock.ts";
import { isDiskFull } from "@/workspace/disk.ts";
import {
  ann,
  checkpoint,
  createForwardClock,
  mustSend,
  openDiskHost,
  readWhole,
  send,
  WatchedCounters,
  Witness,
} from "@tests/full_disk/disk_host.ts";
import { mountSmallDisk, type SmallDisk, whyNoSmallDisk } from "@tests/full_disk/small_disk.ts";
import { createScriptedEngine } from "@tests/fakes/scripted_engine.ts";

const whyNot = await whyNoSmallDisk();
if (whyNot !== undefined) console.log(`The tests of a full disk are skipped: ${whyNot}`);

const mib = 1024 * 1024;
/** Longer than a page, so that no record fits into what is left of one. */
const longText = "All work and no play. ".repeat(300);

function fullDiskTest(name: string, test: (small: SmallDisk) => Promise<void>): void {
  Deno.test({
    name,
    ignore: whyNot !== undefined,
    async fn() {
      await using small = await mountSmallDisk(8 * mib);
      await test(small);
    },
  });
}

fullDiskTest(
  "a host whose own commits fill the disk refuses new tasks, shows nothing unsaved, and ends all it accepted once there " +
    "is room [§5.5 disk-full-refused, §5.5 durable-before-seen, DM6 failed-write]",
  async (small) => {
    await small.fill(5 * mib);
    const witness = new Witness(small.path);
    const host = await openDiskHost(small.path, { engine: createFauxEngine({ clock: systemClock }) });
    const refused: string[] = [];
    const followed: Promise<StatusJson>[] = [];
    for (let number = 0; refused.length < 5; number++) {
      const messageId = `m${number}`;
      const file = { raw: new Uint8Array(10_000).toBase64(), filename: "a.bin" };
      const parts = [{ text: longText.repeat(8) }, ...number % 3 === 0 ? [file] : []];
      const answer = await send(host, "", { messageId, parts, contextId: `c${number}` });
      if (answer.kind === "accepted") followed.push(witness.follow(answer));
      else refused.push(answer.why), deepStrictEqual(await hasMessage(host, messageId), false);
    }
    deepStrictEqual(new Set(refused), new Set(["storage full"]));
    await small.free();
    const last = await Promise.all(followed);
    ok(last.every(({ state }) => isTerminal(state)));
    ok(last.some(({ state }) => state === "TASK_STATE_COMPLETED"));
    strictEqual((await witness.follow(await mustSend(host, longText))).state, "TASK_STATE_COMPLETED");
    await host[Symbol.asyncDispose]();
    await reopenAndCompare(small, witness);
  },
);

fullDiskTest(
  "a disk that fills while tasks run keeps their ends back until there is room again, refuses what is new, and changes " +
    "nothing that is shown [§5.5 disk-full-retried, §5.5 disk-full-refused]",
  async (small) => {
    const work = createGatedEngine();
    const counters = new WatchedCounters();
    const witness = new Witness(small.path);
    const host = await openDiskHost(small.path, { engine: work.engine, counters });
    const asked = await mustSend(host, `ask ${longText}`, { contextId: "asked" });
    strictEqual((await witness.follow(asked)).state, "TASK_STATE_INPUT_REQUIRED");
    const running = await Promise.all(["c1", "c2", "c3"].map((contextId) => mustSend(host, longText, { contextId })));
    const followed = running.map((accepted) => witness.follow(accepted));
    await work.begun(3);
    await checkpoint(host);
    await small.fill();
    work.open();
    await counters.reached("commit.retries", 5);

    deepStrictEqual(await whyRefused(host, "c4"), "storage full");
    const answer = await send(host, longText, { taskId: asked.task.id });
    deepStrictEqual(answer.kind === "refused" && answer.why, "storage full");
    for (const { task } of running) {
      strictEqual((await host.store.read(task.id, ann))?.task.status.state, "TASK_STATE_WORKING");
      strictEqual(witness.seen.get(task.id)?.state, "TASK_STATE_WORKING");
    }
    witness.compare(await readWhole(small.path, { isClosed: false }));

    await small.free();
    ok((await Promise.all(followed)).every(({ state }) => isTerminal(state)));
    const late = await mustSend(host, longText, { taskId: asked.task.id });
    strictEqual((await witness.follow(late)).state, "TASK_STATE_COMPLETED");
    await host[Symbol.asyncDispose]();
    await reopenAndCompare(small, witness);
  },
);

fullDiskTest(
  "a host that is closed while the disk is full leaves what it could not store to the next start, which needs room " +
    "[SM8 4, SM7 recover, DM6 failed-write]",
  async (small) => {
    const work = createGatedEngine();
    const counters = new WatchedCounters();
    const witness = new Witness(small.path);
    const host = await openDiskHost(small.path, { engine: work.engine, counters });
    const running = await Promise.all(["c1", "c2"].map((contextId) => mustSend(host, longText, { contextId })));
    const followed = running.map((accepted) => witness.follow(accepted));
    await work.begun(2);
    await small.fill();
    work.open();
    await counters.reached("commit.retries", 3);
    await host[Symbol.asyncDispose]();
    deepStrictEqual((await Promise.all(followed)).map(({ state }) => state), [
      "TASK_STATE_WORKING",
      "TASK_STATE_WORKING",
    ]);
    await rejects(openDiskHost(small.path, { engine: work.engine }), isDiskFull);
    witness.compare(await readWhole(small.path, { isClosed: false }));

    await small.free();
    await reopenAndCompare(small, witness);
    const records = await readWhole(small.path, { isClosed: true });
    for (const { task } of running) strictEqual(records.get(task.id)?.task.status.state, "TASK_STATE_FAILED");
  },
);

fullDiskTest(
  "under the floor of free disk new tasks are refused, and what was accepted goes on [§7 free-disk]",
  async (small) => {
    const clock = createForwardClock();
    const engine = createFauxEngine({ clock });
    await using host = await openDiskHost(small.path, { engine, clock, flags: { "min-free-bytes": "4MiB" } });
    const witness = new Witness(small.path);
    const asked = await mustSend(host, "ask: Which?", { contextId: "c1" });
    await witness.follow(asked);
    await small.fill(3 * mib);
    clock.forward(1_000); // the room is looked at once a second
    deepStrictEqual(await whyRefused(host, "c2"), "storage full");
    const answer = await mustSend(host, "Blue", { taskId: asked.task.id });
    strictEqual((await witness.follow(answer)).state, "TASK_STATE_COMPLETED");
    await small.free();
    clock.forward(1_000);
    strictEqual((await witness.follow(await mustSend(host, "Hello"))).state, "TASK_STATE_COMPLETED");
  },
);

/** Opens the workspace again: all that was shown is there, nothing is stuck, and a clean close leaves nothing lying. */
async function reopenAndCompare(small: SmallDisk, witness: Witness): Promise<void> {
  witness.compare(await readWhole(small.path, { isClosed: false }));
  const host = await openDiskHost(small.path, { engine: createFauxEngine({ clock: systemClock }) });
  await host.runs.sweep();
  deepStrictEqual(await host.store.abandoned(Infinity), []);
  for (const { task } of await host.store.unfinished(ann, Infinity)) {
    throw new Error(`${task.id} is stuck: ${task.status.state}`);
  }
  strictEqual((await witness.follow(await mustSend(host, "Hello"))).state, "TASK_STATE_COMPLETED");
  await host[Symbol.asyncDispose]();
  witness.compare(await readWhole(small.path, { isClosed: true }));
}

async function whyRefused(host: Host, contextId: string): Promise<string> {
  const messageId = `refused-${contextId}`;
  const answer = await send(host, longText, { contextId, messageId });
  if (answer.kind === "accepted") throw new Error("It was accepted");
  strictEqual(await hasMessage(host, messageId), false);
  return answer.why;
}

async function hasMessage(host: Host, messageId: string): Promise<boolean> {
  const page = await host.store.list({ caller: ann, pageSize: 100, pageToken: "" });
  if (page.kind !== "page" || page.next !== "") throw new Error("More tasks than were expected");
  return page.tasks.some(({ task }) => task.history?.some((message) => message.messageId === messageId));
}

/** An engine whose turns show text and then wait until the test lets all of them end. */
function createGatedEngine() {
  const gate = Promise.withResolvers<void>();
  const begun: PromiseWithResolvers<void>[] = [];
  const nth = (number: number) => begun[number - 1] ??= Promise.withResolvers<void>();
  let turns = 0;
  async function* turn({ text, tools }: Prompt): AsyncGenerator<EngineEvent, void, void> {
    if (text.startsWith("ask ")) {
      tools.requestInput?.("Which?");
      yield { kind: "end", outcome: { kind: "asked", question: "Which?", text: "" } };
      return;
    }
    yield { kind: "text", text };
    nth(++turns).resolve();
    await gate.promise;
    yield { kind: "end", outcome: { kind: "answered", text, truncated: false } };
  }
  return {
    engine: createScriptedEngine({ turn }),
    open: () => gate.resolve(),
    begun: (count: number) => nth(count).promise,
  };
}
