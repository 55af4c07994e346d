import type { TaskId } from "@/protocol/ids.ts";
import type { TimeMs } from "@/time/clock.ts";
import { isSameTarget, pushDelayMsMax } from "./push_lifecycle.ts";
import type { TaskIndex } from "./task_index.ts";
import type { TaskRecord } from "./task_record.ts";
import type { DuePush, DuePushQuery } from "./task_store.ts";

/**
 * Which webhooks somebody is sending to right now, in memory: a claim ends when it is given back, when the webhook's own state
 * is committed, or with its lease. A new status of the task does not end it: one request at a time a webhook
 * (state-machines.md 6).
 *
 * All by what the index knows: no record is read, however many webhooks are due.
 */
export class PushClaims {
  readonly #index: TaskIndex;
  readonly #until = new Map<string, number>();

  constructor(index: TaskIndex) {
    this.#index = index;
  }

  /** Claims webhooks that are due and unclaimed, longest due first. */
  take({ now, limit, leaseMs, taskId }: DuePushQuery): readonly DuePush[] {
    const due = [...this.#index.owed(taskId)].filter(({ entry, configId, at }) =>
      isDue(at, now) && this.#claimedUntil(entry.id, configId) <= now
    ).sort((a, b) => a.at - b.at || (a.entry.id < b.entry.id ? -1 : a.entry.id > b.entry.id ? 1 : 0)).slice(0, limit);
    return due.map(({ entry, configId, url, at }) => {
      this.#until.set(claimName(entry.id, configId), now + leaseMs);
      return { taskId: entry.id, caller: entry.caller, configId, url, at: at as TimeMs };
    });
  }

  /** Gives a claim back: the webhook may be claimed again. */
  giveBack(taskId: TaskId, configId: string): void {
    this.#until.delete(claimName(taskId, configId));
  }

  /** When the first webhook wants to be told something and may be claimed, be it in the past; undefined when none does. */
  nextAt(now: TimeMs): TimeMs | undefined {
    let first = Infinity;
    for (const { entry, configId, at } of this.#index.owed()) {
      const from = isDue(at, now) ? now : at;
      first = Math.min(first, Math.max(from, this.#claimedUntil(entry.id, configId)));
    }
    return first === Infinity ? undefined : first as TimeMs;
  }

  /** Ends the claims of webhooks whose own state differs between two revisions. */
  committed(before: TaskRecord, next: TaskRecord | undefined): void {
    for (const push of before.pushes) {
      const after = next?.pushes.find(({ target }) => target.id === push.target.id);
      const same = after?.acked === push.acked && after.failures === push.failures && after.state === push.state &&
        isSameTarget(after.target, push.target);
      if (!same) this.giveBack(before.task.id, push.target.id);
    }
  }

  #claimedUntil(taskId: TaskId, configId: string): number {
    return this.#until.get(claimName(taskId, configId)) ?? 0;
  }
}

/** What is further ahead than any delay was stored before the clock of the machine was set back. */
function isDue(at: number, now: TimeMs): boolean {
  return at <= now || at > now + pushDelayMsMax;
}

function claimName(taskId: TaskId, configId: string): string {
  return `${taskId} ${configId}`;
}
