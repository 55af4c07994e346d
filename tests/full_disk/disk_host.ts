import { deepStrictEqual, ok } from "node:assert/strict";
import { Outbound } from "@/outbound/outbound.ts";
import { type Host, openHost } from "@/workspace_host.ts";
import { readConfig } from "@/config.ts";
import { type CounterName, Counters } from "@/counters.ts";
import type { Engine } from "@/engine/engine.ts";
import type { CallerName, TaskId } from "@/protocol/ids.ts";
import { isTerminal, type MessageJson, type StatusJson, type TaskJson } from "@/protocol/task.ts";
import { systemRandom } from "@/random.ts";
import type { Refused } from "@/server/tasks/refusal.ts";
import type { Accepted } from "@/server/runs/submission.ts";
import type { FileTaskStore } from "@/server/tasks/file_task_store.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import { type Clock, systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { readStored } from "@tests/kill/stored_workspace.ts";

/** Who calls the hosts of these tests. */
export const ann = "ann" as CallerName;

/** Counters that say when one of them reaches a value: what a test waits for instead of a time. */
export class WatchedCounters extends Counters {
  readonly #waiting = new Set<() => void>();

  override add(name: CounterName, by?: number): void {
    super.add(name, by);
    for (const look of this.#waiting) look();
  }

  async reached(name: CounterName, count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => this.snapshot()[name] >= count && resolve();
    this.#waiting.add(look);
    look();
    await promise;
    this.#waiting.delete(look);
  }
}

/** The machine's clock, which a test can put forward. */
export function createForwardClock(): Clock & { forward(ms: number): void } {
  let ahead = 0;
  return { ...systemClock, elapsed: () => systemClock.elapsed() + ahead, forward: (ms) => void (ahead += ms) };
}

/** Opens a host on the real disk. */
export async function openDiskHost(
  workspace: string,
  options: { engine: Engine; flags?: Record<string, string>; counters?: Counters; clock?: Clock },
): Promise<Host> {
  const read = readConfig({
    flags: { "min-free-bytes": "0", "concurrent-runs": "0", "turns-per-context": "0", ...options.flags },
  });
  if (read.kind === "problems") throw new Error(read.problems.join("\n"));
  const { engine, counters = new Counters(), clock = systemClock } = options;
  const given = { workspace, config: read.config, disk: createDisk(clock), random: systemRandom, pid: Deno.pid };
  const host = await openHost({ ...given, engine, counters, clock, outbound: new Outbound({ clock }) });
  if (host.kind === "refused") throw new Error(host.message);
  return host;
}

/** Moves everything into task files, so that nothing frees room later by itself. */
export async function checkpoint(host: Host): Promise<void> {
  await (host.store as FileTaskStore).checkpoint();
}

/** Sends text to a context, or as the answer of a task. */
export async function send(host: Host, text: string, more: Partial<MessageJson> = {}): Promise<Accepted | Refused> {
  const message: MessageJson = { messageId: systemRandom.uuid(), role: "ROLE_USER", parts: [{ text }], ...more };
  return await host.runs.submit({ caller: ann, hops: 0, message });
}

/** Sends what must be accepted. */
export async function mustSend(host: Host, text: string, more: Partial<MessageJson> = {}): Promise<Accepted> {
  const answer = await send(host, text, more);
  if (answer.kind === "refused") throw new Error(`Refused: ${answer.why}`);
  return answer;
}

/**
 * Follows tasks of a host, and looks at the disk, beside the host, at each status it is shown: it must be there already.
 */
export class Witness {
  readonly #workspace: string;
  readonly #seen = new Map<TaskId, StatusJson>();

  constructor(workspace: string) {
    this.#workspace = workspace;
  }

  /** The newest status that was shown of each task. */
  get seen(): ReadonlyMap<TaskId, StatusJson> {
    return this.#seen;
  }

  /** Follows a task until it is settled. */
  async follow({ task, events }: Accepted): Promise<StatusJson> {
    await this.#look(task.id, task.status);
    for await (const event of events) {
      if ("statusUpdate" in event) await this.#look(task.id, event.statusUpdate.status);
    }
    return this.#seen.get(task.id)!;
  }

  /** Compares with what is stored: each task that was shown is there, as it was shown or later. */
  compare(records: ReadonlyMap<TaskId, TaskRecord>): void {
    for (const [id, seen] of this.#seen) {
      const record = records.get(id);
      ok(record !== undefined, `${id} was shown and is not stored`);
      isAtLeast(record.task, seen);
    }
  }

  async #look(id: TaskId, status: StatusJson): Promise<void> {
    this.#seen.set(id, status);
    const record = (await readStored(this.#workspace)).records.get(id);
    ok(record !== undefined, `${id} was shown and is not on disk`);
    isAtLeast(record.task, status);
  }
}

function isAtLeast({ id, status }: TaskJson, seen: StatusJson): void {
  if (isTerminal(seen.state) || status.timestamp === seen.timestamp) deepStrictEqual(status, seen, id);
  ok(status.timestamp >= seen.timestamp, `${id} went back from ${seen.timestamp} to ${status.timestamp}`);
}

/** Reads the folder: nothing torn, and, of a host that is closed, nothing left lying. */
export async function readWhole(
  workspace: string,
  { isClosed }: { isClosed: boolean },
): Promise<ReadonlyMap<TaskId, TaskRecord>> {
  const { records, problems, litter, journals } = await readStored(workspace);
  deepStrictEqual(problems, []);
  if (isClosed) deepStrictEqual({ litter, journals }, { litter: [], journals: [] });
  return records;
}
