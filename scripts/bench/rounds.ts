/** What one piece of a round measured, by name. Names are unique in a round. */
export type Sample = Readonly<Record<string, number>>;

/** The samples of all rounds, and what is said of them. */
export interface Samples {
  /** The median of what was measured under a name. */
  median(name: string): number;
  /**
   * The median of the rounds' own ratios of one name to another. Both were measured within one round, so what slows the
   * machine for a while slows both.
   */
  ratio(name: string, other: string): number;
}

/**
 * Does all pieces of work once a round, one after the other, in an order that turns, so that noise and drift of the
 * machine meet all alike. A first round warms up and does not count, unless `warmUp` is false.
 */
export async function interleave(
  rounds: number,
  work: readonly (() => Promise<Sample>)[],
  { warmUp = true }: { readonly warmUp?: boolean } = {},
): Promise<Samples> {
  const found: Sample[] = [];
  for (let round = warmUp ? -1 : 0; round < rounds; round++) {
    const first = Math.max(0, round) % work.length;
    let sample: Sample = {};
    for (const piece of [...work.slice(first), ...work.slice(0, first)]) sample = { ...sample, ...await piece() };
    if (round >= 0) found.push(sample);
  }
  return {
    median: (name) => median(found.map((sample) => sample[name]!)),
    ratio: (name, other) => median(found.map((sample) => sample[name]! / sample[other]!)),
  };
}

/** The middle value; of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Milliseconds that `work` takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Does `work` for 0, 1, 2 … up to `count`, `inFlight` at a time. The second argument says which of them does it. */
export async function inFlight(
  count: number,
  inFlight: number,
  work: (number: number, lane: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async (_: unknown, number: number) => {
    while (next < count) await work(next++, number);
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}
