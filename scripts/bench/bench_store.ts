import { Counters } from "@/counters.ts";
import { systemRandom } from "@/random.ts";
import type { FileTaskStoreOptions } from "@/server/tasks/file_store_options.ts";
import { type FileTaskStore, openFileTaskStore } from "@/server/tasks/file_task_store.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";

/** The disk of all benches: one, as in a host. */
export const benchDisk = createDisk(systemClock);

/** Opens a store over a folder, with the machine's own parts unless told, and no limit of tasks or room. */
export function openBenchStore(folder: string, options: Partial<FileTaskStoreOptions> = {}): Promise<FileTaskStore> {
  return openFileTaskStore({
    folder,
    epoch: 1,
    disk: benchDisk,
    clock: systemClock,
    random: systemRandom,
    counters: new Counters(),
    durability: "disk",
    storedTasksMax: () => Infinity,
    freeBytesMin: 0,
    ...options,
  });
}
