import { parseArgs } from "node:util";
import { type BenchFolder, makeBenchFolder } from "./bench_folder.ts";
import type { BenchSetting } from "./bench_setting.ts";
import { commitsBench } from "./commits_bench.ts";
import { downloadBench } from "./download_bench.ts";
import { httpBench } from "./http_bench.ts";
import { listBench } from "./list_bench.ts";
import { memoryBench } from "./memory_bench.ts";
import { pushesBench } from "./pushes_bench.ts";
import { keepsLimit, type Report, tableOf } from "./report.ts";
import { sendBench } from "./send_bench.ts";
import { startupBench } from "./startup_bench.ts";
import { streamBench } from "./stream_bench.ts";

const benches: Readonly<Record<string, (setting: BenchSetting) => Promise<Report>>> = {
  commits: commitsBench,
  send: sendBench,
  stream: streamBench,
  list: listBench,
  startup: startupBench,
  memory: memoryBench,
  http: httpBench,
  pushes: pushesBench,
  download: downloadBench,
};

const usage = `deno task bench [NAME...] [--json] [--quick] [--rounds N] [--folder PATH]

Measures all, or what is named: ${Object.keys(benches).join(", ")}.
--json    prints one JSON document instead of tables
--quick   a tenth of the work, two rounds: shows that it runs, not how fast
--rounds  how often everything is measured, 5 unless told
--folder  where it writes; the system's folder for temporary files unless told, which may be no disk`;

/** Runs the named benches, or all, one after the other; the exit code says whether all limits were kept. */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: "boolean" },
      quick: { type: "boolean" },
      rounds: { type: "string" },
      folder: { type: "string" },
      help: { type: "boolean" },
    },
  });
  const names = positionals.length > 0 ? positionals : Object.keys(benches);
  const rounds = Number(values.rounds ?? (values.quick ? 2 : 5));
  if (values.help || names.some((name) => benches[name] === undefined) || !(rounds >= 1)) {
    console.error(usage);
    return values.help ? 0 : 2;
  }
  await using folder = await makeBenchFolder(values.folder);
  const setting = { folder, rounds, share: values.quick ? 10 : 1 };
  const reports: Report[] = [];
  for (const name of names) {
    const report = await run(name, setting);
    reports.push(report);
    if (!values.json) console.log(tableOf(report));
  }
  if (values.json) console.log(JSON.stringify({ deno: Deno.version.deno, rounds, reports }, null, 2));
  return reports.some(({ rows }) => rows.some((row) => keepsLimit(row) === false)) ? 1 : 0;
}

async function run(name: string, setting: BenchSetting & { readonly folder: BenchFolder }): Promise<Report> {
  const start = performance.now();
  const report = await benches[name]!(setting);
  console.error(`${name}: measured in ${((performance.now() - start) / 1000).toFixed(0)} s`);
  return report;
}

Deno.exitCode = await main();
