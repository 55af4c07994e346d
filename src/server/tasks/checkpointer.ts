import { getLogger } from "@logtape/logtape";
import type { Counters } from "@/counters.ts";
import type { TaskId } from "@/protocol/ids.ts";
import type { Clock } from "@/time/clock.ts";
import { eachAtOnce } from "@/time/each_at_once.ts";
import type { ClosedJournal, Journal } from "./journal.ts";

const logger = getLogger(["a2a", "server", "tasks"]);

/** How long no commit may come before a checkpoint begins, and how long a checkpoint may be put off by commits. */
const idleMs = 250;
const putOffMsMax = 5_000;
const retryMsMax = 30_000;
/** Task files written at once. */
const writesAtOnce = 8;

/** What a checkpoint needs of its store. */
export interface CheckpointTarget {
  /** Brings the files of a task up to what is durable in the journal. */
  save(id: TaskId): Promise<void>;
  /** Makes the names of what was saved durable. */
  sync(): Promise<void>;
}

/**
 * Moves what is in journals into task files, in the background: soon after the store falls idle, at the latest every few
 * seconds (data-model.md 6). A journal is deleted when all it holds is in task files, durably.
 *
 * A checkpoint that fails is tried again after 1, 2, 4 … 30 s; until then the journals that it needs stay, and nothing is
 * lost. A task whose file cannot be written holds up no other: the rest is saved, and the journals without it go.
 */
export class Checkpointer implements AsyncDisposable {
  readonly #options: CheckpointerOptions;
  readonly #stop = new AbortController();
  readonly #loop: Promise<void>;
  #commits = 0;
  #wake = Promise.withResolvers<void>();
  #running: Promise<void> | undefined;

  constructor(options: CheckpointerOptions) {
    this.#options = options;
    this.#loop = this.#run();
  }

  /** Says that a commit is in the journal. */
  committed(): void {
    this.#commits++;
    this.#wake.resolve();
  }

  /** Checkpoints now, after the one that runs. Rejects when the disk refuses, after what it did not refuse is done. */
  async checkpoint(): Promise<void> {
    while (this.#running !== undefined) await this.#running.catch(() => {});
    this.#running = this.#checkpoint();
    const { journal } = this.#options;
    try {
      await this.#running;
      journal.checkpointed("all");
    } catch (error) {
      journal.checkpointed("not all");
      throw error;
    } finally {
      this.#running = undefined;
    }
  }

  /** Ends the loop after a last checkpoint. Never rejects: what cannot be saved stays in the journal. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#wake.resolve();
    await this.#loop;
    await this.checkpoint().catch((error) => logger.warning("Left the journal for the next start: {error}", { error }));
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    let failures = 0;
    while (!signal.aborted) {
      await this.#wake.promise;
      try {
        await this.#untilIdle(signal);
        this.#wake = Promise.withResolvers();
        await this.checkpoint();
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        const retryMs = Math.min(retryMsMax, 1000 * 2 ** failures++);
        logger.warning("Cannot write task files, trying again in {retryMs} ms: {error}", { retryMs, error });
        await clock.sleep(retryMs, signal).catch(() => {});
        this.#wake.resolve();
      }
    }
  }

  async #untilIdle(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const began = clock.elapsed();
    let seen;
    do {
      seen = this.#commits;
      await clock.sleep(idleMs, signal);
    } while (seen !== this.#commits && clock.elapsed() - began < putOffMsMax);
  }

  async #checkpoint(): Promise<void> {
    const { journal, target, counters } = this.#options;
    const closed = await journal.close();
    if (closed.length === 0) return;
    const ids = new Set(closed.flatMap((one) => [...one.ids]));
    const refused = new Map<TaskId, unknown>();
    await eachAtOnce(ids, writesAtOnce, async (id) => {
      await target.save(id).catch((error) => refused.set(id, error));
    });
    await target.sync();
    for (const one of journalsToDelete(closed, refused)) await journal.delete(one);
    const [first] = refused;
    if (first !== undefined) {
      const [id, cause] = first;
      throw new Error(`Cannot write the file of task ${id}, the first of ${refused.size} refused`, { cause });
    }
    counters.add("checkpoints");
  }
}

/**
 * The journals that are of no use any more, oldest first: none of their tasks was refused, and none is in an older journal
 * that stays. Without that a removal could go before the record that it removes, and the task come back after a crash.
 */
function journalsToDelete(
  closed: readonly ClosedJournal[],
  refused: ReadonlyMap<TaskId, unknown>,
): readonly ClosedJournal[] {
  const kept = new Set(refused.keys());
  return closed.filter(({ ids }) => {
    if (kept.isDisjointFrom(ids)) return true;
    for (const id of ids) kept.add(id);
    return false;
  });
}

/** What the checkpointer works with. */
export interface CheckpointerOptions {
  readonly journal: Journal;
  readonly target: CheckpointTarget;
  readonly clock: Clock;
  readonly counters: Counters;
}
