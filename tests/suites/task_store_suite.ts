import type { OpenStore, StoreCase, StoreOptions } from "@tests/suites/store_case.ts";
import { commitCases } from "@tests/suites/task_store_commits.ts";
import { createCases } from "@tests/suites/task_store_creates.ts";
import { followCases } from "@tests/suites/task_store_follows.ts";
import { leaseCases } from "@tests/suites/task_store_leases.ts";
import { listCases } from "@tests/suites/task_store_lists.ts";
import { sweepCases } from "@tests/suites/task_store_sweeps.ts";

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
