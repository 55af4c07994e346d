/**
 * Waits for `work`, but not forever: where the clock of a test stands still, no limit of the code under test is ever over by
 * itself, and what waits for one that it does not have must fail too.
 */
export async function withPatience<T>(work: Promise<T>, patienceMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`Still not over after ${patienceMs} ms`)), patienceMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
