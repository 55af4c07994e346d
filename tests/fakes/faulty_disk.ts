import type { Disk, WritableFile } from "@/workspace/disk.ts";
import type { TestClock } from "@tests/fakes/test_clock.ts";

/** What a test can do to one kind of operation: the methods of `Disk`, and those of its writable files. */
export type DiskOperation = Exclude<keyof Disk, `${string}Sync`> | "write" | "flush" | "truncate";

/** A rule for the operations named. `path` is a part of the path. The newest rule that fits wins. */
export interface DiskRule {
  readonly on: DiskOperation;
  readonly path?: string;
  /** How many operations it takes; no limit when absent. */
  times?: number;
  /** Rejects with this code (`ENOSPC`, `EIO`); a `write` first writes half of its bytes. */
  readonly code?: string;
  /** Waits for this before it goes on. Such a wait does not hold up `TestClock.advance`. */
  readonly until?: Promise<void>;
}

/** A disk whose operations a test makes slow or failing, and whose work the test clock waits for. */
export interface FaultyDisk extends Disk {
  rule(rule: DiskRule): { end(): void };
  /** Bytes that were written to files so far. */
  readonly bytesWritten: number;
  /** Operations so far, as `operation path`. */
  readonly log: readonly string[];
}

export function createFaultyDisk(disk: Disk, clock?: TestClock): FaultyDisk {
  const rules: DiskRule[] = [];
  const log: string[] = [];
  let bytesWritten = 0;

  async function around<T>(on: DiskOperation, path: string, run: () => Promise<T>, half?: () => Promise<unknown>) {
    log.push(`${on} ${path}`);
    const rule = rules.findLast((rule) => rule.on === on && path.includes(rule.path ?? "") && rule.times !== 0);
    if (rule?.times !== undefined) rule.times--;
    await rule?.until;
    const busy = clock?.busy ?? (<T>(work: Promise<T>) => work);
    if (rule?.code === undefined) return await busy(run());
    await busy(half?.() ?? Promise.resolve());
    throw Object.assign(new Error(`${rule.code}: made by the test`), { code: rule.code });
  }

  const writable = (path: string, file: WritableFile): WritableFile => ({
    get stamp() {
      return file.stamp;
    },
    [Symbol.dispose]: () => file[Symbol.dispose](),
    write: (bytes) =>
      around("write", path, async () => {
        await file.write(bytes);
        bytesWritten += bytes.length;
      }, () => file.write(bytes.subarray(0, bytes.length >> 1))),
    flush: () => around("flush", path, () => file.flush()),
    truncate: (length) => around("truncate", path, () => file.truncate(length)),
  });

  return {
    rule(rule) {
      rules.push(rule);
      return { end: () => void rules.splice(rules.indexOf(rule), 1) };
    },
    get bytesWritten() {
      return bytesWritten;
    },
    log,
    stampSync: (path) => disk.stampSync(path),
    linkStampSync: (path) => disk.linkStampSync(path),
    openReadSync: (path) => disk.openReadSync(path),
    openRead: (path) =>
      around("openRead", path, async () => {
        const file = await disk.openRead(path);
        const busy = clock?.busy ?? (<T>(work: Promise<T>) => work);
        return {
          ...file,
          read: () => busy(file.read()),
          readAt: (position, length) => busy(file.readAt(position, length)),
        };
      }),
    openAppend: (path) => around("openAppend", path, async () => writable(path, await disk.openAppend(path))),
    createNew: (path) => around("createNew", path, async () => writable(path, await disk.createNew(path))),
    openWrite: (path) => around("openWrite", path, async () => writable(path, await disk.openWrite(path))),
    lock: (path, waitMs) => around("lock", path, () => disk.lock(path, waitMs)),
    rename: (from, to) => around("rename", to, () => disk.rename(from, to)),
    own: (path, owner, group) => around("own", path, () => disk.own(path, owner, group)),
    remove: (path) => around("remove", path, () => disk.remove(path)),
    makeFolder: (path) => around("makeFolder", path, () => disk.makeFolder(path)),
    list: (path) => around("list", path, () => disk.list(path)),
    syncFolder: (path) => around("syncFolder", path, () => disk.syncFolder(path)),
    realPath: (path) => around("realPath", path, () => disk.realPath(path)),
    freeBytes: (path) => around("freeBytes", path, () => disk.freeBytes(path)),
  };
}
