import type { BenchSetting } from "./bench_setting.ts";
import { startReceiver } from "./receiver.ts";
import type { Report } from "./report.ts";
import { interleave, type Sample } from "./rounds.ts";
import { runProbe } from "./run_probe.ts";

const fileBytes = 209_715_200;

/** What a large file by URL takes in memory on its way into the inbox, each in a process of its own. */
export async function downloadBench({ folder, rounds, share }: BenchSetting): Promise<Report> {
  await using receiver = await startReceiver();
  const origin = receiver.origins[0]!;
  const bytes = fileBytes / share;
  const samples = await interleave(rounds, [
    async (): Promise<Sample> => {
      const { grown, bytesPerSecond } = await runProbe("downloadedFile", {
        folder: await folder.fresh(),
        origin,
        bytes,
      });
      return { grown: grown!, bytesPerSecond: bytesPerSecond! };
    },
    async (): Promise<Sample> => ({
      "slow grown": (await runProbe("slowReader", { origin, bytes: fileBytes })).grown!,
    }),
  ], { warmUp: false });
  const what = `a file of ${bytes} bytes into the inbox`;
  const megabytes = (name: string) => samples.median(name) / 1e6;
  return {
    name: "download",
    about:
      "A message whose file is fetched by URL over TLS from a process of its own, until its task is settled; the " +
      "digest of the file was right. Memory is the most that the process took from the system, over what it took before.",
    rows: [
      { what: `${what}: memory`, value: megabytes("grown"), unit: "MB", limit: { atMost: 60 } },
      { what: `${what}: rate`, value: megabytes("bytesPerSecond"), unit: "MB/s" },
      {
        what: "the same over the door alone, read at 64 KiB in 20 ms, for 3 s: memory",
        value: megabytes("slow grown"),
        unit: "MB",
        limit: { atMost: 60 },
      },
    ],
  };
}
