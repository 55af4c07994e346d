import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { sampleTask } from "@tests/fakes/sample_tasks.ts";
import type { CallerName } from "@/protocol/ids.ts";
import type { RunId, TaskRecord } from "@/server/tasks/task_record.ts";
import { RunSlots } from "./run_slots.ts";

const [ann, bob, cat] = ["ann", "bob", "cat"] as CallerName[] as [CallerName, CallerName, CallerName];
const noLimit = { runsMax: Infinity, queuedMax: Infinity };

Deno.test("RunSlots gives slots up to the limit, then places up to the limit, then refuses [§7 concurrent-runs]", () => {
  const slots = new RunSlots({ runsMax: 3, queuedMax: 32 });
  const places = Array.from({ length: 36 }, (_, n) => slots.enter(`r${n}` as RunId, ann));
  deepStrictEqual(places.slice(0, 3), ["running", "running", "running"]);
  deepStrictEqual(new Set(places.slice(3, 35)), new Set(["queued"]));
  strictEqual(places[35], "full");
  deepStrictEqual([slots.running, slots.queued], [3, 32]);
});

Deno.test("RunSlots alternates strictly between two callers with ten each in the queue [§7 fair-queue]", () => {
  const slots = new RunSlots({ runsMax: 1, queuedMax: 32 });
  slots.enter("now" as RunId, ann);
  let waiting = [...queue(slots, ann, 10), ...queue(slots, bob, 10)];
  let running = "now" as RunId;
  const order: string[] = [];
  while (waiting.length > 0) {
    slots.leave(running);
    const granted = slots.grant(waiting)!;
    strictEqual(slots.grant(waiting), undefined);
    order.push(granted.caller);
    running = granted.run!.runId;
    waiting = waiting.filter((record) => record !== granted);
  }
  deepStrictEqual(order, Array.from({ length: 20 }, (_, n) => n % 2 === 0 ? "bob" : "ann"));
});

Deno.test("RunSlots grants the oldest of a caller first, and a new caller before one that was served", () => {
  const slots = new RunSlots({ runsMax: 1, queuedMax: 32 });
  slots.enter("now" as RunId, ann);
  const waiting = [...queue(slots, ann, 2), ...queue(slots, cat, 2)];
  slots.leave("now" as RunId);
  strictEqual(slots.grant(waiting), waiting[2]);
});

Deno.test("RunSlots lets nobody overtake who waits, though a slot is free", () => {
  const slots = new RunSlots({ ...noLimit, callerRunsMax: (caller) => caller === ann ? 1 : undefined });
  strictEqual(slots.enter("r1" as RunId, ann), "running");
  strictEqual(slots.enter("r2" as RunId, ann), "queued");
  strictEqual(slots.enter("r3" as RunId, bob), "queued");
  const [second, third] = [record("r2", ann), record("r3", bob)];
  strictEqual(slots.grant([second, third]), third);
  strictEqual(slots.grant([second, third]), undefined);
  slots.leave("r1" as RunId);
  strictEqual(slots.grant([second, third]), second);
});

Deno.test("RunSlots grants only what has a place, and forgets who left", () => {
  const slots = new RunSlots({ runsMax: 1, queuedMax: 1 });
  slots.enter("r1" as RunId, ann);
  strictEqual(slots.enter("r2" as RunId, ann), "queued");
  slots.leave("r2" as RunId);
  slots.leave("r1" as RunId);
  strictEqual(slots.grant([record("r2", ann), record("r9", bob)]), undefined);
  strictEqual(slots.enter("r3" as RunId, bob), "running");
  slots.leave("r3" as RunId);
  slots.leave("r3" as RunId);
  deepStrictEqual([slots.running, slots.queued], [0, 0]);
});

Deno.test("RunSlots.waitAnyway() takes a place over the limit: it was accepted before", () => {
  const slots = new RunSlots({ runsMax: 1, queuedMax: 0 });
  slots.waitAnyway("r1" as RunId, ann);
  slots.waitAnyway("r2" as RunId, ann);
  strictEqual(slots.queued, 2);
  strictEqual(slots.enter("r3" as RunId, ann), "full");
  strictEqual(slots.grant([record("r1", ann)])?.run?.runId, "r1");
});

let count = 0;

function record(runId: string, caller: CallerName): TaskRecord {
  const made = sampleTask({ n: ++count, caller });
  return { ...made, run: { ...made.run!, runId: runId as RunId } };
}

function queue(slots: RunSlots, caller: CallerName, length: number): TaskRecord[] {
  return Array.from({ length }, (_, n) => {
    const made = record(`${caller}${n}`, caller);
    slots.enter(made.run!.runId, caller);
    return made;
  });
}

Deno.test("RunSlots gives a free slot past a full queue of those who have as many runs as they may [§7 own-runs]", () => {
  const callerRunsMax = (caller: CallerName) => caller === ann ? 1 : undefined;
  const slots = new RunSlots({ runsMax: 3, queuedMax: 2, callerRunsMax });
  const enter = (id: string, caller: CallerName) => slots.enter(id as RunId, caller);
  deepStrictEqual([enter("r1", ann), enter("r2", ann), enter("r3", ann)], ["running", "queued", "queued"]);
  deepStrictEqual([enter("r4", ann), enter("r5", bob)], ["full", "running"]);
  slots.leave("r1" as RunId); // ann's next is to be granted: nobody overtakes it
  strictEqual(enter("r6", bob), "full");
});

Deno.test("RunSlots gives a caller no more than the workspace has, whatever its own limit [§7 own-runs]", () => {
  const slots = new RunSlots({ runsMax: 2, queuedMax: 1, callerRunsMax: () => 9 });
  const places = ["r1", "r2", "r3", "r4"].map((id) => slots.enter(id as RunId, ann));
  deepStrictEqual(places, ["running", "running", "queued", "full"]);
});
