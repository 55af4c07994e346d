import type { FollowItem, TaskStore } from "@/server/tasks/task_store.ts";

/** What one host sees of a store that others use too; a test can cut the host off, for a while or for good. */
export interface BlockableStore {
  readonly store: TaskStore;
  readonly isBlocked: boolean;
  /** From now on calls wait and nothing arrives, as in a process that is suspended, or dead. */
  block(): void;
  /** What waited is done now. */
  unblock(): void;
}

/** Gives a view of a store that can be blocked. Disposing of the view does nothing. */
export function createBlockableStore(store: TaskStore): BlockableStore {
  let blocked: PromiseWithResolvers<void> | undefined;
  const view = new Proxy(store, {
    get(target, name) {
      if (name === Symbol.asyncDispose) return () => Promise.resolve();
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        if (name === "progress") return blocked ?? value.apply(target, args);
        const called = blocked === undefined
          ? value.apply(target, args)
          : blocked.promise.then(() => value.apply(target, args));
        return name === "follow" ? called.then(held) : called;
      };
    },
  });

  function held(items: AsyncIterableIterator<FollowItem> | undefined): typeof items {
    if (items === undefined) return undefined;
    return {
      async next() {
        const item = await items.next();
        await blocked?.promise;
        return item;
      },
      return: async () => await items.return?.() ?? { done: true, value: undefined },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  return {
    store: view,
    get isBlocked() {
      return blocked !== undefined;
    },
    block() {
      blocked ??= Promise.withResolvers();
    },
    unblock() {
      blocked?.resolve();
      blocked = undefined;
    },
  };
}
