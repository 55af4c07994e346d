import { join } from "node:path";
import { Counters } from "@/counters.ts";
import { systemRandom } from "@/random.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import { writeAtomically } from "@/workspace/atomic_write.ts";
import { benchDisk, openBenchStore } from "./bench_store.ts";
import type { BenchSetting } from "./bench_setting.ts";
import { type MadeTask, madeTask } from "./made_tasks.ts";
import type { Report, Row } from "./report.ts";
import { inFlight, interleave, type Sample, timed } from "./rounds.ts";

/** Tasks of one piece of work, by how many are in flight. */
const load = [[1, 400], [8, 1600], [32, 3200]] as const;

/** Durable commits a second: the store's journal beside one file a change, and beside the disk itself. */
export async function commitsBench({ folder, rounds, share }: BenchSetting): Promise<Report> {
  const made = Array.from({ length: 3200 / share }, (_, number) => madeTask(number));
  const samples = await interleave(rounds, [
    () => appendAndFlush(folder.fresh),
    ...load.flatMap(([lanes, count]) => {
      const work = { lanes, tasks: made.slice(0, count / share) };
      return [
        async () => await storeCommits(await folder.fresh(), { ...work, durability: "disk" }),
        async () => await oneFileAChange(await folder.fresh(), work),
        async () => await storeCommits(await folder.fresh(), { ...work, durability: "process" }),
      ];
    }),
  ]);
  const rows: Row[] = [{ what: "append and fdatasync, one by one", value: samples.median("append"), unit: "/s" }];
  for (const [lanes] of load) {
    const to = "one file a change";
    const row = (what: string, name: string): Row => ({
      what: `${what}, ${lanes} in flight`,
      ratio: samples.ratio(`${name} ${lanes}`, `files ${lanes}`),
      to,
      value: samples.median(`${name} ${lanes}`),
      unit: "/s",
    });
    rows.push(
      { what: `one file a change, ${lanes} in flight`, value: samples.median(`files ${lanes}`), unit: "/s" },
      lanes === 32 ? { ...row("store", "disk"), limit: { atLeast: 3 } } : row("store", "disk"),
      row("store, until all is in task files", "disk whole"),
      row('store, durability "process"', "process"),
      {
        what: `commits that share one flush, ${lanes} in flight`,
        value: samples.median(`shared ${lanes}`),
        unit: "",
      },
    );
  }
  return {
    name: "commits",
    about: `Durable commits a second: a task is created and then ended, two commits of about ${
      Math.round(JSON.stringify(made[0]!.ended).length / 100) / 10
    } kB.`,
    rows,
  };
}

interface Work {
  readonly lanes: number;
  readonly tasks: readonly MadeTask[];
}

async function appendAndFlush(fresh: () => Promise<string>): Promise<Sample> {
  using file = await benchDisk.createNew(join(await fresh(), "floor"));
  const bytes = new Uint8Array(1024);
  const count = 400;
  const ms = await timed(async () => {
    for (let number = 0; number < count; number++) {
      await file.write(bytes);
      await file.flush();
    }
  });
  return { append: count / ms * 1000 };
}

async function storeCommits(folder: string, work: Work & { durability: "disk" | "process" }): Promise<Sample> {
  const { lanes, tasks, durability } = work;
  const counters = new Counters();
  await using store = await openBenchStore(folder, { durability, counters });
  const commitMs = await timed(() =>
    inFlight(tasks.length, lanes, async (number) => {
      const { working, ended } = tasks[number]!;
      await store.create(working);
      await store.commit(working.rev, ended);
    })
  );
  const saveMs = await timed(() => store.checkpoint());
  const commits = tasks.length * 2;
  const sample = { [`${durability} ${lanes}`]: commits / commitMs * 1000 };
  if (durability === "process") return sample;
  return {
    ...sample,
    [`disk whole ${lanes}`]: commits / (commitMs + saveMs) * 1000,
    [`shared ${lanes}`]: commits / counters.snapshot()["journal.flushes"],
  };
}

/** What a store without a journal does: each change is a whole file and its name, made durable (data-model.md 0, A). */
async function oneFileAChange(folder: string, { lanes, tasks }: Work): Promise<Sample> {
  const write = async (record: TaskRecord) => {
    const text = JSON.stringify(record);
    await writeAtomically(benchDisk, join(folder, `${record.task.id}.json`), { text, random: systemRandom });
  };
  const ms = await timed(() =>
    inFlight(tasks.length, lanes, async (number) => {
      await write(tasks[number]!.working);
      await write(tasks[number]!.ended);
    })
  );
  return { [`files ${lanes}`]: tasks.length * 2 / ms * 1000 };
}
