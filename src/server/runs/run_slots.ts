import type { CallerName } from "@/protocol/ids.ts";
import type { RunId, TaskRecord } from "@/server/tasks/task_record.ts";

/** How many run and wait (product.md §7). `Infinity` is no limit. */
export interface RunSlotLimits {
  /** Runs at once in the workspace. */
  readonly runsMax: number;
  /** Runs that wait for a slot. */
  readonly queuedMax: number;
  /** Runs at once of one caller; undefined for no limit of its own. */
  readonly callerRunsMax?: (caller: CallerName) => number | undefined;
}

/**
 * Who may run now and who waits: a fixed number of run slots, and a fair queue in front of them (state-machines.md 3).
 *
 * A counter, not the queue: which runs wait is asked of the store. Synchronous throughout.
 */
export class RunSlots {
  readonly #limits: RunSlotLimits;
  readonly #running = new Map<RunId, CallerName>();
  readonly #queued = new Map<RunId, CallerName>();
  readonly #servedAt = new Map<CallerName, number>();
  #served = 0;

  constructor(limits: RunSlotLimits) {
    this.#limits = limits;
  }

  /**
   * Takes a run slot, else a place in the queue. A slot goes to a new run only when nobody waits for it; when the queue is
   * full, then too when all who wait have as many runs as they may: one caller's waiting shuts nobody out.
   */
  enter(runId: RunId, caller: CallerName): "running" | "queued" | "full" {
    const isFull = this.#queued.size >= this.#limits.queuedMax;
    const isFree = this.#queued.size === 0 || (isFull && !this.#queued.values().some((other) => this.#mayRun(other)));
    if (isFree && this.#mayRun(caller)) {
      this.#run(runId, caller);
      return "running";
    }
    if (isFull) return "full";
    this.#queued.set(runId, caller);
    return "queued";
  }

  /** Takes a place in the queue whether or not there is room: for runs that were accepted before a restart. */
  waitAnyway(runId: RunId, caller: CallerName): void {
    this.#queued.set(runId, caller);
  }

  /**
   * Moves one of `candidates` (oldest first within a caller) from the queue to a run slot: of the caller that was served
   * longest ago. Undefined when no slot is free or none of them may run.
   */
  grant(candidates: readonly TaskRecord[]): TaskRecord | undefined {
    if (this.#running.size >= this.#limits.runsMax) return undefined;
    let chosen: TaskRecord | undefined;
    for (const record of candidates) {
      if (!this.#queued.has(record.run!.runId) || !this.#mayRun(record.caller)) continue;
      if (chosen === undefined || this.#lastServed(record) < this.#lastServed(chosen)) chosen = record;
    }
    if (chosen === undefined) return undefined;
    this.#queued.delete(chosen.run!.runId);
    this.#run(chosen.run!.runId, chosen.caller);
    return chosen;
  }

  /** Gives up the slot or the place of a run. */
  leave(runId: RunId): void {
    this.#running.delete(runId);
    this.#queued.delete(runId);
  }

  get running(): number {
    return this.#running.size;
  }

  get queued(): number {
    return this.#queued.size;
  }

  #mayRun(caller: CallerName): boolean {
    if (this.#running.size >= this.#limits.runsMax) return false;
    const own = this.#limits.callerRunsMax?.(caller);
    return own === undefined || [...this.#running.values()].filter((other) => other === caller).length < own;
  }

  #run(runId: RunId, caller: CallerName): void {
    this.#running.set(runId, caller);
    this.#servedAt.delete(caller);
    this.#servedAt.set(caller, ++this.#served);
    if (this.#servedAt.size > servedCallersMax) this.#servedAt.delete(this.#servedAt.keys().next().value!);
  }

  #lastServed(record: TaskRecord): number {
    return this.#servedAt.get(record.caller) ?? 0;
  }
}

/** Callers whose last turn is remembered; who was forgotten counts as never served. */
const servedCallersMax = 1_000;
