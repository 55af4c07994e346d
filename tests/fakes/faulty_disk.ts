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
  const faults = new Faults(clock);
  return {
    rule: (rule) => faults.rule(rule),
    get bytesWritten() {
      return faults.bytesWritten;
    },
    log: faults.log,
    stampSync: (path) => disk.stampSync(path),
    linkStampSync: (path) => disk.linkStampSync(path),
    openReadSync: (path) => disk.openReadSync(path),
    openRead: (path) =>
      faults.around("openRead", path, async () => {
        const file = await disk.openRead(path);
        return {
          ...file,
          read: () => faults.busy(file.read()),
          readAt: (position, length) => faults.busy(file.readAt(position, length)),
        };
      }),
    openAppend: (path) =>
      faults.around("openAppend", path, async () => faults.writable(path, await disk.openAppend(path))),
    createNew: (path) =>
      faults.around("createNew", path, async () => faults.writable(path, await disk.createNew(path))),
    openWrite: (path) =>
      faults.around("openWrite", path, async () => faults.writable(path, await disk.openWrite(path))),
    lock: (path, waitMs) => faults.around("lock", path, () => disk.lock(path, waitMs)),
    rename: (from, to) => faults.around("rename", to, () => disk.rename(from, to)),
    own: (path, owner, group) => faults.around("own", path, () => disk.own(path, owner, group)),
    remove: (path) => faults.around("remove", path, () => disk.remove(path)),
    makeFolder: (path) => faults.around("makeFolder", path, () => disk.makeFolder(path)),
    list: (path) => faults.around("list", path, () => disk.list(path)),
    syncFolder: (path) => faults.around("syncFolder", path, () => disk.syncFolder(path)),
    realPath: (path) => faults.around("realPath", path, () => disk.realPath(path)),
    freeBytes: (path) => faults.around("freeBytes", path, () => disk.freeBytes(path)),
  };
}

/** The rules of a test, and what they are applied to. */
class Faults {
  readonly #clock: TestClock | undefined;
  readonly #rules: DiskRule[] = [];
  readonly log: string[] = [];
  bytesWritten = 0;

  constructor(clock: TestClock | undefined) {
    this.#clock = clock;
  }

  rule(rule: DiskRule): { end(): void } {
    this.#rules.push(rule);
    return { end: () => void this.#rules.splice(this.#rules.indexOf(rule), 1) };
  }

  busy<T>(work: Promise<T>): Promise<T> {
    return this.#clock?.busy(work) ?? work;
  }

  async around<T>(on: DiskOperation, path: string, run: () => Promise<T>, half?: () => Promise<unknown>): Promise<T> {
    this.log.push(`${on} ${path}`);
    const rule = this.#rules.findLast((rule) => rule.on === on && path.includes(rule.path ?? "") && rule.times !== 0);
    if (rule?.times !== undefined) rule.times--;
    await rule?.until;
    if (rule?.code === undefined) return await this.busy(run());
    await this.busy(half?.() ?? Promise.resolve());
    throw Object.assign(new Error(`${rule.code}: made by the test`), { code: rule.code });
  }

  writable(path: string, file: WritableFile): WritableFile {
    const write = async (bytes: Uint8Array) => {
      await file.write(bytes);
      this.bytesWritten += bytes.length;
    };
    return {
      get stamp() {
        return file.stamp;
      },
      [Symbol.dispose]: () => file[Symbol.dispose](),
      write: (bytes) =>
        this.around("write", path, () => write(bytes), () => file.write(bytes.subarray(0, bytes.length >> 1))),
      flush: () => this.around("flush", path, () => file.flush()),
      truncate: (length) => this.around("truncate", path, () => file.truncate(length)),
    };
  }
}
