import type { TestClock } from "@tests/fakes/test_clock.ts";
import type { TaskStore } from "@/server/tasks/task_store.ts";

/** How a case wants its store. */
export interface StoreOptions {
  readonly storedTasksMax?: number;
}

/** A store under test, which is empty at first. */
export interface OpenStore extends AsyncDisposable {
  /** The store that is open now: another one after `reopen`. */
  readonly store: TaskStore;
  readonly clock: TestClock;
  /** Closes the store and opens it again as a new start would. Absent when it forgets with its process. */
  readonly reopen?: () => Promise<void>;
  /** How many followers the store has now, when that can be told. */
  readonly followers?: () => number;
  /** What the store keeps beside a task, when that can be told: names of blobs and what was left of them. */
  readonly blobsLeft?: (taskId: string) => readonly string[];
}

/** One thing that every store does. */
export interface StoreCase {
  readonly name: string;
  readonly options?: StoreOptions;
  readonly run: (open: OpenStore) => Promise<void>;
}
