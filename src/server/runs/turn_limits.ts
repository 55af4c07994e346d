import { type Refused, refused } from "@/server/tasks/refusal.ts";
import type { ContextKey } from "@/server/tasks/task_store.ts";
import type { Clock } from "@/time/clock.ts";
import { RateWindow } from "@/time/rate_window.ts";
import type { RunLimits } from "./run_limits.ts";

const hourMs = 60 * 60 * 1000;
/** Contexts whose turns in a row are kept; the one longest unused goes first. */
const contextsMax = 10_000;

/**
 * Keeps conversations within their turns: so many an hour in one context, and so many in a row that came over other agents,
 * so that two agents do not answer each other for ever (product.md §7).
 *
 * Counted in memory since the host started, for the 10,000 contexts that were used last. A message without hops, or an hour
 * without a turn, begins a new row.
 */
export class TurnLimits {
  readonly #clock: Clock;
  readonly #limits: RunLimits;
  readonly #turns: RateWindow;
  readonly #rows = new Map<string, { readonly length: number; readonly at: number }>();

  constructor({ clock, limits }: { readonly clock: Clock; readonly limits: RunLimits }) {
    this.#clock = clock;
    this.#limits = limits;
    this.#turns = new RateWindow({ clock, windowMs: hourMs });
  }

  /** Why a message over so many agents may not start a turn in this context now; undefined when it may. Counts nothing. */
  refusal(key: ContextKey, hops: number): Refused | undefined {
    const { callerTurnsPerContextMax, turnsPerContextMax, delegatedTurnsMax } = this.#limits;
    const max = callerTurnsPerContextMax?.(key.caller) ?? turnsPerContextMax;
    const waitMs = this.#turns.waitMs(nameOf(key), max);
    if (waitMs > 0) {
      const text = `Over the limit of ${max} turns an hour in one context, retry later or start a new context`;
      return refused("too many turns", { text, retryAfterMs: waitMs });
    }
    const row = this.#row(nameOf(key));
    if (hops === 0 || row === undefined || row.length < delegatedTurnsMax) return undefined;
    const text = `Over the limit of ${delegatedTurnsMax} turns in a row in one context that came over other agents: ` +
      "send one yourself, start a new context, or retry after an hour of silence";
    return refused("too many delegated turns", { text, retryAfterMs: row.at + hourMs - this.#clock.elapsed() });
  }

  /** Counts a turn whose message was accepted. */
  count(key: ContextKey, hops: number): void {
    const name = nameOf(key);
    this.#turns.count(name);
    const length = hops === 0 ? 0 : (this.#row(name)?.length ?? 0) + 1;
    this.#rows.delete(name);
    if (length > 0) this.#rows.set(name, { length, at: this.#clock.elapsed() });
    if (this.#rows.size > contextsMax) this.#rows.delete(this.#rows.keys().next().value!);
  }

  #row(name: string) {
    const row = this.#rows.get(name);
    return row !== undefined && this.#clock.elapsed() < row.at + hourMs ? row : undefined;
  }
}

function nameOf({ caller, contextId }: ContextKey): string {
  return `${caller} ${contextId}`;
}
