import type { TestClock } from "@tests/fakes/test_clock.ts";
import type { TaskStore } from "@/server/tasks/task_store.ts";
import { commitCases } from "@tests/suites/task_store_commits.ts";
import { createCases } from "@tests/suites/task_store_creates.ts";
import { followCases } from "@tests/suites/task_store_follows.ts";
import { leaseCases } from "@tests/suites/task_store_leases.ts";
import { listCases } from "@tests/suites/task_store_lists.ts";
import { sweepCases } from "@tests/suites/task_store_sweeps.ts";

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

const cases: readonly StoreCase[] = [
  ...createCases,
  ...commitCases,
  ...listCases,
  ...followCases,
  ...leaseCases,
  ...sweepCases,
];

/** What every `TaskStore` must do: one test a case, named after the store. */
export function taskStoreSuite(name: string, open: (options: StoreOptions) => Promise<OpenStore>): void {
  for (const each of cases) {
    Deno.test(`${name} ${each.name}`, async () => {
      await using opened = await open(each.options ?? {});
      await each.run(opened);
    });
  }
}
