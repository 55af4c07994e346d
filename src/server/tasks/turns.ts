/** Work under one name takes turns: it never overlaps, and what has a name of its own does not wait. */
export class Turns {
  readonly #taken = new Map<string, Promise<void>>();

  /** Does `work` when no other of its name is done, at once when there is none. Passes on what it returns or throws. */
  async take<T>(name: string, work: () => Promise<T>): Promise<T> {
    while (this.#taken.has(name)) await this.#taken.get(name);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#taken.set(name, promise);
    try {
      return await work();
    } finally {
      this.#taken.delete(name);
      resolve();
    }
  }

  /** Resolves when nothing is done, including what came meanwhile. Never rejects. */
  async idle(): Promise<void> {
    while (this.#taken.size > 0) await this.#taken.values().next().value;
  }
}
