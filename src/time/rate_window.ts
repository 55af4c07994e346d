import type { Clock } from "./clock.ts";

/** Names whose counts are kept; the one longest unused goes first, so memory is bounded whoever calls. */
const namesMax = 10_000;

/** Counts events by name within a sliding window, and says how long a name that had too many must wait. */
export class RateWindow {
  readonly #clock: Clock;
  readonly #max: number;
  readonly #windowMs: number;
  readonly #times = new Map<string, number[]>();

  constructor(options: { clock: Clock; max: number; windowMs: number }) {
    this.#clock = options.clock;
    this.#max = options.max;
    this.#windowMs = options.windowMs;
  }

  /** Counts one event. */
  count(name: string): void {
    const times = this.#recent(name);
    times.push(this.#clock.elapsed());
    if (times.length > this.#max) times.shift();
    this.#times.delete(name);
    this.#times.set(name, times);
    if (this.#times.size > namesMax) this.#times.delete(this.#times.keys().next().value!);
  }

  /** Milliseconds until one more would be within the limit; 0 when it is now. */
  waitMs(name: string): number {
    const times = this.#recent(name);
    if (times.length < this.#max) return 0;
    return Math.max(0, times[0]! + this.#windowMs - this.#clock.elapsed());
  }

  #recent(name: string): number[] {
    const after = this.#clock.elapsed() - this.#windowMs;
    return (this.#times.get(name) ?? []).filter((at) => at > after);
  }
}
