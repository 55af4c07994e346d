import type { TaskId } from "@/protocol/ids.ts";
import type { Clock } from "@/time/clock.ts";
import type { Fence, TaskRecord } from "./task_record.ts";
import { type Busy, type ContextKey, contextName, type Lease } from "./task_store.ts";

/**
 * The rights to run in contexts, in memory: for one process under `host.lock`, or for several in one test.
 *
 * Fences grow from `firstFence` on, so a store that outlives its process passes one that grows over restarts.
 */
export class Leases {
  readonly #clock: Clock;
  readonly #held = new Map<string, Lease>();
  #nextFence: number;

  constructor(options: { clock: Clock; firstFence: Fence }) {
    this.#clock = options.clock;
    this.#nextFence = options.firstFence;
  }

  /** Takes a context unless a live lease holds it. A dead one is replaced; its fence is then old. */
  take(key: ContextKey, taskId: TaskId, ttlMs: number): Lease | Busy {
    const held = this.#held.get(contextName(key));
    if (held !== undefined && this.#lives(held)) return { kind: "busy", taskId: held.taskId };
    const lease = { key, taskId, fence: this.#nextFence++ as Fence, until: this.#clock.elapsed() + ttlMs };
    this.#held.set(contextName(key), lease);
    return lease;
  }

  renew(lease: Lease, ttlMs: number): Lease | "lost" {
    if (!this.holds(lease.key, lease.fence)) return "lost";
    const renewed = { ...lease, until: this.#clock.elapsed() + ttlMs };
    this.#held.set(contextName(lease.key), renewed);
    return renewed;
  }

  release(lease: Lease): void {
    if (this.holds(lease.key, lease.fence)) this.#held.delete(contextName(lease.key));
  }

  /** Says whether nobody took the context after `fence`, and its holder did not give it up. */
  holds(key: ContextKey, fence: Fence): boolean {
    return this.#held.get(contextName(key))?.fence === fence;
  }

  /** Says whether the run of `record` has a live lease behind it. */
  backs(record: TaskRecord): boolean {
    const held = this.#held.get(contextName({ caller: record.caller, contextId: record.task.contextId }));
    return held !== undefined && held.fence === record.run?.fence && this.#lives(held);
  }

  #lives(lease: Lease): boolean {
    return lease.until > this.#clock.elapsed();
  }
}
