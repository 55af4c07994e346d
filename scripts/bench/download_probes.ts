import { strictEqual } from "node:assert/strict";
import { join } from "node:path";
import type { TaskId } from "@/protocol/ids.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";
import { openBenchRuns } from "./bench_runs.ts";
import { digestOf, madeFile } from "./made_file.ts";
import { benchCaller } from "./made_tasks.ts";
import { largestResident, memory } from "./memory.ts";
import { openBenchOutbound } from "./receiver.ts";
import { timed } from "./rounds.ts";

/** What is fetched: the made file of so many bytes from a receiver. */
interface Download {
  readonly folder: string;
  readonly origin: string;
  readonly bytes: number;
}

/** A message with a file by URL, from `submit` to the settled task: how much the process grows, and the file is right. */
export async function downloadedFile({ folder, origin, bytes }: Download): Promise<Record<string, number>> {
  await using outbound = await openBenchOutbound();
  await using bench = await openBenchRuns(folder, { outbound });
  const before = memory();
  let taskId = "";
  let ms = 0;
  const largest = await largestResident(async () => {
    ms = await timed(async () => {
      using accepted = await bench.send([{ url: `${origin}/${bytes}`, filename: "made.bin" }]);
      taskId = accepted.task.id;
      const { status } = await accepted.settled();
      strictEqual(status.state, "TASK_STATE_COMPLETED");
    });
  });
  const inbox = workspacePaths(folder).inboxOf(benchCaller, taskId as TaskId);
  using file = await Deno.open(join(inbox, "made.bin"));
  strictEqual(await digestOf(file.readable), await digestOf(madeFile(bytes)));
  return { grown: largest - before.rss, bytesPerSecond: bytes / ms * 1000 };
}

/** Who reads a response slower than it is sent, for a while: how much the process grows. */
export async function slowReader({ origin, bytes }: Download): Promise<Record<string, number>> {
  await using outbound = await openBenchOutbound();
  const before = memory();
  let read = 0;
  const largest = await largestResident(async () => {
    const request = { caller: "bench", bytesMax: bytes, totalMs: 60_000 };
    await using response = await outbound.guarded(`${origin}/${bytes}`, request);
    for await (const piece of response.body) {
      const from = read;
      read += piece.length;
      if (read >= slowBytes) break;
      if (Math.floor(from / sipBytes) !== Math.floor(read / sipBytes)) {
        await new Promise((resolve) => setTimeout(resolve, sipMs));
      }
    }
  });
  return { grown: largest - before.rss, read };
}

const sipBytes = 64 * 1024;
const sipMs = 20;
const slowBytes = 150 * sipBytes;
