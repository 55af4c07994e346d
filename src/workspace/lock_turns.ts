import type { Clock } from "@/time/clock.ts";

/** What a lock is taken on: an open file of the runtime. */
export interface LockableFile {
  /** Came with Deno 2.7. */
  tryLock?(exclusive: boolean): Promise<boolean>;
  lock(exclusive: boolean): Promise<void>;
  close(): void;
}

/** Waits for the turn of a path, then calls `take` with the time that is left; undefined when it ran out. */
export type LockQueue<L extends Disposable> = (
  path: string,
  waitMs: number,
  take: (leftMs: number) => Promise<L | undefined>,
) => Promise<L | undefined>;

/**
 * Makes a queue that lets one at a time of this process go for the lock of a path, in the order they came.
 *
 * Without it each that waits would ask the system by itself, and on an older runtime block one of the 32 threads of the
 * pool, until who holds the lock cannot get a thread to do its work. `waitMs` 0 does not queue: it asks once.
 */
export function createLockQueue<L extends Disposable & { holds(): boolean }>(clock: Clock): LockQueue<L> {
  const last = new Map<string, Promise<void>>();
  return async (path, waitMs, take) => {
    if (waitMs === 0) return await take(0);
    const end = clock.elapsed() + waitMs;
    const before = last.get(path);
    const released = Promise.withResolvers<void>();
    const mine = Promise.all([before, released.promise]).then(() => {
      if (last.get(path) === mine) last.delete(path);
    });
    last.set(path, mine);
    let lock: L | undefined;
    try {
      if (before && !await endsWithin(before, { ms: waitMs, clock })) return undefined;
      lock = await take(Math.max(1, end - clock.elapsed()));
    } finally {
      if (!lock) released.resolve();
    }
    if (!lock) return undefined;
    const taken = lock;
    return {
      ...taken,
      [Symbol.dispose]() {
        taken[Symbol.dispose]();
        released.resolve();
      },
    };
  };
}

/**
 * Locks an open file; false, with the file closed, when `waitMs` passed without it. Closes the file when it rejects.
 *
 * It asks again and again instead of waiting in the system: that would hold a thread of the pool, for ever if need be.
 */
export async function takeLock(
  file: LockableFile,
  { waitMs, clock }: { readonly waitMs: number; readonly clock: Clock },
): Promise<boolean> {
  const end = clock.elapsed() + waitMs;
  try {
    if (!file.tryLock) return await waitForLock(file, { waitMs, clock });
    for (let pauseMs = 1;; pauseMs = Math.min(pauseMs * 2, pauseMsMax)) {
      if (await file.tryLock(true)) return true;
      const leftMs = end - clock.elapsed();
      if (leftMs <= 0) return file.close(), false;
      await clock.sleep(Math.min(pauseMs, leftMs));
    }
  } catch (error) {
    file.close();
    throw error;
  }
}

const pauseMsMax = 16;
const blindWaitMsMin = 250;

/** Before Deno 2.7 a short wait for `lock` stands for "taken" (compile.md). */
async function waitForLock(
  file: LockableFile,
  { waitMs, clock }: { readonly waitMs: number; readonly clock: Clock },
): Promise<boolean> {
  let late = false;
  // A lock that comes after the wait is over must not stay: closing the file gives it up.
  const lock = file.lock(true).then(() => {
    if (late) file.close();
  });
  late = !await endsWithin(lock, { ms: Math.max(waitMs, blindWaitMsMin), clock });
  if (late) lock.catch(() => file.close());
  return !late;
}

/** Says whether `work` came to its end within `ms`. */
async function endsWithin(
  work: Promise<void>,
  { ms, clock }: { readonly ms: number; readonly clock: Clock },
): Promise<boolean> {
  using deadline = clock.deadline(ms);
  const tooLate = new Promise<boolean>((resolve) => {
    deadline.signal.addEventListener("abort", () => resolve(false), { once: true });
  });
  return await Promise.race([work.then(() => true), tooLate]);
}
