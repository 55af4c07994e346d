import type { Clock } from "@/time/clock.ts";
import type { OutboundError } from "./outbound_error.ts";

/** How long something may take, and what may end it sooner. */
export interface TimeLimit {
  readonly clock: Clock;
  readonly ms: number;
  /** Its reason is what the wait rejects with when it is aborted. */
  readonly signal: AbortSignal;
  /** What the wait rejects with when the time is up. */
  readonly late: () => OutboundError;
}

/**
 * Waits for `work`, but not longer than it may take.
 *
 * The wait ends then, whether or not the work heeds the signal it is given: what it comes to later is dropped, so what it
 * opens must belong to something that closes it.
 */
export async function withinTime<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { clock, ms, signal, late }: TimeLimit,
): Promise<T> {
  signal.throwIfAborted();
  const { promise: over, reject } = Promise.withResolvers<never>();
  const stop = new AbortController();
  const end = (reason: unknown) => {
    reject(reason);
    stop.abort(reason);
  };
  using deadline = clock.deadline(ms);
  deadline.signal.addEventListener("abort", () => end(late()), { once: true });
  const onAbort = () => end(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work(stop.signal), over]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
