import type { TaskId } from "@/protocol/ids.ts";
import type { TimeMs } from "@/time/clock.ts";
import { isSameTarget } from "./push_lifecycle.ts";
import type { TaskIndex } from "./task_index.ts";
import { isOwed, type TaskRecord } from "./task_record.ts";
import type { DuePush, DuePushQuery } from "./task_store.ts";

/** Where the webhooks are found, and their records. */
export interface PushClaimsOptions {
  readonly index: TaskIndex;
  /** The newest record of a task. */
  readonly read: (id: TaskId) => Promise<TaskRecord | undefined>;
}

/**
 * Which webhooks somebody is sending to right now, in memory: a claim ends when the webhook's own state is committed, or
 * with its lease. A new status of the task does not end it: one request at a time a webhook (state-machines.md 6).
 */
export class PushClaims {
  readonly #options: PushClaimsOptions;
  readonly #until = new Map<string, number>();

  constructor(options: PushClaimsOptions) {
    this.#options = options;
  }

  /** Claims webhooks that are due and unclaimed, longest due first, and gives them with their records. */
  async take({ now, limit, leaseMs, taskId }: DuePushQuery): Promise<readonly DuePush[]> {
    const due: DuePush[] = [];
    for (const { id, configId, at } of this.#options.index.owed(taskId)) {
      if (due.length === limit || at > now) break;
      if (this.#isClaimed(id, configId, now)) continue;
      const record = await this.#options.read(id);
      const push = record?.pushes.find(({ target }) => target.id === configId);
      // The record may be newer than what was listed, and another may have claimed it meanwhile.
      const isDue = record !== undefined && push !== undefined && isOwed(push, record) && push.nextAt! <= now;
      if (!isDue || this.#isClaimed(id, configId, now)) continue;
      this.#until.set(claimName(id, configId), now + leaseMs);
      due.push({ record, configId });
    }
    return due;
  }

  /** When the first unclaimed webhook wants to be told something, be it in the past; undefined when none does. */
  nextAt(now: TimeMs): TimeMs | undefined {
    const first = this.#options.index.owed().find(({ id, configId }) => !this.#isClaimed(id, configId, now));
    return first?.at as TimeMs | undefined;
  }

  /** Ends the claims of webhooks whose own state differs between two revisions. */
  committed(before: TaskRecord, next: TaskRecord | undefined): void {
    for (const push of before.pushes) {
      const after = next?.pushes.find(({ target }) => target.id === push.target.id);
      const same = after?.acked === push.acked && after.failures === push.failures && after.state === push.state &&
        isSameTarget(after.target, push.target);
      if (!same) this.#until.delete(claimName(before.task.id, push.target.id));
    }
  }

  #isClaimed(taskId: TaskId, configId: string, now: TimeMs): boolean {
    return (this.#until.get(claimName(taskId, configId)) ?? 0) > now;
  }
}

function claimName(taskId: TaskId, configId: string): string {
  return `${taskId} ${configId}`;
}
