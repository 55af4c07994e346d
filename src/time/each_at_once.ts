/**
 * Does `work` for each item, at most `atOnce` at a time, in the order of the items.
 *
 * Resolves when all are done. After a failure no further item is begun; it rejects with the first failure once those that
 * run are done, so nothing goes on unowned.
 */
export async function eachAtOnce<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  let failure: { readonly reason: unknown } | undefined;
  const workThrough = async () => {
    for (let next = left.next(); !next.done && failure === undefined; next = left.next()) {
      try {
        await work(next.value);
      } catch (reason) {
        failure ??= { reason };
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, workThrough));
  if (failure !== undefined) throw failure.reason;
}
