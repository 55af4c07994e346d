import type { TaskId } from "@/protocol/ids.ts";

/** Whose turn it is in one context: one caller's one conversation (state-machines.md 2). */
export type SlotState =
  | { readonly kind: "free" }
  | { readonly kind: "running"; readonly taskId: TaskId }
  /** Nobody runs; the question of this task is open. */
  | { readonly kind: "parked"; readonly taskId: TaskId }
  /** The task is over, its engine may still be at work: a message waits. */
  | { readonly kind: "draining"; readonly taskId: TaskId };

/** What may happen to a context slot: the rows of state-machines.md 2. */
export type SlotEvent =
  /** T1, T1w, T11, T13: a task takes the context, the lease in hand. */
  | { readonly kind: "taken"; readonly taskId: TaskId }
  /** T5 is durable. */
  | { readonly kind: "asked" }
  /** T6, T7, T8 are durable; or the task was not stored after all; or a queued run was ended. */
  | { readonly kind: "ended" }
  /** T9, T10, T15 are durable, or the lease is lost: the turn was told to stop. */
  | { readonly kind: "aborted" }
  /** The turn's promise settled, or 5 s passed and the session was killed. */
  | { readonly kind: "turn is over" }
  /** T10, T12 or T15 ended the task that had asked. */
  | { readonly kind: "question closed"; readonly taskId: TaskId };

/**
 * Decides what an event does to a context slot. Pure.
 *
 * @throws {RangeError} For a pair that cannot happen: a bug of the caller.
 */
export function nextSlot(state: SlotState, event: SlotEvent): SlotState {
  switch (event.kind) {
    case "taken":
      if (state.kind === "free" || state.kind === "parked") return { kind: "running", taskId: event.taskId };
      break;
    case "asked":
      if (state.kind === "running") return { kind: "parked", taskId: state.taskId };
      break;
    case "ended":
      if (state.kind === "running") return { kind: "free" };
      break;
    case "aborted":
      if (state.kind === "running") return { kind: "draining", taskId: state.taskId };
      break;
    case "turn is over":
      if (state.kind === "draining") return { kind: "free" };
      break;
    case "question closed":
      return state.kind === "parked" && state.taskId === event.taskId ? { kind: "free" } : state;
    default:
      return event satisfies never;
  }
  throw new RangeError(`Cannot apply "${event.kind}" to a context that is ${state.kind}`);
}
