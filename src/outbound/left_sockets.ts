import { getLogger } from "@logtape/logtape";
import type { Clock } from "@/time/clock.ts";
import { RateWindow } from "@/time/rate_window.ts";
import { unlessAborted } from "@/time/unless_aborted.ts";
import type { ExchangeOwner } from "./exchange_limits.ts";
import { OutboundError } from "./outbound_error.ts";

const logger = getLogger(["a2a", "outbound"]);

const windowMs = 60 * 60 * 1000;

/** How many sockets may be left to the runtime within an hour. */
export interface LeftSocketCounts {
  readonly leftMax: number;
  readonly leftPerHostMax: number;
  readonly leftPerCallerMax: number;
  /** Fewer than a host may have: one caller alone closes no host to others. */
  readonly leftPerCallerHostMax: number;
}

/** What may leave a socket, from the beginning of TLS until its request is written. */
export interface Venture {
  /** It is over. `left`: whose fault it is that a socket is left; undefined when none is. The first call counts. */
  end(left: "host" | "caller" | undefined): void;
}

/**
 * Bounds the sockets that cannot be closed (decision 11).
 *
 * The runtime keeps a connection of TLS that is closed while its handshake is unfinished, or its request unwritten, until the
 * other end hangs up. So those are counted, by caller and by host, those that may become some included: what would be over the
 * bound waits for them. Who has left as many as an hour may have is sent nothing more.
 */
export class LeftSockets {
  readonly #counts: LeftSocketCounts;
  readonly #clock: Clock;
  readonly #left: RateWindow;
  readonly #ventures = new Map<string, number>();
  #ended = Promise.withResolvers<void>();

  constructor(counts: LeftSocketCounts, clock: Clock) {
    this.#counts = counts;
    this.#clock = clock;
    this.#left = new RateWindow({ clock, windowMs });
  }

  /** Throws an `OutboundError` QUARANTINED for who has left as many as may be. */
  check(owner: ExchangeOwner): void {
    for (const [name, max] of this.#bounds(owner)) if (this.#left.waitMs(name, max) > 0) throw quarantined();
  }

  /**
   * Begins what may leave a socket, now or when it may.
   *
   * Rejects with an `OutboundError`, QUARANTINED as `check` throws it, or BUSY when it took longer than `waitMs`, and with the
   * signal's reason when it is aborted; then nothing was begun.
   */
  async begin(
    owner: ExchangeOwner,
    { signal, waitMs }: { readonly signal: AbortSignal; readonly waitMs: number },
  ): Promise<Venture> {
    signal.throwIfAborted();
    if (this.#hasRoom(owner)) return this.#venture(owner);
    using deadline = this.#clock.deadline(waitMs);
    const over = AbortSignal.any([signal, deadline.signal]);
    do {
      this.check(owner);
      await unlessAborted(this.#ended.promise, over);
      signal.throwIfAborted();
      if (deadline.signal.aborted) throw busy();
    } while (!this.#hasRoom(owner));
    return this.#venture(owner);
  }

  /** Those under way are counted as left: they may be, all at once. */
  #hasRoom(owner: ExchangeOwner): boolean {
    return this.#bounds(owner).every(([name, max]) => {
      const room = max - (this.#ventures.get(name) ?? 0);
      return room > 0 && this.#left.waitMs(name, room) === 0;
    });
  }

  #venture(owner: ExchangeOwner): Venture {
    this.#add(owner, 1);
    let isUnderWay = true;
    return {
      end: (left) => {
        if (!isUnderWay) return;
        isUnderWay = false;
        this.#add(owner, -1);
        if (left !== undefined) this.#count(left === "host" ? owner : { caller: owner.caller });
        this.#ended.resolve();
        this.#ended = Promise.withResolvers();
      },
    };
  }

  #count(owner: ExchangeOwner): void {
    for (const [name, max] of this.#bounds(owner)) {
      this.#left.count(name);
      if (this.#left.waitMs(name, max) === 0) continue;
      logger.warning("Sends nothing {name} for up to an hour: {max} connections hang unfinished", { name, max });
    }
  }

  #add(owner: ExchangeOwner, count: 1 | -1): void {
    for (const [name] of this.#bounds(owner)) {
      const now = (this.#ventures.get(name) ?? 0) + count;
      if (now === 0) this.#ventures.delete(name);
      else this.#ventures.set(name, now);
    }
  }

  /** By whom it is counted, in the words of the log. */
  #bounds({ host, caller }: ExchangeOwner): readonly (readonly [name: string, max: number])[] {
    const { leftMax, leftPerHostMax, leftPerCallerMax, leftPerCallerHostMax } = this.#counts;
    return [
      ["to anybody", leftMax],
      ...host === undefined ? [] : [[`to the host ${host}`, leftPerHostMax] as const],
      ...caller === undefined ? [] : [[`for the caller ${caller}`, leftPerCallerMax] as const],
      ...host === undefined || caller === undefined
        ? []
        : [[`for the caller ${caller} to the host ${host}`, leftPerCallerHostMax] as const],
    ];
  }
}

function quarantined(): OutboundError {
  return new OutboundError("QUARANTINED", "wait", { message: "too many connections before it hang unfinished" });
}

function busy(): OutboundError {
  return new OutboundError("BUSY", "wait", { message: "no connection was secured in time" });
}
