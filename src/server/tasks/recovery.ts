import { join } from "node:path";
import { getLogger } from "@logtape/logtape";
import { isTaskId, type TaskId } from "@/protocol/ids.ts";
import { eachAtOnce } from "@/time/each_at_once.ts";
import { type Disk, type FolderEntry, isMissing } from "@/workspace/disk.ts";
import { journalNumber } from "./journal.ts";
import type { RecordFiles } from "./record_files.ts";
import { asRecord, recordText } from "./record_json.ts";
import type { Rev, TaskRecord } from "./task_record.ts";

const logger = getLogger(["a2a", "server", "tasks"]);

/** What the journals of a folder say: the newest word on each task they name. */
export interface JournalContent {
  readonly tasks: ReadonlyMap<TaskId, JournalWord>;
  readonly files: readonly { readonly path: string; readonly badLines: number }[];
  /** The highest number in use, by one that was kept for its bad lines too; 0 for none. */
  readonly lastNumber: number;
}

/** `record` undefined: the task was removed. */
export interface JournalWord {
  readonly rev: Rev;
  readonly record: TaskRecord | undefined;
}

/**
 * Reads the journals that a listing of the folder names, in their order. Writes nothing, so it serves beside a host too.
 *
 * A last line without an end is left out: nobody was told of it. Other lines that do not parse are counted, the rest
 * count (each is whole). A journal that goes away meanwhile was checkpointed and is passed over.
 */
export async function readJournals(
  disk: Disk,
  folder: string,
  entries: readonly FolderEntry[],
): Promise<JournalContent> {
  const journals = entries.map(({ name }) => journalNumber(name)).filter((journal) => journal !== undefined)
    .sort((a, b) => a.number - b.number);
  const tasks = new Map<TaskId, JournalWord>();
  const files: { path: string; badLines: number }[] = [];
  for (const { number, isBad } of journals) {
    if (isBad) continue;
    const path = join(folder, `journal-${number}.jsonl`);
    const text = await readText(disk, path);
    if (text !== undefined) files.push({ path, badLines: takeLines(text, tasks) });
  }
  return { tasks, files, lastNumber: journals.at(-1)?.number ?? 0 };
}

/** What recovery found in the journals, after the task files have it too. */
export interface Recovered {
  readonly records: readonly TaskRecord[];
  readonly removed: ReadonlySet<TaskId>;
}

/** Writes into the task files what the journals know better, durably. The other way round the file stands. */
export async function replayJournals(files: RecordFiles, content: JournalContent): Promise<Recovered> {
  const records: TaskRecord[] = [];
  const removed = new Set<TaskId>();
  await eachAtOnce(content.tasks, 8, async ([id, { rev, record }]) => {
    const stored = (await files.read(id))?.record;
    const newest = stored !== undefined && stored.rev >= rev ? stored : record;
    if (newest === undefined) {
      await files.remove(id);
      removed.add(id);
      return;
    }
    if (newest === record) {
      if (stored === undefined) await files.putAside(id);
      await files.write(record, recordText(record));
    }
    records.push(newest);
  });
  if (content.tasks.size > 0) await files.sync();
  return { records, removed };
}

/** Removes the journals whose content is in task files. One with bad lines is kept under another name, with an error. */
export async function retireJournals(disk: Disk, content: JournalContent): Promise<void> {
  for (const { path, badLines } of content.files) {
    if (badLines === 0) {
      await disk.remove(path);
      continue;
    }
    logger.error("Kept {path}.bad: {badLines} of its lines cannot be read, the others count", { path, badLines });
    await disk.rename(path, `${path}.bad`);
  }
}

function takeLines(text: string, tasks: Map<TaskId, JournalWord>): number {
  const end = text.lastIndexOf("\n") + 1;
  let badLines = 0;
  for (const line of text.slice(0, end).split("\n").slice(1)) {
    if (line === "") continue;
    const word = parseLine(line);
    if (word === undefined) {
      badLines++;
      continue;
    }
    // Of two with one revision the later counts: the first was refused, and could not be cut off.
    if ((tasks.get(word.id)?.rev ?? 0) <= word.rev) tasks.set(word.id, word);
  }
  return badLines;
}

function parseLine(line: string): (JournalWord & { readonly id: TaskId }) | undefined {
  let value;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (isTaskId(value?.removed) && Number.isSafeInteger(value.rev)) {
    return { id: value.removed, rev: value.rev, record: undefined };
  }
  const record = asRecord(value?.record);
  return record && { id: record.task.id, rev: record.rev, record };
}

async function readText(disk: Disk, path: string): Promise<string | undefined> {
  if (disk.linkStampSync(path)?.kind !== "file") return undefined;
  try {
    using file = await disk.openRead(path);
    return new TextDecoder().decode(await file.read());
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
