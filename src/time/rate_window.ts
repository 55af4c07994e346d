import type { Clock } from "./clock.ts";

/** Names whose counts are kept; the one longest unused goes first, so memory is bounded whoever calls. */
const namesMax = 10_000;
/** Parts of a window: events of one part share the time of its last. So memory is bounded however many there are. */
const partsOfWindow = 100;

/**
 * Counts events by name within a sliding window, and says how long a name that had too many must wait.
 *
 * No window ever holds more than the limit; that an event is over is noticed up to a hundredth of the window late.
 */
export class RateWindow {
  readonly #clock: Clock;
  readonly #max: number;
  readonly #windowMs: number;
  readonly #parts = new Map<string, Part[]>();

  /** `max`: the limit of a name for which `waitMs` is told no other; `Infinity` by default. */
  constructor(options: { clock: Clock; max?: number; windowMs: number }) {
    this.#clock = options.clock;
    this.#max = options.max ?? Infinity;
    this.#windowMs = options.windowMs;
  }

  /** Counts one event. */
  count(name: string): void {
    const now = this.#clock.elapsed();
    const parts = this.#recent(name);
    const last = parts.at(-1);
    if (last !== undefined && now - last.began < this.#windowMs / partsOfWindow) {
      last.at = now;
      last.events++;
    } else {
      parts.push({ began: now, at: now, events: 1 });
    }
    this.#parts.delete(name);
    this.#parts.set(name, parts);
    if (this.#parts.size > namesMax) this.#parts.delete(this.#parts.keys().next().value!);
  }

  /** Milliseconds until one more would be within the limit; 0 when it is now. */
  waitMs(name: string, max: number = this.#max): number {
    const parts = this.#recent(name);
    let left = parts.reduce((sum, { events }) => sum + events, 0);
    let waitMs = 0;
    for (const { at, events } of parts) {
      if (left < max) break;
      left -= events;
      waitMs = at + this.#windowMs - this.#clock.elapsed();
    }
    return Math.max(0, waitMs);
  }

  #recent(name: string): Part[] {
    const after = this.#clock.elapsed() - this.#windowMs;
    return (this.#parts.get(name) ?? []).filter(({ at }) => at > after);
  }
}

/** Events that came close together. */
interface Part {
  readonly began: number;
  /** When the last of them came. */
  at: number;
  events: number;
}
