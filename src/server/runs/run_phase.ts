/**
 * Where a run stands that has its run slot (state-machines.md 3). `settled` is the end; its outcome says how. One that is
 * queued has no turn: its record says so, and `RunSlots` grants it its slot.
 */
export type RunPhase =
  | { readonly kind: "opening" }
  | { readonly kind: "turning" }
  | { readonly kind: "stopping" }
  | { readonly kind: "settled"; readonly how: RunEnd };

/** How a run ended. */
export type RunEnd = "asked" | "answered" | "failed" | "aborted";

/** What may happen to a run: the rows of state-machines.md 3. */
export type RunPhaseEvent =
  /** The session is open, the files are there, the turn begins. */
  | { readonly kind: "opened" }
  /** The turn's `end`, or what stands for it when the engine broke. */
  | { readonly kind: "end"; readonly how: RunEnd }
  /** Cancel, deadline, drain, lost lease. */
  | { readonly kind: "abort" }
  /** 5 s passed since the abort: the session is killed. */
  | { readonly kind: "patience over" };

/**
 * Decides what an event does to a run. Pure. What comes after the end changes nothing.
 *
 * @throws {RangeError} For a pair that cannot happen: a bug of the caller.
 */
export function nextRunPhase(phase: RunPhase, event: RunPhaseEvent): RunPhase {
  if (phase.kind === "settled") return phase;
  switch (event.kind) {
    case "opened":
      if (phase.kind === "opening") return { kind: "turning" };
      if (phase.kind === "stopping") return phase;
      break;
    case "end":
      // Whatever an aborted turn ended with, its task was ended before: nothing of it counts.
      if (phase.kind === "stopping") return { kind: "settled", how: "aborted" };
      if (phase.kind === "turning") return { kind: "settled", how: event.how };
      if (phase.kind === "opening" && event.how === "failed") return { kind: "settled", how: "failed" };
      break;
    case "abort":
      return { kind: "stopping" };
    case "patience over":
      if (phase.kind === "stopping") return { kind: "settled", how: "aborted" };
      break;
    default:
      return event satisfies never;
  }
  throw new RangeError(`Cannot apply "${event.kind}" to a run that is ${phase.kind}`);
}
