import type { Clock } from "@/time/clock.ts";
import { OutboundError } from "./outbound_error.ts";

/** How many exchanges may be under way, and how many may wait. */
export interface ExchangeCounts {
  readonly exchangesMax: number;
  /** Of all callers together: one alone cannot fill a host that others use, too. */
  readonly perHostMax: number;
  readonly perCallerMax: number;
  /** Of one caller to one host. */
  readonly perCallerHostMax: number;
  readonly waitingMax: number;
  readonly waitingPerCallerMax: number;
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
  readonly #callersHosts = new Tally();
  readonly #waiting = new Set<Waiting>();
  readonly #waitingCallers = new Tally();
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
   * Rejects with an `OutboundError` BUSY when too many wait, in all or of its caller, or it took longer than `waitMs`, and with
   * the signal's reason when it is aborted; then no place was taken.
   */
  async enter(
    owner: ExchangeOwner,
    { signal, waitMs }: { readonly signal: AbortSignal; readonly waitMs: number },
  ): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#mayGo(owner)) return this.#admit(owner);
    const { waitingMax, waitingPerCallerMax } = this.#counts;
    if (this.#waiting.size >= waitingMax || this.#waitingCallers.of(owner.caller) >= waitingPerCallerMax) {
      throw busy("too many exchanges wait");
    }
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>();
    const waiting: Waiting = { owner, admit: resolve };
    const leave = (reason: unknown) => {
      if (this.#leave(waiting)) reject(reason);
    };
    using deadline = this.#clock.deadline(waitMs);
    deadline.signal.addEventListener("abort", () => leave(busy("no exchange ended in time")), { once: true });
    const onAbort = () => leave(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    this.#waiting.add(waiting);
    this.#waitingCallers.add(owner.caller, 1);
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  #mayGo(owner: ExchangeOwner): boolean {
    const { exchangesMax, perHostMax, perCallerMax, perCallerHostMax } = this.#counts;
    return this.#underWay < exchangesMax && this.#hosts.of(owner.host) < perHostMax &&
      this.#callers.of(owner.caller) < perCallerMax && this.#callersHosts.of(callerAtHost(owner)) < perCallerHostMax;
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

  #add(owner: ExchangeOwner, count: 1 | -1): void {
    this.#underWay += count;
    this.#hosts.add(owner.host, count);
    this.#callers.add(owner.caller, count);
    this.#callersHosts.add(callerAtHost(owner), count);
  }

  /** False when it did not wait any more. */
  #leave(waiting: Waiting): boolean {
    if (!this.#waiting.delete(waiting)) return false;
    this.#waitingCallers.add(waiting.owner.caller, -1);
    return true;
  }

  #admitWaiting(): void {
    for (const waiting of this.#waiting) {
      if (this.#underWay >= this.#counts.exchangesMax) return;
      if (!this.#mayGo(waiting.owner)) continue;
      this.#leave(waiting);
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

/** Neither a caller nor a host has a space in its name. */
function callerAtHost({ caller, host }: ExchangeOwner): string | undefined {
  return caller === undefined || host === undefined ? undefined : `${caller} ${host}`;
}

function busy(message: string): OutboundError {
  return new OutboundError("BUSY", "wait", { message });
}
