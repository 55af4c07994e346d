import type { Clock } from "@/time/clock.ts";
import { OutboundError } from "./outbound_error.ts";

/** How many exchanges may be under way, and how many may wait for how long. */
export interface ExchangeCounts {
  readonly exchangesMax: number;
  readonly perHostMax: number;
  readonly perCallerMax: number;
  readonly waitMs: number;
  readonly waitingMax: number;
}

/** Whose exchange it is. What is absent counts for all exchanges together only. */
export interface ExchangeOwner {
  readonly host?: string;
  readonly caller?: string;
}

interface Waiting {
  readonly owner: ExchangeOwner;
  readonly admit: (place: Disposable) => void;
}

/**
 * Who may exchange now, and who waits: first come, first served, but who waits for a host or a caller that has enough holds up
 * nobody who may go.
 */
export class ExchangeLimits {
  readonly #counts: ExchangeCounts;
  readonly #clock: Clock;
  readonly #hosts = new Tally();
  readonly #callers = new Tally();
  readonly #waiting = new Set<Waiting>();
  #underWay = 0;

  constructor(counts: ExchangeCounts, clock: Clock) {
    this.#counts = counts;
    this.#clock = clock;
  }

  /** How many are under way, and how many wait. */
  get size(): { readonly underWay: number; readonly waiting: number } {
    return { underWay: this.#underWay, waiting: this.#waiting.size };
  }

  /**
   * Gives a place, now or when there is one; dispose of it when the socket is closed, once or more often.
   *
   * Rejects with an `OutboundError` BUSY when too many wait or it took too long, and with the signal's reason when it is
   * aborted; then no place was taken.
   */
  async enter(owner: ExchangeOwner, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#mayGo(owner)) return this.#admit(owner);
    if (this.#waiting.size >= this.#counts.waitingMax) throw busy("too many exchanges wait");
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>();
    const waiting: Waiting = { owner, admit: resolve };
    const leave = (reason: unknown) => {
      if (this.#waiting.delete(waiting)) reject(reason);
    };
    using deadline = this.#clock.deadline(this.#counts.waitMs);
    deadline.signal.addEventListener("abort", () => leave(busy("no exchange ended in time")), { once: true });
    const onAbort = () => leave(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    this.#waiting.add(waiting);
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  #mayGo({ host, caller }: ExchangeOwner): boolean {
    const { exchangesMax, perHostMax, perCallerMax } = this.#counts;
    return this.#underWay < exchangesMax && this.#hosts.of(host) < perHostMax &&
      this.#callers.of(caller) < perCallerMax;
  }

  #admit(owner: ExchangeOwner): Disposable {
    this.#add(owner, 1);
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#add(owner, -1);
        this.#admitWaiting();
      },
    };
  }

  #add({ host, caller }: ExchangeOwner, count: 1 | -1): void {
    this.#underWay += count;
    this.#hosts.add(host, count);
    this.#callers.add(caller, count);
  }

  #admitWaiting(): void {
    for (const waiting of this.#waiting) {
      if (this.#underWay >= this.#counts.exchangesMax) return;
      if (!this.#mayGo(waiting.owner)) continue;
      this.#waiting.delete(waiting);
      waiting.admit(this.#admit(waiting.owner));
    }
  }
}

/** Counts by name; a name at 0 is forgotten. */
class Tally {
  readonly #counts = new Map<string, number>();

  of(name: string | undefined): number {
    return name === undefined ? 0 : this.#counts.get(name) ?? 0;
  }

  add(name: string | undefined, count: number): void {
    if (name === undefined) return;
    const now = this.of(name) + count;
    if (now === 0) this.#counts.delete(name);
    else this.#counts.set(name, now);
  }
}

function busy(message: string): OutboundError {
  return new OutboundError("BUSY", "wait", { message });
}
