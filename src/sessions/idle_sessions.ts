import type { SessionOptions } from "@/engine/engine.ts";
import type { OpenSession } from "./open_session.ts";

/** A scope whose session is open, or opening. */
export interface Slot {
  readonly scope: string;
  readonly trust: SessionOptions["trust"];
  readonly caller?: string;
  /** Shared by all that wait for the session. */
  readonly opening: Promise<OpenSession>;
  /** Aborts when the scope is killed. */
  readonly stop: AbortController;
  session?: OpenSession;
  inTurn: boolean;
  /** Its caller was removed: it is closed when it would be idle. */
  isLeaving: boolean;
  /** Of the growing clock; of use when the session is idle. */
  idleSince: number;
}

/** A slot whose session is open and runs nothing. */
export type IdleSlot = Slot & { readonly session: OpenSession };

/** Says whether the session of a slot is open and runs nothing. */
export function isIdle(slot: Slot): slot is IdleSlot {
  return slot.session !== undefined && !slot.inTurn;
}

/** Returns the longest idle sessions without which the idle ones have at most `charsMax` characters in memory. */
export function longestIdle(slots: Iterable<Slot>, charsMax: number): readonly IdleSlot[] {
  const idle = [...slots].filter(isIdle);
  let chars = idle.reduce((sum, { session }) => sum + session.chars, 0);
  if (chars <= charsMax) return [];
  const closed: IdleSlot[] = [];
  for (const slot of idle.sort(bySince)) {
    if (chars <= charsMax) break;
    chars -= slot.session.chars;
    closed.push(slot);
  }
  return closed;
}

/** Returns the longest idle sessions of a caller without which it has at most `max` open, as far as so many are idle. */
export function longestIdleOf(slots: Iterable<Slot>, caller: string, max: number): readonly IdleSlot[] {
  const open = [...slots].filter((slot) => slot.caller === caller);
  return open.filter(isIdle).sort(bySince).slice(0, Math.max(0, open.length - max));
}

function bySince(a: IdleSlot, b: IdleSlot): number {
  return a.idleSince - b.idleSince;
}
