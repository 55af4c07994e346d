import type { Clock } from "@/time/clock.ts";

const retryMsMin = 100;
const retryMsMax = 30_000;

/** How long a write is tried again, and who hears of it. */
export interface RetryOptions {
  readonly clock: Clock;
  /** Ends the tries: then the last error is the one that counts. */
  readonly signal: AbortSignal;
  /** Told before each wait. Must not throw. */
  readonly onRetry: (error: unknown, retryMs: number) => void;
}

/**
 * Does `write` until it goes well, again after 0.1, 0.2 ... 30 s while the disk is full or refuses (state-machines.md 0.8).
 *
 * Rejects with the first error that is not the disk's, and with the disk's last one once `signal` has aborted.
 */
export async function retryDisk(write: () => Promise<void>, options: RetryOptions): Promise<void> {
  const { clock, signal, onRetry } = options;
  for (let failures = 0;; failures++) {
    try {
      return await write();
    } catch (error) {
      if (signal.aborted || !isOfSystem(error)) throw error;
      const retryMs = Math.min(retryMsMax, retryMsMin * 2 ** failures);
      onRetry(error, retryMs);
      await clock.sleep(retryMs, signal).catch(() => {});
      if (signal.aborted) throw error;
    }
  }
}

/** Says whether the system refused (`ENOSPC`, `EIO`): what we refuse ourselves has no code, or one of the runtime. */
function isOfSystem(error: unknown): boolean {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === "string" && !code.startsWith("ERR_");
}
