import type { Clock } from "@/time/clock.ts";
import { RateWindow } from "@/time/rate_window.ts";

const windowMs = 100;

/**
 * How fast connections of TLS may follow each other.
 *
 * When one of TLS 1.3 is closed the runtime lets one of its 32 threads for files sleep for 100 ms (`nonblocking_tcp_drop` in
 * rustls-tokio-stream). More than 320 a second, and every read and write of the process waits behind them, longer and longer.
 * A connection that begins is closed once, so it is the beginning that waits.
 */
export class TlsPace {
  readonly #clock: Clock;
  readonly #begun: RateWindow;

  constructor({ clock, max }: { readonly clock: Clock; readonly max: number }) {
    this.#clock = clock;
    this.#begun = new RateWindow({ clock, max, windowMs });
  }

  /** Resolves when one more may begin; rejects with the signal's reason. */
  async turn(signal: AbortSignal): Promise<void> {
    for (let ms = this.#begun.waitMs(all); ms > 0; ms = this.#begun.waitMs(all)) await this.#clock.sleep(ms, signal);
    this.#begun.count(all);
  }
}

const all = "";
