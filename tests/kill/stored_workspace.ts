import { join, relative } from "node:path";
import { isTaskId, type TaskId } from "@/protocol/ids.ts";
import { systemRandom } from "@/random.ts";
import { RecordFiles } from "@/server/tasks/record_files.ts";
import { readJournals } from "@/server/tasks/recovery.ts";
import { visitTasks } from "@/server/tasks/task_reader.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import { eachAtOnce } from "@/time/each_at_once.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { sha256Hex } from "@/workspace/sha256.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";
import { blobsOf } from "@tests/kill/stored_blobs.ts";

/** A workspace as it is on disk, read beside or without a host: journals over task files, as `tasks list` does. */
export interface StoredWorkspace {
  readonly records: ReadonlyMap<TaskId, TaskRecord>;
  readonly journals: readonly string[];
  /** What must never be: torn or unreadable, or named and not there. */
  readonly problems: readonly string[];
  /** What a crash may leave and a start removes: temporary files, blobs and received files that belong to no task. */
  readonly litter: readonly string[];
}

const disk = createDisk(systemClock);

/** Reads a workspace without changing it. */
export async function readStored(workspace: string): Promise<StoredWorkspace> {
  const { tasks: folder } = workspacePaths(workspace);
  const files = new RecordFiles({ disk, random: systemRandom, folder });
  const records = new Map<TaskId, TaskRecord>();
  const problems: string[] = [];
  const { unreadable } = await visitTasks(
    { disk, folder, files },
    (record) => void records.set(record.task.id, record),
  );
  if (unreadable > 0) problems.push(`${unreadable} task files cannot be read`);
  const entries = await disk.list(folder);
  const content = await readJournals(disk, folder, entries);
  for (const { path, badLines } of content.files) {
    if (badLines > 0) problems.push(`${path} has ${badLines} bad lines`);
  }
  problems.push(...entries.filter(({ name }) => name.endsWith(".bad")).map(({ name }) => `${name} was put aside`));
  await eachAtOnce(records.values(), 16, async (record) => {
    problems.push(...await missingBlobs(files, record));
  });
  const journals = entries.map(({ name }) => name).filter((name) => name.startsWith("journal-"));
  return { records, journals, problems, litter: await findLitter(workspace, records) };
}

async function missingBlobs(files: RecordFiles, record: TaskRecord): Promise<readonly string[]> {
  const { id } = record.task;
  const problems: string[] = [];
  for (const { blob, bytes } of blobsOf(record)) {
    const content = await Deno.readFile(join(files.blobFolder(id), blob)).catch(() => undefined);
    if (content === undefined) problems.push(`blob ${blob} of ${id} is not there`);
    else if (content.length !== bytes || sha256Hex(content) !== blob) problems.push(`blob ${blob} of ${id} is another`);
  }
  return problems;
}

async function findLitter(workspace: string, records: ReadonlyMap<TaskId, TaskRecord>): Promise<readonly string[]> {
  const paths = workspacePaths(workspace);
  const litter: string[] = [];
  for await (const path of filesBelow(workspace)) {
    const [folder = "", name = ""] = relative(paths.tasks, path).split("/");
    const task = records.get(folder.slice(0, 36) as TaskId);
    const isBlob = folder.endsWith(".blobs");
    const isNamed = !isBlob || (task !== undefined && blobsOf(task).some(({ blob }) => blob === name));
    const inboxTask = relative(paths.inbox, path).split("/")[1];
    const isReceived = isTaskId(inboxTask) && !path.startsWith(paths.volcanic);
    if (path.endsWith(".tmp") || !isNamed || (isReceived && !records.has(inboxTask))) {
      litter.push(relative(workspace, path));
    }
  }
  return litter;
}

async function* filesBelow(folder: string): AsyncGenerator<string, void, void> {
  for (const { name, kind } of await disk.list(folder)) {
    if (kind === "folder") yield* filesBelow(join(folder, name));
    else yield join(folder, name);
  }
}
