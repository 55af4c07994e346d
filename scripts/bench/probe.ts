import { openBenchRuns } from "./bench_runs.ts";
import { benchDisk, openBenchStore } from "./bench_store.ts";
import { countedDisk } from "./counted_disk.ts";
import { downloadedFile, slowReader } from "./download_probes.ts";
import { benchCaller, madeId } from "./made_tasks.ts";
import { memory } from "./memory.ts";
import { inFlight, timed } from "./rounds.ts";

type Probe = (
  input: { folder: string; count: number; sessionsMax: number; origin: string; bytes: number },
) => Promise<Record<string, number>>;

/** What a process of its own can measure. */
const probes: Readonly<Record<string, Probe>> = { openStore, storedTasks, idleContexts, downloadedFile, slowReader };

/** Start-up: the times are since `openFileTaskStore` was called. */
async function openStore({ folder, count }: { folder: string; count: number }) {
  const start = performance.now();
  await using store = await openBenchStore(folder);
  const open = performance.now() - start;
  const record = await store.read(madeId(Math.floor(count / 2)), benchCaller);
  if (record === undefined) throw new Error("Cannot read a task of the folder");
  const answer = performance.now() - start;
  await store.indexed;
  return { open, answer, index: performance.now() - start, tasks: store.known.tasks };
}

/** The memory of a task that is in the index alone, and of one whose record is cached too. */
async function storedTasks({ folder, count }: { folder: string; count: number }) {
  const before = memory();
  await using store = await openBenchStore(folder);
  await store.indexed;
  const indexed = memory();
  const cached = Math.min(count, 20_000);
  await inFlight(cached, 32, async (number) => void await store.read(madeId(number), benchCaller));
  const read = memory();
  return {
    heap: (indexed.heap - before.heap) / count,
    rss: (indexed.rss - before.rss) / count,
    cachedHeap: (read.heap - indexed.heap) / cached,
  };
}

/** The memory of a context after one finished turn. Nothing is flushed: only memory counts here. */
async function idleContexts({ folder, count, sessionsMax }: { folder: string; count: number; sessionsMax: number }) {
  const disk = countedDisk(benchDisk, { durable: false });
  await using bench = await openBenchRuns(folder, { disk, sessionsMax, store: "memory" });
  const send = async (contextId: string) => {
    using accepted = await bench.send("Hello", contextId);
    await accepted.settled();
  };
  await inFlight(100, 8, (number) => send(`warm-${number}`));
  const before = memory();
  const ms = await timed(() => inFlight(count, 8, (number) => send(`c-${number}`)));
  await new Promise((resolve) => setTimeout(resolve, 500)); // what is closed in the background ends
  const after = memory();
  return {
    heap: (after.heap - before.heap) / count,
    rss: (after.rss - before.rss) / count,
    open: bench.sessions.size,
    msEach: ms / count,
  };
}

const [name, input] = Deno.args;
console.log(JSON.stringify(await probes[name!]!(JSON.parse(input!))));
