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
  let elapsed = 0;
  let wall = start;
  let working = 0;
  let order = 0;
  const timers = new Map<number, { at: number; fire: () => void }>();

  function at(ms: number, fire: () => void): () => void {
    const id = order++;
    timers.set(id, { at: elapsed + Math.max(0, ms), fire });
    return () => timers.delete(id);
  }

  async function settle(): Promise<void> {
    do await new Promise((resolve) => setTimeout(resolve, 0)); while (working > 0);
  }

  return {
    now: () => wall + elapsed as TimeMs,
    elapsed: () => elapsed,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const onAbort = () => {
          cancel();
          reject(signal!.reason);
        };
        const cancel = at(ms, () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        });
        signal?.addEventListener("abort", onAbort, { once: true });
      }),
    deadline(ms) {
      const controller = new AbortController();
      const cancel = at(ms, () => controller.abort(timeoutError()));
      return { signal: controller.signal, [Symbol.dispose]: cancel };
    },
    settle,
    async advance(ms) {
      const end = elapsed + ms;
      await settle();
      while (true) {
        const [id, timer] = [...timers].filter(([, { at }]) => at <= end)
          .sort(([idA, a], [idB, b]) => a.at - b.at || idA - idB)[0] ?? [];
        if (timer === undefined) break;
        timers.delete(id!);
        elapsed = Math.max(elapsed, timer.at);
        timer.fire();
        await settle();
      }
      elapsed = end;
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
