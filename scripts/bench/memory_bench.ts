import type { BenchSetting } from "./bench_setting.ts";
import type { Report, Row } from "./report.ts";
import { interleave } from "./rounds.ts";
import { runProbe } from "./run_probe.ts";

/** Sessions that stay open in the one case: fewer than a process may have open files. */
const openContexts = 2_000;

/** What an idle context and a stored task keep in memory, each in a process of its own. */
export async function memoryBench({ folder, rounds, share }: BenchSetting): Promise<Report> {
  const contexts = 10_000 / share;
  const open = openContexts / share;
  const tasks = 100_000 / share;
  const path = await folder.tasks(tasks);
  const samples = await interleave(Math.min(rounds, 3), [
    async () => {
      const closed = await runProbe("idleContexts", { folder: await folder.fresh(), count: contexts, sessionsMax: 1 });
      return { "closed heap": closed.heap!, "closed rss": closed.rss!, "closed ms": closed.msEach! };
    },
    async () => {
      const opened = await runProbe("idleContexts", { folder: await folder.fresh(), count: open, sessionsMax: 0 });
      return { "open heap": opened.heap!, "open rss": opened.rss!, "open ms": opened.msEach! };
    },
    () => runProbe("storedTasks", { folder: path, count: tasks }),
  ], { warmUp: false });
  const row = (what: string, name: string, atMost?: number): Row => ({
    what,
    value: samples.median(name) / 1000,
    unit: "kB",
    ...(atMost !== undefined && { limit: { atMost } }),
  });
  const about =
    `After one finished turn in each of ${contexts} contexts whose sessions were closed, and of ${open} whose ` +
    `sessions are open (each an open file); and with ${tasks} stored tasks of about 1 kB. Heap is what a full garbage ` +
    "collection leaves; the resident size also holds what V8 keeps for later.";
  return {
    name: "memory",
    about,
    rows: [
      row("idle context, session closed, its one task in memory: heap", "closed heap", 10),
      row("idle context, session closed: resident", "closed rss"),
      row("idle context, session open: heap", "open heap"),
      row("idle context, session open: resident", "open rss"),
      row("stored task, in the index alone: heap", "heap", 1),
      row("stored task, in the index alone: resident", "rss"),
      row("stored task, its record cached: heap more", "cachedHeap"),
      { what: "first message of a context, session closed", value: samples.median("closed ms"), unit: "ms" },
      { what: "first message of a context, session open", value: samples.median("open ms"), unit: "ms" },
    ],
  };
}
