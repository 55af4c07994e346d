/**
 * Resolves as `work` does, or with undefined as soon as `signal` is aborted; rejects as `work` does before that.
 *
 * It only ends the wait: `work` goes on, so it must belong to something that ends it. What it comes to later is dropped.
 */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const leave = () => resolve(undefined);
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}
