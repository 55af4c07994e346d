import type { Clock } from "@/time/clock.ts";
import { notNeeded } from "@/time/not_needed.ts";

/** Watches something that must be heard of every so often; aborts its signal when it is not. Dispose of it. */
export class SilenceWatch implements Disposable {
  readonly #clock: Clock;
  readonly #silenceMs: number;
  readonly #silent = new AbortController();
  readonly #stop = new AbortController();
  #heardAt: number;

  constructor({ clock, silenceMs }: { readonly clock: Clock; readonly silenceMs: number }) {
    this.#clock = clock;
    this.#silenceMs = silenceMs;
    this.#heardAt = clock.elapsed();
    void this.#watch();
  }

  /** Aborts after the silence. */
  get signal(): AbortSignal {
    return this.#silent.signal;
  }

  /** It was silent for too long. */
  get isOver(): boolean {
    return this.#silent.signal.aborted;
  }

  /** Something was heard. */
  heard(): void {
    this.#heardAt = this.#clock.elapsed();
  }

  [Symbol.dispose](): void {
    this.#stop.abort(notNeeded);
  }

  async #watch(): Promise<void> {
    if (this.#silenceMs === Infinity) return;
    while (true) {
      const left = this.#heardAt + this.#silenceMs - this.#clock.elapsed();
      if (left <= 0) return this.#silent.abort(new DOMException("It was silent for too long", "TimeoutError"));
      if (!await this.#clock.sleep(left, this.#stop.signal).then(() => true, () => false)) return;
    }
  }
}
