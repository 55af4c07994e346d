import type { StreamJson } from "@/protocol/task.ts";
import { isTerminal } from "@/protocol/task.ts";
import { openBenchRuns } from "./bench_runs.ts";
import { benchDisk } from "./bench_store.ts";
import type { BenchSetting } from "./bench_setting.ts";
import { countedDisk } from "./counted_disk.ts";
import { benchCaller } from "./made_tasks.ts";
import type { Report, Row } from "./report.ts";
import { interleave, type Sample } from "./rounds.ts";

const chunkBytes = 100;
const chunkCounts = [2_500, 5_000, 10_000, 20_000];
const followerCounts = [0, 1, 100];

/** A long reply: does its time grow with its length, how often is it written, and what do followers cost. */
export async function streamBench({ folder, rounds }: BenchSetting): Promise<Report> {
  const whole = 10_000;
  const samples = await interleave(rounds, [
    ...chunkCounts.map((count) => async () => await stream(await folder.fresh(), count, 1)),
    ...followerCounts.filter((count) => count !== 1).map((followers) => async () =>
      await stream(await folder.fresh(), whole, followers)
    ),
  ]);
  const rows: Row[] = [
    ...chunkCounts.map((count): Row => ({
      what: `${count} chunks, 1 follower, time for a chunk`,
      ratio: samples.ratio(`us ${count} 1`, `us ${chunkCounts[0]!} 1`),
      to: `a chunk of ${chunkCounts[0]}`,
      value: samples.median(`us ${count} 1`),
      unit: "µs",
      limit: { atMost: 1.5 },
    })),
    ...followerCounts.map((followers): Row => ({
      what: `10000 chunks, ${followers} followers, whole time`,
      ratio: samples.ratio(`us ${whole} ${followers}`, `us ${whole} 0`),
      to: "no follower",
      value: samples.median(`us ${whole} ${followers}`) * whole / 1000,
      unit: "ms",
    })),
    {
      what: "10000 chunks, bytes written to all files",
      ratio: samples.median(`written ${whole} 1`),
      to: "the reply's own size",
      value: samples.median(`written ${whole} 1`) * whole * chunkBytes / 1e6,
      unit: "MB",
      limit: { atMost: 3 },
    },
    {
      what: "2500 chunks, bytes written to all files",
      ratio: samples.median("written 2500 1"),
      to: "the reply's own size",
      value: samples.median("written 2500 1") * 2500 * chunkBytes / 1e6,
      unit: "MB",
    },
    {
      what: "10000 chunks, of these to tasks",
      ratio: samples.median(`tasks ${whole} 1`),
      to: "the reply's own size",
      value: samples.median(`tasks ${whole} 1`) * whole * chunkBytes / 1e6,
      unit: "MB",
    },
  ];
  const about =
    `A reply in chunks of ${chunkBytes} bytes, from its first chunk until its task is committed and every ` +
    "follower has read it to the end.";
  return { name: "stream", about, rows };
}

async function stream(folder: string, chunks: number, followers: number): Promise<Sample> {
  const disk = countedDisk(benchDisk);
  const ended = Promise.withResolvers<void>();
  let start: number | undefined;
  await using bench = await openBenchRuns(folder, {
    disk,
    observe: () => void (start ??= performance.now()),
    onCommitted: ({ task }) => isTerminal(task.status.state) && ended.resolve(),
  });
  // The wait lets all followers in before the first chunk.
  using accepted = await bench.send(`wait: 100ms\nstream: ${chunks} x ${chunkBytes}`);
  const readers: Promise<void>[] = [];
  if (followers > 0) readers.push(readAll(accepted.events, chunks * chunkBytes));
  else accepted[Symbol.dispose]();
  for (let number = 1; number < followers; number++) {
    const followed = await bench.runs.follow(accepted.task.id, benchCaller, new AbortController().signal);
    if (followed.kind === "refused") throw new Error("Cannot follow: the task is over too early");
    readers.push(readAll(followed.events, chunks * chunkBytes));
  }
  await Promise.all([ended.promise, ...readers]);
  const ms = performance.now() - start!;
  await bench[Symbol.asyncDispose]();
  const size = chunks * chunkBytes;
  const key = `${chunks} ${followers}`;
  return {
    [`us ${key}`]: ms * 1000 / chunks,
    [`written ${key}`]: disk.bytesTo("") / size,
    [`tasks ${key}`]: disk.bytesTo("/a2a/tasks/") / size,
  };
}

/** Reads a stream to its end; throws when it did not show the whole reply. */
async function readAll(events: AsyncIterableIterator<StreamJson>, size: number): Promise<void> {
  let read = 0;
  for await (const event of events) {
    if (!("artifactUpdate" in event)) continue;
    const { append, artifact } = event.artifactUpdate;
    const text = artifact.parts.map((part) => part.text ?? "").join("");
    read = (append ? read : 0) + text.length;
  }
  if (read !== size) throw new Error(`Cannot trust the stream: a follower read ${read} of ${size} characters`);
}
