import { getLogger } from "@logtape/logtape";
import type { Counters } from "@/counters.ts";
import type { TaskId } from "@/protocol/ids.ts";
import type { Clock } from "@/time/clock.ts";
import { eachAtOnce } from "@/time/each_at_once.ts";
import type { Journal } from "./journal.ts";

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
 * A checkpoint that fails is tried again after 1, 2, 4 … 30 s; until then the journals stay, and nothing is lost.
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

  /** Checkpoints now, after the one that runs. Rejects when the disk refuses. */
  async checkpoint(): Promise<void> {
    while (this.#running !== undefined) await this.#running.catch(() => {});
    this.#running = this.#checkpoint();
    try {
      await this.#running;
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
    await eachAtOnce(ids, writesAtOnce, (id) => target.save(id));
    await target.sync();
    for (const one of closed) await journal.delete(one);
    counters.add("checkpoints");
  }
}

/** What the checkpointer works with. */
export interface CheckpointerOptions {
  readonly journal: Journal;
  readonly target: CheckpointTarget;
  readonly clock: Clock;
  readonly counters: Counters;
}
