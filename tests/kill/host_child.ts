import { type Host, openHost } from "@/workspace_host.ts";
import { readConfig } from "@/config.ts";
import { Counters } from "@/counters.ts";
import { createFauxEngine } from "@/engine/faux_engine.ts";
import { Outbound } from "@/outbound/outbound.ts";
import { startLog } from "@/log.ts";
import { systemRandom } from "@/random.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { createTearingDisk } from "@tests/kill/child_disk.ts";
import { type ChildJob, writeLine } from "@tests/kill/child_line.ts";
import { ChildLoad } from "@tests/kill/child_load.ts";
import { tidyUp } from "@tests/kill/child_tidy.ts";
import { listAll } from "@tests/kill/child_tasks.ts";

/** A host in a process of its own, which `kill_test.ts` kills. Run by `start_child.ts`, with the rights it needs alone. */
const job = JSON.parse(Deno.args[0]!) as ChildJob;
startLog({ level: "error", form: "text" });
let load: ChildLoad | undefined;
writeLine({ kind: "begin" });
const began = systemClock.elapsed();
const host = await open();
writeLine({ kind: "ready", ms: Math.round(systemClock.elapsed() - began) });
let working: Promise<void> | undefined;
if (job.mode === "tidy") {
  await tidyUp(host, await listAll(host));
} else {
  load = new ChildLoad(host, job, await listAll(host));
  working = load.work();
  const graceMs = await toldToDrain();
  load.stop();
  await host.runs.drain(graceMs);
}
await host[Symbol.asyncDispose]();
await working; // what follows a queued task is told only now that there is no more to come
writeLine({ kind: "stopped" });
Deno.exit(0); // standard input may still be open

async function open(): Promise<Host> {
  const read = readConfig({
    flags: {
      "concurrent-runs": "6",
      "turns-per-context": "0",
      "delegated-turns-in-row": "0",
      "keep-for": `${job.keepMs / 1000}s`,
      "notices-per-hour": "0",
      "min-free-bytes": "1MiB",
      "durability": "disk",
    },
  });
  if (read.kind === "problems") throw new Error(read.problems.join("\n"));
  const opened = await openHost({
    workspace: job.workspace,
    config: read.config,
    engine: createFauxEngine({ clock: systemClock }),
    disk: createTearingDisk(createDisk(systemClock), {
      saving: () => load?.saving(),
      cut: (path) => load?.cut(path),
      torn: () => load?.torn(),
    }),
    clock: systemClock,
    random: systemRandom,
    counters: new Counters(),
    outbound: new Outbound({ clock: systemClock }),
    pid: Deno.pid,
  });
  if (opened.kind === "refused") throw new Error(opened.message);
  return opened;
}

/** Resolves with the grace that the line on standard input names; never when there is none. */
async function toldToDrain(): Promise<number> {
  for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) return Number(text);
  return await new Promise(() => {});
}
