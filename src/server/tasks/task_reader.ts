import type { TaskId } from "@/protocol/ids.ts";
import { eachAtOnce } from "@/time/each_at_once.ts";
import type { Disk } from "@/workspace/disk.ts";
import { namedTasks, type RecordFiles } from "./record_files.ts";
import { readJournals } from "./recovery.ts";
import type { TaskRecord } from "./task_record.ts";

/**
 * Visits every task of a folder, in no order, as its newest durable record: for commands beside a running host, so it
 * takes no lock and writes nothing (data-model.md 6). Says how many files cannot be read.
 *
 * The journals are read before the files: what is checkpointed meanwhile is then seen in its file.
 */
export async function visitTasks(
  { disk, folder, files }: { disk: Disk; folder: string; files: RecordFiles },
  visit: (record: TaskRecord) => void,
): Promise<{ readonly unreadable: number }> {
  const { tasks } = await readJournals(disk, folder, await disk.list(folder));
  const left = new Map(tasks);
  let unreadable = 0;
  const look = async (id: TaskId) => {
    const stored = (await files.read(id))?.record;
    const word = left.get(id);
    left.delete(id);
    if (word !== undefined && word.rev > (stored?.rev ?? 0)) {
      if (word.record !== undefined) visit(word.record);
    } else if (stored !== undefined) visit(stored);
    else unreadable++;
  };
  await eachAtOnce(namedTasks(await disk.list(folder)).records, 32, look);
  for (const { record } of left.values()) if (record !== undefined) visit(record);
  return { unreadable };
}
