import type { Counters } from "@/counters.ts";
import type { CallerName } from "@/protocol/ids.ts";
import type { Random } from "@/random.ts";
import type { Clock } from "@/time/clock.ts";
import type { Disk, FolderEntry } from "@/workspace/disk.ts";
import type { BlobFiles } from "./blob_files.ts";
import type { RecordFiles } from "./record_files.ts";
import type { Recovered } from "./recovery.ts";

/** Where a file store lives and what bounds it. */
export interface FileTaskStoreOptions {
  /** `<workspace>/.volcanic/a2a/tasks`. The caller holds `host.lock`: one store a folder. */
  readonly folder: string;
  /** Of `host.json`, higher than ever before: fences grow over restarts. */
  readonly epoch: number;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  readonly counters: Counters;
  readonly durability: "disk" | "process";
  readonly storedTasksMax: (caller: CallerName) => number;
  /** With less room than this no new task is taken. */
  readonly freeBytesMin: number;
  /** See `JournalOptions`. */
  readonly journalBytesMax?: number;
  readonly backlogBytesMax?: number;
}

/** A folder whose journals were replayed: what the store begins with. */
export interface OpenedFolder {
  readonly files: RecordFiles;
  readonly blobs: BlobFiles;
  readonly entries: readonly FolderEntry[];
  readonly recovered: Recovered;
  readonly lastNumber: number;
}
