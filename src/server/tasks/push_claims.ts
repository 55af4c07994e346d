import type { TaskId } from "@/protocol/ids.ts";
import type { TimeMs } from "@/time/clock.ts";
import { isOwed, type TaskRecord } from "./task_record.ts";
import type { DuePush } from "./task_store.ts";

/**
 * Which webhooks somebody is sending to right now, in memory: a claim ends when the webhook's own state is committed, or
 * with its lease. A new status of the task does not end it: one request at a time a webhook (state-machines.md 6).
 */
export class PushClaims {
  readonly #until = new Map<string, number>();

  /** Claims, of the webhooks of `record` that are due and unclaimed, at most `limit`. */
  claim(record: TaskRecord, options: { now: TimeMs; limit: number; leaseMs: number }): DuePush[] {
    const { now, limit, leaseMs } = options;
    const due: DuePush[] = [];
    for (const push of record.pushes) {
      if (due.length === limit) break;
      const name = claimName(record.task.id, push.target.id);
      const isDue = isOwed(push, record) && push.nextAt! <= now;
      if (!isDue || (this.#until.get(name) ?? 0) > now) continue;
      this.#until.set(name, now + leaseMs);
      due.push({ record, configId: push.target.id });
    }
    return due;
  }

  /** Ends the claims of webhooks whose own state differs between two revisions. */
  committed(before: TaskRecord, next: TaskRecord | undefined): void {
    for (const push of before.pushes) {
      const after = next?.pushes.find(({ target }) => target.id === push.target.id);
      const same = after?.acked === push.acked && after.failures === push.failures && after.state === push.state;
      if (!same) this.#until.delete(claimName(before.task.id, push.target.id));
    }
  }
}

function claimName(taskId: TaskId, configId: string): string {
  return `${taskId} ${configId}`;
}
