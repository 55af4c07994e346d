import { dirname } from "node:path";
import type { Disk, FileLock } from "./disk.ts";
import { ownLikeFolder } from "./owned_folder.ts";

/** Another process kept the lock for all of the wait. Nothing was done. */
export interface LockBusy {
  readonly kind: "busy";
}

/** Which lock, and how long to wait for it. */
export interface LockOptions {
  readonly disk: Disk;
  /** The lock file: empty, made when missing, never deleted, never the data itself. */
  readonly path: string;
  /** How long to wait for who has it; 10 s when absent. Changes under a lock take milliseconds. */
  readonly waitMs?: number;
}

/**
 * Does `work` while no other process (and nobody else in this one) does work under the same lock: the way to change a
 * file that several processes write (data-model.md 0). The lock is given up when `work` ends, however it ends.
 *
 * Rejects with what `work` rejects with, or with the disk's error when the lock file cannot be opened.
 */
export async function withLock<T>(options: LockOptions, work: () => Promise<T>): Promise<T | LockBusy> {
  using lock = await takeLock(options.disk, options.path, options.waitMs ?? waitMsDefault);
  return lock ? await work() : { kind: "busy" };
}

/**
 * Takes `host.lock` (or `watch.lock`) for the life of the process; undefined when another process has it. The system
 * gives it up when the process dies, so a crash cannot leave it held. Who has it is in `host.json`: `readHost`.
 */
export async function holdHostLock(disk: Disk, path: string): Promise<FileLock | undefined> {
  return await takeLock(disk, path, 0);
}

const waitMsDefault = 10_000;
const triesMax = 20;

/** A lock on a file that was replaced meanwhile bars nobody: then it is taken again, on the file that is there now. */
async function takeLock(disk: Disk, path: string, waitMs: number): Promise<FileLock | undefined> {
  const isNew = disk.linkStampSync(path) === undefined;
  for (let tries = 0; tries < triesMax; tries++) {
    const lock = await disk.lock(path, waitMs);
    if (!lock) return undefined;
    if (lock.holds()) {
      if (isNew) await ownLikeFolder(disk, path, { folder: dirname(path) });
      return lock;
    }
    lock[Symbol.dispose]();
  }
  throw new Error(`Cannot lock ${path}: the file is replaced again and again; lock files must stay where they are`);
}
