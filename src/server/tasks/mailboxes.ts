import type { TaskId } from "@/protocol/ids.ts";

/**
 * One first-in-first-out mailbox a task: whatever changes a task is an item in it, and items never overlap
 * (state-machines.md 0.1).
 */
export class Mailboxes {
  readonly #last = new Map<TaskId, Promise<unknown>>();

  /** Does `item` when all that came before it is done, and passes on what it returns or throws. */
  async post<T>(id: TaskId, item: () => Promise<T>): Promise<T> {
    const before = this.#last.get(id) ?? Promise.resolve();
    const done = before.then(item, item);
    this.#last.set(id, done);
    try {
      return await done;
    } finally {
      if (this.#last.get(id) === done) this.#last.delete(id);
    }
  }

  /** Resolves when no item is left, including those that came meanwhile. */
  async empty(): Promise<void> {
    while (this.#last.size > 0) await Promise.allSettled(this.#last.values());
  }
}
