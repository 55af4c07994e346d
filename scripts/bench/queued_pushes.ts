import { Counters } from "@/counters.ts";
import { systemRandom } from "@/random.ts";
import { PushQueue } from "@/server/push/push_queue.ts";
import { newPush } from "@/server/tasks/push_lifecycle.ts";
import { newestStatus, type TaskRecord } from "@/server/tasks/task_record.ts";
import { TaskWriter } from "@/server/tasks/task_writer.ts";
import { systemClock } from "@/time/clock.ts";
import { openBenchStore } from "./bench_store.ts";
import { benchCaller, madeTask } from "./made_tasks.ts";
import { openBenchOutbound } from "./receiver.ts";
import { inFlight, timed } from "./rounds.ts";

/** How many tasks end at once. */
const lanes = 64;

/**
 * Ends `count` tasks, each with a webhook at one of the receivers in turn, in a store over a folder, and returns how many of
 * them a second were pushed: from the first status to the last commit of what a receiver took.
 */
export async function queuedPushes(
  folder: string,
  { origins, count }: { readonly origins: readonly string[]; readonly count: number },
): Promise<number> {
  const [clock, random, counters] = [systemClock, systemRandom, new Counters()];
  await using opened = new AsyncDisposableStack();
  const outbound = opened.use(await openBenchOutbound());
  const store = opened.use(await openBenchStore(folder, { counters }));
  const key = await crypto.subtle.generateKey({ name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const all = Promise.withResolvers<void>();
  let taken = 0;
  const writer = new TaskWriter({
    ...{ store, clock, random, counters },
    onCommitted(record) {
      queue.wake(record);
      if (record.pushes[0]!.state === "done" && ++taken === count) all.resolve();
    },
  });
  const queue = opened.use(
    new PushQueue({
      ...{ store, writer, outbound, clock, random, counters, perMinuteMax: Infinity },
      keysOf: () => Promise.resolve([key]),
      standingOf: () => "active",
      onSent({ result }) {
        if (result.kind !== "taken") {
          all.reject(new Error(`Expected a push to be taken, got ${JSON.stringify(result)}`));
        }
      },
    }),
  );
  await inFlight(count, lanes, async (number) => {
    await writer.create(watched(madeTask(number).working, `${origins[number % origins.length]}/hook`));
  });
  const ms = await timed(() => Promise.all([all.promise, inFlight(count, lanes, (number) => end(writer, number))]));
  return count / ms * 1000;
}

/** A task whose webhook took all so far. */
function watched(record: TaskRecord, url: string): TaskRecord {
  const push = newPush({ id: "hook", url }, { acked: newestStatus(record).seq, now: systemClock.now() });
  return { ...record, pushes: [{ ...push, nextAt: null }] };
}

async function end(writer: TaskWriter, number: number): Promise<void> {
  const { working: { task: { id }, run } } = madeTask(number);
  const text = "The first one, for it is there. ".repeat(23); // a push of 1 kB
  const event = { kind: "answered", runId: run!.runId, text, truncated: false, files: 0 } as const;
  const applied = await writer.apply({ id, caller: benchCaller }, event, { whenFull: "refuse" });
  if (applied.kind !== "changed") throw new Error(`Cannot end a task: ${applied.kind}`);
}
