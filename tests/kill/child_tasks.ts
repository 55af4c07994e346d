import type { Host } from "@/workspace_host.ts";
import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import { writeLine } from "@tests/kill/child_line.ts";

/** Everyone who calls the host under test. */
export const callers = ["ann", "bob", "cy", "dan"] as CallerName[];

/**
 * Lists all tasks of all callers and says so in a line. Those that move to the front while one pass is under way are found
 * by the next.
 */
export async function listAll(host: Host): Promise<readonly TaskRecord[]> {
  const found = new Map<TaskId, TaskRecord>();
  for (const caller of callers) {
    for (let known = -1; known !== found.size;) {
      known = found.size;
      for await (const record of pages(host, caller)) found.set(record.task.id, record);
    }
  }
  const tasks = [...found.values()].map(({ task: { id, status } }) => [id, status.state, status.timestamp] as const);
  writeLine({ kind: "listed", tasks });
  return [...found.values()];
}

async function* pages(host: Host, caller: CallerName): AsyncGenerator<TaskRecord, void, void> {
  let pageToken = "";
  do {
    const page = await host.store.list({ caller, pageSize: 100, pageToken });
    if (page.kind !== "page") throw new Error("The page token was refused");
    yield* page.tasks;
    pageToken = page.next;
  } while (pageToken !== "");
}
