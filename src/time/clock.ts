/** Wall time in milliseconds since 1970. */
export type TimeMs = number & { readonly __brand: "TimeMs" };

/**
 * The only source of time. No other module calls `Date.now`, `setTimeout`, `performance.now` or `AbortSignal.timeout`.
 *
 * Deadlines that must survive a restart are stored as wall time; durations are measured with `elapsed`
 * (state-machines.md 0.7).
 */
export interface Clock {
  /** Wall time, for what is stored or shown. It may jump: never use it to measure how long something took. */
  now(): TimeMs;
  /** Milliseconds that only grow, for durations, rates and deadlines of this process. */
  elapsed(): number;
  /**
   * Resolves after `ms`; rejects with the signal's reason when aborted. Any length: waits over 24 days are split,
   * because a longer runtime timer fires at once. Never fires early, may fire late, so re-read your condition.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** A signal that aborts after `ms` with a DOMException "TimeoutError". Dispose it to free the timer. */
  deadline(ms: number): Deadline;
}

/** A signal and the timer behind it. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
}

const timerMsMax = 2 ** 31 - 1;

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now() as TimeMs,
  elapsed: () => performance.now(),
  sleep,
  deadline,
};

/** The reason of a signal that a deadline aborted. */
export function timeoutError(): DOMException {
  return new DOMException("The time is up", "TimeoutError");
}

/** Wall time as the wire has it: `2026-10-08T12:00:00.000Z` (A2A 1.0 §5.6.1). */
export function isoTime(at: TimeMs): string {
  return new Date(at).toISOString();
}

/** Wall time of an ISO 8601 text; NaN when it is none. A reader also takes an offset and no milliseconds. */
export function parseTime(text: string): TimeMs {
  return Date.parse(text) as TimeMs;
}

/** Not made of `sleep`: every request has one, and to abort without a reason costs 15 µs, for an error with its stack. */
function deadline(ms: number): Deadline {
  const controller = new AbortController();
  const end = performance.now() + ms;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (left: number) => {
    timer = setTimeout(() => {
      const still = end - performance.now();
      if (still > 0) wait(still);
      else controller.abort(timeoutError());
    }, Math.min(Math.ceil(left), timerMsMax));
  };
  wait(ms);
  return { signal: controller.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  const end = performance.now() + ms;
  for (let left = ms; left > 0; left = end - performance.now()) {
    await timer(Math.min(Math.ceil(left), timerMsMax), signal);
  }
  signal?.throwIfAborted();
}

function timer(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const id = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    const onAbort = () => {
      clearTimeout(id);
      reject(signal!.reason);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
