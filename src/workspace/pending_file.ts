import { dirname } from "node:path";
import { getLogger } from "@logtape/logtape";
import type { Random } from "@/random.ts";
import { type Clock, isoTime } from "@/time/clock.ts";
import { writeAtomically } from "./atomic_write.ts";
import { CachedFile, type FileContent, type Parsed } from "./cached_file.ts";
import type { Disk } from "./disk.ts";
import { readContent } from "./entry_editor.ts";
import { type LockBusy, withLock } from "./file_lock.ts";
import * as entries from "./json_entries.ts";
import { makeOwnedFolder } from "./owned_folder.ts";
import { type PendingRecord, readPendingRecord, storedRecord } from "./pending_records.ts";

const logger = getLogger(["a2a", "workspace"]);

/** What `pending.json` says now. */
export interface PendingRead extends Parsed {
  readonly records: readonly PendingRecord[];
  readonly malformed: boolean;
}

/** `full`: 1,000 records, or 64 MiB, and the change would add to them; nothing was changed. */
export type PendingUpdate = { readonly kind: "updated" } | { readonly kind: "full" } | LockBusy;

/** Where `pending.json` and its lock are. */
export interface PendingFileOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  /** `pending.json`. */
  readonly path: string;
  /** `pending.lock`. */
  readonly lock: string;
}

/** The most watches one workspace holds (data-model.md 4). */
export const pendingRecordsMax = 1000;

/**
 * `pending.json`: every process may change it, under `pending.lock`, and no two lose each other's changes (data-model.md 4).
 *
 * A malformed file is moved to `pending.json.bad-<time>` by whoever changes it next, with an error in the log, and counts
 * as empty. A bad entry of a good file is kept as it is and not shown.
 */
export class PendingFile {
  readonly #options: PendingFileOptions;
  readonly #file: CachedFile<PendingRead>;

  constructor(options: PendingFileOptions) {
    const { disk, clock, path } = options;
    this.#options = options;
    this.#file = new CachedFile({ disk, clock, path, bytesMax, parse: (content) => parsePending(content, path) });
  }

  /** The records as they are on disk now; the same object as long as they are the same. Never throws. */
  read(): PendingRead {
    return this.#file.read();
  }

  /**
   * Changes, adds or (with undefined) removes the record of one watch. `change` gets the record as it is on disk and the
   * others, and must be pure. Resolves when the change is durable. Rejects with the disk's error, and with a RangeError
   * for a record that could not be read again.
   */
  async update(
    watchId: string,
    change: (
      record: PendingRecord | undefined,
      others: readonly PendingRecord[],
    ) => PendingRecord | undefined,
  ): Promise<PendingUpdate> {
    return await this.edit((records) => {
      const others = records.filter((record) => record.watchId !== watchId);
      const before = records.find((record) => record.watchId === watchId);
      const after = change(before, others);
      if (after === before) return records;
      if (after && before) return records.map((record) => record === before ? after : record);
      return after ? [...records, after] : others;
    });
  }

  /** Changes all records in one step: the general form of `update`. The same array means that nothing is to change. */
  async edit(change: (records: readonly PendingRecord[]) => readonly PendingRecord[]): Promise<PendingUpdate> {
    const { disk, path, lock, random } = this.#options;
    await makeOwnedFolder(disk, dirname(lock));
    return await withLock({ disk, path: lock }, async () => {
      const { stored, unread } = await this.#readUnderLock();
      const before = stored.map(({ record }) => record);
      const after = change(before);
      if (after === before) return { kind: "updated" as const };
      const raw = new Map(stored.map(({ record, json }) => [record, json]));
      const next = [...unread, ...after.map((record) => raw.get(record) ?? checked(record))];
      const bytes = new TextEncoder().encode(`${JSON.stringify(next, null, 2)}\n`);
      const grows = after.length > before.length;
      if (bytes.length > bytesMax || (grows && next.length > pendingRecordsMax)) return { kind: "full" as const };
      await writeAtomically(disk, path, { bytes, random });
      return { kind: "updated" as const };
    });
  }

  /** Moves a malformed file out of the way now, as a change would. For who has just got `watch.lock`. */
  async repair(): Promise<void> {
    await this.edit((records) => records);
  }

  /** The records with what stands in the file for each, and the entries that are none. */
  async #readUnderLock() {
    const { disk, clock, path } = this.#options;
    const read = entries.readEntries(await readContent(disk, path, bytesMax), Infinity);
    if (read.kind === "malformed") {
      const aside = `${path}.bad-${isoTime(clock.now()).replaceAll(":", "-")}`;
      await disk.rename(path, aside);
      logger.error("Cannot read {file}: {why}; moved it to {aside} and started with no watches", {
        file: path,
        why: read.why,
        aside,
      });
    }
    return separate(read.kind === "entries" ? read.entries : []);
  }
}

/** Parses the content of `pending.json` at `path`, which is only named in problems. Never throws. */
export function parsePending(content: FileContent, path: string): PendingRead {
  const read = entries.readEntries(content, Infinity);
  if (read.kind === "none") return { records: [], malformed: false, problems: [] };
  if (read.kind === "malformed") {
    return { records: [], malformed: true, problems: [`Cannot read ${path}: ${read.why}`] };
  }
  const { stored, skipped } = separate(read.entries);
  return {
    records: stored.map(({ record }) => record),
    malformed: false,
    problems: skipped.map((entry) => entries.describeSkipped(path, entry)),
  };
}

const bytesMax = 64 * 1024 * 1024;

function separate(list: readonly unknown[]) {
  const stored: { readonly record: PendingRecord; readonly json: unknown }[] = [];
  const unread: unknown[] = [];
  const skipped: entries.SkippedEntry[] = [];
  const ids = new Set<string>();
  for (const [index, json] of list.entries()) {
    const record = readPendingRecord(json);
    const why = "why" in record ? record.why : ids.has(record.watchId) ? "an earlier entry has its watchId" : undefined;
    if (why === undefined) {
      ids.add((record as PendingRecord).watchId);
      stored.push({ record: record as PendingRecord, json });
    } else {
      unread.push(json);
      skipped.push({ number: index + 1, why });
    }
  }
  return { stored, unread, skipped };
}

/** What is to be stored, after a look whether the next reader will understand it. */
function checked(record: PendingRecord): PendingRecord {
  const stored = storedRecord(record);
  const read = readPendingRecord(stored);
  if ("why" in read) throw new RangeError(`Cannot store a watch: ${read.why}`);
  return stored;
}
