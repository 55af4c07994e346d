import { type Clock, type TimeMs, timeoutError } from "@/time/clock.ts";

/**
 * The tests' clock: stands still until `advance`.
 *
 * `advance` fires timers in order and, between two of them, waits until all work that was registered with `busy` (disk,
 * socket, engine turn) is done and has had its effect: no sleeps, no guessed turns of the event loop.
 */
export interface TestClock extends Clock {
  advance(ms: number): Promise<void>;
  /** Waits until nothing registered is at work, without moving the time. */
  settle(): Promise<void>;
  /** Registers work that the clock must wait for. */
  busy<T>(work: Promise<T>): Promise<T>;
  /** Moves the wall time alone, as a person or NTP would. */
  jump(ms: number): void;
  /** How many sleeps and deadlines are pending: 0 after a clean close. */
  readonly pending: number;
}

export function createTestClock(start = Date.parse("2026-10-08T12:00:00.000Z")): TestClock {
  const timers = new TestTimers();
  let wall = start;
  let working = 0;

  async function settle(): Promise<void> {
    do await new Promise((resolve) => setTimeout(resolve, 0)); while (working > 0);
  }

  return {
    now: () => wall + timers.elapsed as TimeMs,
    elapsed: () => timers.elapsed,
    sleep: (ms, signal) => timers.sleep(ms, signal),
    deadline(ms) {
      const controller = new AbortController();
      const cancel = timers.at(ms, () => controller.abort(timeoutError()));
      return { signal: controller.signal, [Symbol.dispose]: cancel };
    },
    settle,
    async advance(ms) {
      const end = timers.elapsed + ms;
      await settle();
      while (timers.fireNext(end)) await settle();
    },
    async busy(work) {
      working++;
      try {
        return await work;
      } finally {
        working--;
      }
    },
    jump(ms) {
      wall += ms;
    },
    get pending() {
      return timers.size;
    },
  };
}

/** Timers that fire in the order of their times, ties in the order they were set, when they are told to. */
class TestTimers {
  readonly #timers = new Map<number, { readonly at: number; readonly fire: () => void }>();
  #count = 0;
  elapsed = 0;

  get size(): number {
    return this.#timers.size;
  }

  at(ms: number, fire: () => void): () => void {
    const id = this.#count++;
    this.#timers.set(id, { at: this.elapsed + Math.max(0, ms), fire });
    return () => this.#timers.delete(id);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        cancel();
        reject(signal!.reason);
      };
      const cancel = this.at(ms, () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Fires the next timer that is due by `end`; without one the time moves to `end`. */
  fireNext(end: number): boolean {
    const [id, timer] = [...this.#timers].filter(([, { at }]) => at <= end)
      .sort(([idA, a], [idB, b]) => a.at - b.at || idA - idB)[0] ?? [];
    if (timer === undefined) {
      this.elapsed = end;
      return false;
    }
    this.#timers.delete(id!);
    this.elapsed = Math.max(this.elapsed, timer.at);
    timer.fire();
    return true;
  }
}
