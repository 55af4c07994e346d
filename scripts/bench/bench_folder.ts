import { join } from "node:path";
import { journalName } from "@/server/tasks/journal.ts";
import { madeTask } from "./made_tasks.ts";

/** Where benches write. Disposing removes all of it. */
export interface BenchFolder extends AsyncDisposable {
  /** A new empty folder. */
  fresh(): Promise<string>;
  /** A folder with so many finished tasks in their files; made once a run, so whoever opens it must not change it. */
  tasks(count: number): Promise<string>;
  /** A new folder with one journal of about so many bytes and nothing else, as a crash may leave it. */
  journal(bytes: number): Promise<JournalFolder>;
}

export interface JournalFolder {
  readonly path: string;
  readonly tasks: number;
  readonly lines: number;
}

/** Makes a folder below `parent`, or below the system's folder for temporary files. */
export async function makeBenchFolder(parent: string | undefined): Promise<BenchFolder> {
  const root = await Deno.realPath(await Deno.makeTempDir({ dir: parent, prefix: "volcanic-a2a-bench-" }));
  const made = new Map<number, Promise<string>>();
  let folders = 0;
  const fresh = async () => {
    const path = join(root, `${++folders}`);
    await Deno.mkdir(path);
    return path;
  };
  return {
    fresh,
    tasks(count) {
      let path = made.get(count);
      if (path === undefined) made.set(count, path = fresh().then((folder) => writeTasks(folder, count)));
      return path;
    },
    journal: async (bytes) => writeJournal(await fresh(), bytes),
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

function writeTasks(folder: string, count: number): string {
  for (let number = 0; number < count; number++) {
    const { ended } = madeTask(number);
    Deno.writeTextFileSync(join(folder, `${ended.task.id}.json`), JSON.stringify(ended));
  }
  return folder;
}

/** Two lines a task, created and ended, as the store writes them. */
function writeJournal(path: string, bytes: number): JournalFolder {
  const lines = [JSON.stringify({ v: 1, journal: 1, epoch: 1 })];
  let size = 0;
  let tasks = 0;
  for (; size < bytes; tasks++) {
    const { working, ended } = madeTask(tasks);
    const added = [working, ended].map((record) => `{"record":${JSON.stringify(record)}}`);
    lines.push(...added);
    size += added.reduce((sum, line) => sum + line.length + 1, 0);
  }
  Deno.writeTextFileSync(join(path, journalName(1)), lines.join("\n") + "\n");
  return { path, tasks, lines: lines.length - 1 };
}
