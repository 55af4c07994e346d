import { openBenchRuns } from "./bench_runs.ts";
import type { BenchSetting } from "./bench_setting.ts";
import type { Report, Row } from "./report.ts";
import { inFlight, interleave, type Sample, timed } from "./rounds.ts";

const load = [[1, 200], [8, 800], [32, 1600]] as const;

/** Messages a second from `submit` to the settled task, with an engine that answers at once. */
export async function sendBench({ folder, rounds, share }: BenchSetting): Promise<Report> {
  const samples = await interleave(
    rounds,
    load.flatMap(([lanes, full]) => {
      const count = full / share;
      return [
        async () => await sends(await folder.fresh(), { lanes, count, store: "memory", contexts: "same" }),
        async () => await sends(await folder.fresh(), { lanes, count, store: "file", contexts: "same" }),
        async () => await sends(await folder.fresh(), { lanes, count, store: "file", contexts: "new" }),
      ];
    }),
  );
  const rows: Row[] = load.flatMap(([lanes]) => {
    const name = (which: string) => `${which} ${lanes}`;
    return [
      { what: `memory store, ${lanes} in flight`, value: samples.median(name("memory same")), unit: "tasks/s" },
      {
        what: `file store, ${lanes} in flight`,
        ratio: samples.ratio(name("file same"), name("memory same")),
        to: "memory store",
        value: samples.median(name("file same")),
        unit: "tasks/s",
      },
      {
        what: `file store, ${lanes} in flight, each message a new context`,
        ratio: samples.ratio(name("file new"), name("file same")),
        to: "going on in a context",
        value: samples.median(name("file new")),
        unit: "tasks/s",
      },
    ];
  });
  const about =
    "Tasks a second, from a message to its settled task, with the faux engine: two commits of the task and " +
    "two flushes of the transcript each. The memory store keeps tasks in memory and transcripts on disk.";
  return { name: "send", about, rows };
}

interface Sends {
  readonly lanes: number;
  readonly count: number;
  readonly store: "memory" | "file";
  readonly contexts: "same" | "new";
}

async function sends(folder: string, { lanes, count, store, contexts }: Sends): Promise<Sample> {
  await using bench = await openBenchRuns(folder, { store, sessionsMax: 100 });
  const send = async (contextId?: string) => {
    using accepted = await bench.send("Hello", contextId);
    const { status } = await accepted.settled();
    if (status.state !== "TASK_STATE_COMPLETED") throw new Error(`Expected a completed task, got ${status.state}`);
  };
  if (contexts === "same") { for (let lane = 0; lane < lanes; lane++) await send(`lane-${lane}`); }
  const ms = await timed(() =>
    inFlight(count, lanes, (_, lane) => send(contexts === "new" ? undefined : `lane-${lane}`))
  );
  return { [`${store} ${contexts} ${lanes}`]: count / ms * 1000 };
}
