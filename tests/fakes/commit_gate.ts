import type { BeforeCommit } from "@tests/fakes/memory_task_store.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";

/** A commit that a test holds: it reached the store and is not durable. */
export interface HeldCommit {
  /** The record that is held, once one is. */
  readonly reached: Promise<TaskRecord>;
  readonly isReached: boolean;
  release(): void;
  /** Fails as a full disk does. */
  fail(): void;
}

/** Stands before a `MemoryTaskStore` and holds or fails what is to become durable. */
export interface CommitGate {
  readonly beforeCommit: BeforeCommit;
  /** As long as it is true every commit fails as on a full disk. */
  isFull: boolean;
  /** Commits that were tried, as `working 2`: state and revision. */
  readonly tried: readonly string[];
  /** Holds the next commit of that state (`working`, `input-required`), or any. */
  hold(state?: string): HeldCommit;
}

/** Makes a gate that lets everything through until told otherwise. */
export function createCommitGate(): CommitGate {
  const holds: {
    state: string | undefined;
    reached: PromiseWithResolvers<TaskRecord>;
    go: PromiseWithResolvers<void>;
  }[] = [];
  const tried: string[] = [];
  let isFull = false;
  return {
    get isFull() {
      return isFull;
    },
    set isFull(value) {
      isFull = value;
    },
    tried,
    async beforeCommit(next) {
      const state = stateWord(next);
      tried.push(`${state} ${next.rev}`);
      const at = holds.findIndex((hold) => hold.state === undefined || hold.state === state);
      if (at >= 0) {
        const [hold] = holds.splice(at, 1);
        hold!.reached.resolve(next);
        await hold!.go.promise;
      }
      if (isFull) throw full();
    },
    hold(state) {
      const hold = { state, reached: Promise.withResolvers<TaskRecord>(), go: Promise.withResolvers<void>() };
      let isReached = false;
      hold.reached.promise.then(() => isReached = true);
      hold.go.promise.catch(() => {});
      holds.push(hold);
      return {
        reached: hold.reached.promise,
        get isReached() {
          return isReached;
        },
        release: () => hold.go.resolve(),
        fail: () => hold.go.reject(full()),
      };
    },
  };
}

/** `input-required` for `TASK_STATE_INPUT_REQUIRED`. */
export function stateWord({ task }: Pick<TaskRecord, "task">): string {
  return task.status.state.replace("TASK_STATE_", "").replace("_", "-").toLowerCase();
}

function full(): Error {
  return Object.assign(new Error("ENOSPC: made by the test"), { code: "ENOSPC" });
}
