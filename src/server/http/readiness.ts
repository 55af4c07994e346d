import { getLogger } from "@logtape/logtape";
import type { Clock } from "@/time/clock.ts";

const logger = getLogger(["a2a", "server", "http"]);

/** How often the checks are made: an answer of `/readyz` is at most this old. */
const everyMs = 5_000;

/** Something that must be so for the host to be ready. */
export interface ReadyCheck {
  /** Ends the sentence "not ready:": `tasks of home are being indexed`. */
  readonly problem: string;
  /** Says whether it is so. What it throws counts as no. */
  readonly isSo: () => boolean | Promise<boolean>;
}

/** Keeps an eye on what `/readyz` tells, so that asking costs nothing and nobody can make it work (product.md §5.1). */
export class Readiness implements AsyncDisposable {
  readonly #checks: readonly ReadyCheck[];
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  readonly #loop: Promise<void>;
  #problems: readonly string[] | undefined;

  constructor(options: { readonly checks: readonly ReadyCheck[]; readonly clock: Clock }) {
    this.#checks = options.checks;
    this.#clock = options.clock;
    this.#loop = this.#run();
  }

  /** What is not as it must be; nothing when the host is ready. */
  get problems(): readonly string[] {
    return this.#problems ?? ["the host is starting"];
  }

  /** Makes the checks now. */
  async look(): Promise<void> {
    const found = await Promise.all(this.#checks.map(async ({ problem, isSo }) => await holds(isSo) ? [] : [problem]));
    const problems = found.flat();
    const before = this.#problems ?? problems; // what is not there yet at the start is no news
    for (const problem of problems) if (!before.includes(problem)) logger.warning("Not ready: {problem}", { problem });
    this.#problems = problems;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.look();
      await this.#clock.sleep(everyMs, signal).catch(() => {});
    }
  }
}

async function holds(isSo: ReadyCheck["isSo"]): Promise<boolean> {
  try {
    return await isSo();
  } catch {
    return false;
  }
}
