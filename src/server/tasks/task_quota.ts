import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { TaskIndex } from "./task_index.ts";

/**
 * Keeps the number of a caller's tasks at its limit, those that are being created included: creates that come together
 * do not pass it together.
 */
export class TaskQuota {
  readonly #index: TaskIndex;
  readonly #tasksMax: (caller: CallerName) => number;
  readonly #creating = new Map<CallerName, number>();

  /** `tasksMax` is asked each time: until the index is complete the oldest task is not known, so there is no limit. */
  constructor(options: { index: TaskIndex; tasksMax: (caller: CallerName) => number }) {
    this.#index = options.index;
    this.#tasksMax = options.tasksMax;
  }

  /**
   * Takes a place for a task to be created, which counts until it is given back: when the index has the task, or when it
   * was not stored. `forget` removes the oldest task that nothing waits for. Undefined when there is no place, and none.
   */
  async take(caller: CallerName, forget: (id: TaskId) => Promise<void>): Promise<Disposable | undefined> {
    const place = this.#place(caller);
    try {
      while (this.#index.count(caller) + this.#creating.get(caller)! > this.#tasksMax(caller)) {
        const oldest = this.#index.oldestForgettable(caller);
        if (oldest === undefined) {
          place[Symbol.dispose]();
          return undefined;
        }
        await forget(oldest);
      }
      return place;
    } catch (error) {
      place[Symbol.dispose]();
      throw error;
    }
  }

  #place(caller: CallerName): Disposable {
    this.#creating.set(caller, (this.#creating.get(caller) ?? 0) + 1);
    let isTaken = true;
    return {
      [Symbol.dispose]: () => {
        if (!isTaken) return;
        isTaken = false;
        const left = this.#creating.get(caller)! - 1;
        if (left === 0) this.#creating.delete(caller);
        else this.#creating.set(caller, left);
      },
    };
  }
}
