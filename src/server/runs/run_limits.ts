import type { CallerName } from "@/protocol/ids.ts";
import type { TimeMs } from "@/time/clock.ts";

/**
 * The limits of runs (product.md §7), and what a caller's entry has instead of some of them: undefined for nothing. Durations
 * in milliseconds. `Infinity` is no limit.
 */
export interface RunLimits {
  readonly hopsMax: number;
  readonly runsMax: number;
  readonly queuedMax: number;
  readonly runMs: number;
  /** How long a question stays answerable. */
  readonly inputMs: number;
  /** How long a task is kept after its end. */
  readonly keepMs: number;
  readonly fileBytesMax: number;
  /** Turns an hour in one context. */
  readonly turnsPerContextMax: number;
  /** Turns in a row in one context whose messages came over other agents. */
  readonly delegatedTurnsMax: number;
  /** Of the runs at once those of one caller; `runsMax` holds beside it. */
  readonly callerRunsMax?: (caller: CallerName) => number | undefined;
  readonly callerRunMs?: (caller: CallerName) => number | undefined;
  readonly callerTurnsPerContextMax?: (caller: CallerName) => number | undefined;
}

/** When a run of `caller` that begins at `now` is stopped, as it is stored: null for never. */
export function runDeadline(limits: Pick<RunLimits, "runMs" | "callerRunMs">, caller: CallerName, now: TimeMs) {
  const runMs = limits.callerRunMs?.(caller) ?? limits.runMs;
  return Number.isFinite(runMs) ? now + runMs as TimeMs : null;
}
