import type { Counters } from "@/counters.ts";
import type { CallerName } from "@/protocol/ids.ts";
import type { Clock } from "@/time/clock.ts";
import { isDiskFull } from "@/workspace/disk.ts";
import type { NotificationsFile } from "@/workspace/notifications_file.ts";
import type { Notify } from "./session_tools.ts";

const hourMs = 60 * 60 * 1000;

/** Keeps what callers' sessions tell the owner: on disk before the tool answers, at most so many an hour and caller. */
export function ownerNotices(
  options: { file: NotificationsFile; clock: Clock; counters: Counters; perHourMax: number },
): Notify {
  const { file, clock, counters, perHourMax } = options;
  const sentAt = new Map<CallerName, readonly number[]>();
  return async ({ from, taskId, contextId, text }) => {
    const now = clock.elapsed();
    for (const [caller, times] of sentAt) if (times.at(-1)! <= now - hourMs) sentAt.delete(caller);
    const recent = (sentAt.get(from) ?? []).filter((at) => at > now - hourMs);
    if (recent.length >= perHourMax) {
      counters.add("notices.refused");
      return { kind: "refused", why: `the owner takes ${perHourMax} notices an hour` };
    }
    sentAt.set(from, [...recent, now]); // before the write: calls at once count too
    try {
      await file.append({ kind: "notify", from, taskId, contextId, text });
    } catch (error) {
      if (isDiskFull(error)) return { kind: "refused", why: "no room is left to keep it" };
      throw error;
    }
    counters.add("notices");
    return { kind: "done" };
  };
}
