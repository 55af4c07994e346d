import type { BenchSetting } from "./bench_setting.ts";
import type { Report, Row } from "./report.ts";
import { interleave, type Sample } from "./rounds.ts";
import { runProbe } from "./run_probe.ts";

const few = 1_000;
const journalBytes = 16 * 1024 * 1024;

/** How long a store takes to open, to answer, and to know all its tasks; and to recover a full journal. */
export async function startupBench({ folder, rounds, share }: BenchSetting): Promise<Report> {
  const many = 100_000 / share;
  const paths = { few: await folder.tasks(few), many: await folder.tasks(many) };
  let journaled = 0;
  const samples = await interleave(Math.min(rounds, 3), [
    async () => named("few", await runProbe("openStore", { folder: paths.few, count: few })),
    async () => named("many", await runProbe("openStore", { folder: paths.many, count: many })),
    async () => {
      const journal = await folder.journal(journalBytes / share);
      journaled = journal.tasks;
      return named("journal", await runProbe("openStore", { folder: journal.path, count: journal.tasks }));
    },
  ]);
  const pair = (what: string, name: string): Row[] => [
    { what: `${what}, ${few} tasks`, value: samples.median(`few ${name}`), unit: "ms" },
    {
      what: `${what}, ${many} tasks`,
      ratio: samples.ratio(`many ${name}`, `few ${name}`),
      to: `${few} tasks`,
      value: samples.median(`many ${name}`),
      unit: "ms",
    },
  ];
  return {
    name: "startup",
    about:
      "From the call of `openFileTaskStore` in a new process, over finished tasks; files in the system's page cache.",
    rows: [
      ...pair("open", "open"),
      ...pair("first GetTask answered", "answer"),
      ...pair("index complete", "index"),
      {
        what: `open after a crash, journal of ${journalBytes / share / 2 ** 20} MiB with ${journaled} tasks`,
        value: samples.median("journal open"),
        unit: "ms",
      },
    ],
  };
}

function named(prefix: string, sample: Sample): Sample {
  return Object.fromEntries(Object.entries(sample).map(([name, value]) => [`${prefix} ${name}`, value]));
}
