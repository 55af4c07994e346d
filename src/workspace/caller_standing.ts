import type { CallerName } from "@/protocol/ids.ts";
import type { TimeMs } from "@/time/clock.ts";
import type { CallersRead } from "./callers_file.ts";

/** How a caller stands. `unknown`: the file cannot be read, or its entry: nothing of it is ended, and nothing new begun. */
export type CallerStanding = "active" | "expired" | "removed" | "unknown";

/**
 * Says whether what a caller has here goes on: its time may be over, or its entry gone. Only a file that is there and can be
 * read removes anyone, and a bad entry removes nobody (product.md §5.2).
 */
export function callerStanding(read: CallersRead, caller: CallerName, now: TimeMs): CallerStanding {
  if (read.missing || read.malformed) return "unknown";
  const entry = read.callers.find((one) => one.caller === caller);
  if (entry !== undefined) return entry.expires !== undefined && entry.expires <= now ? "expired" : "active";
  return read.skipped.some(({ name }) => name === caller) ? "unknown" : "removed";
}
