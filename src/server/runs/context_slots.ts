import { getLogger } from "@logtape/logtape";
import type { TaskId } from "@/protocol/ids.ts";
import type { Clock } from "@/time/clock.ts";
import { nextSlot, type SlotEvent, type SlotState } from "./context_slot.ts";
import type { Fence } from "@/server/tasks/task_record.ts";
import { type Busy, type ContextKey, contextName, type Lease, type TaskStore } from "@/server/tasks/task_store.ts";

const logger = getLogger(["a2a", "server", "runs"]);

/** How long a lease lives; it is renewed every third of it. */
export const leaseMs = 60_000;
/** How long a message waits for a context that is being drained: a turn is killed after 5 s. */
const drainWaitMs = 6_000;
const drainLookMs = 250;

/**
 * Who runs in which context, here: the slots of state-machines.md 2, each with the lease behind it.
 *
 * A context that nobody here holds may still be held by another replica: the store's lease decides.
 */
export class ContextSlots implements AsyncDisposable {
  readonly #store: TaskStore;
  readonly #clock: Clock;
  readonly #onLost: (taskId: TaskId) => void;
  readonly #slots = new Map<string, Slot>();
  readonly #stop = new AbortController();
  readonly #renewing: Promise<void>;

  /** `onLost` is told when a lease was lost to someone else: the task's run must stop and commit nothing. */
  constructor(options: { store: TaskStore; clock: Clock; onLost: (taskId: TaskId) => void }) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#onLost = options.onLost;
    this.#renewing = this.#renewAll();
  }

  /** Takes a context for a task. Waits while it is being drained, at most 6 s; `busy` when something runs in it. */
  async take(key: ContextKey, taskId: TaskId): Promise<Lease | Busy> {
    const name = contextName(key);
    const until = this.#clock.elapsed() + drainWaitMs;
    while (true) {
      const slot = this.#slots.get(name);
      if (slot?.state.kind === "running") return { kind: "busy", taskId: slot.state.taskId };
      if (slot?.state.kind === "draining") {
        if (this.#clock.elapsed() >= until) return { kind: "busy", taskId: slot.state.taskId };
        await this.#drained(slot, until);
        continue;
      }
      const lease = await this.#store.lease(key, taskId, leaseMs);
      if (!("kind" in lease)) {
        this.#move(name, { kind: "taken", taskId }, lease);
        return lease;
      }
      const since = this.#slots.get(name)?.state.kind;
      if (since === "running" || since === "draining") continue; // someone here was faster
      const isLate = this.#clock.elapsed() >= until || this.#stop.signal.aborted;
      if (isLate || !await this.#isDrainedElsewhere(key, lease.taskId)) return lease;
      await this.#clock.sleep(drainLookMs, this.#stop.signal).catch(() => {});
    }
  }

  /** Gives up a context that was taken for a run that then was not stored, or ended before it began. */
  async giveUp(key: ContextKey, fence: Fence): Promise<void> {
    await this.turnIsOver(key, fence);
  }

  /** The run with this fence is over by its own end, which is being shown. Synchronous, as are the next three. */
  settle(key: ContextKey, fence: Fence, how: "asked" | "ended"): void {
    const slot = this.#slots.get(contextName(key));
    if (slot?.fence === fence && slot.state.kind === "running") this.#move(contextName(key), { kind: how });
  }

  /** The task whose question was open in this context is over. */
  closeQuestion(key: ContextKey, taskId: TaskId): void {
    const name = contextName(key);
    if (this.#slots.has(name)) this.#move(name, { kind: "question closed", taskId });
  }

  /** The turn of the run with this fence was told to stop: the context is drained. Nothing when it is over already. */
  abort(key: ContextKey, fence: Fence): void {
    const slot = this.#slots.get(contextName(key));
    if (slot?.fence === fence && slot.state.kind === "running") this.#move(contextName(key), { kind: "aborted" });
  }

  /**
   * The turn of the run with this fence is over, however its task ended: the lease goes, and who waits for the context
   * goes on. Nothing when the end of the run freed the context already.
   */
  async turnIsOver(key: ContextKey, fence: Fence): Promise<void> {
    this.abort(key, fence);
    const slot = this.#slots.get(contextName(key));
    if (slot?.fence !== fence || slot.state.kind !== "draining") return;
    if (slot.lease !== undefined) await this.#store.release(slot.lease);
    this.#move(contextName(key), { kind: "turn is over" });
    slot.drained.resolve();
  }

  /** The lease that this process holds in a context, as last renewed. */
  lease(key: ContextKey): Lease | undefined {
    return this.#slots.get(contextName(key))?.lease;
  }

  /** The state of a context as seen from here. */
  state(key: ContextKey): SlotState {
    return this.#slots.get(contextName(key))?.state ?? { kind: "free" };
  }

  /** Says whether the lease of a task's run is held here. */
  holds(key: ContextKey, fence: Fence): boolean {
    return this.lease(key)?.fence === fence;
  }

  /** Gives up every lease, for a host that stops. What still runs can commit nothing more. */
  async releaseAll(): Promise<void> {
    const slots = [...this.#slots.values()];
    this.#slots.clear();
    for (const { lease, drained } of slots) {
      if (lease !== undefined) await this.#store.release(lease);
      drained.resolve();
    }
  }

  /** Renews every lease that is held here; those that are lost are told to `onLost`. */
  async renew(): Promise<void> {
    for (const [name, slot] of [...this.#slots]) {
      const { lease } = slot;
      if (lease === undefined) continue;
      const renewed = await this.#store.renew(lease, leaseMs);
      if (slot.lease?.fence !== lease.fence || this.#slots.get(name) !== slot) continue;
      if (renewed !== "lost") {
        slot.lease = renewed;
        continue;
      }
      slot.lease = undefined;
      logger.warning("Lost the lease of a context to another host");
      if (slot.state.kind !== "running") continue;
      const { taskId } = slot.state;
      this.#move(name, { kind: "aborted" });
      this.#onLost(taskId);
    }
  }

  /** Stops renewing. Leases that are still held run out. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#renewing;
  }

  #move(name: string, event: SlotEvent, lease?: Lease): void {
    const slot = this.#slots.get(name) ?? newSlot();
    slot.state = nextSlot(slot.state, event);
    if (lease !== undefined) {
      slot.lease = lease;
      slot.fence = lease.fence;
    }
    if (slot.state.kind === "draining") slot.drained = Promise.withResolvers();
    if (slot.state.kind === "free" || slot.state.kind === "parked") slot.lease = slot.fence = undefined;
    if (slot.state.kind === "free") this.#slots.delete(name);
    else this.#slots.set(name, slot);
  }

  /** Resolves when a slot is drained, at the latest at `until`: what its turn still waits for may take longer. */
  async #drained(slot: Slot, until: number): Promise<void> {
    const over = new AbortController();
    slot.drained.promise.then(() => over.abort());
    await this.#clock.sleep(until - this.#clock.elapsed(), over.signal).catch(() => {});
  }

  async #isDrainedElsewhere(key: ContextKey, taskId: TaskId): Promise<boolean> {
    const record = await this.#store.read(taskId, key.caller);
    return record !== undefined && record.run === null;
  }

  async #renewAll(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#clock.sleep(leaseMs / 3, signal).catch(() => {});
      if (signal.aborted) return;
      await this.renew().catch((error) => logger.warning("Cannot renew leases: {error}", { error }));
    }
  }
}

interface Slot {
  state: SlotState;
  /** Of the run that has the context, while it has it. */
  fence: Fence | undefined;
  /** Undefined when it was lost. */
  lease: Lease | undefined;
  drained: PromiseWithResolvers<void>;
}

function newSlot(): Slot {
  return { state: { kind: "free" }, fence: undefined, lease: undefined, drained: Promise.withResolvers() };
}
