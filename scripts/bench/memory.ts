/** What the heap holds and the process takes, in bytes, after a full garbage collection. */
export function memory(): { readonly heap: number; readonly rss: number } {
  const collect = (globalThis as { gc?: () => void }).gc;
  if (collect === undefined) throw new Error("Cannot measure memory: run with --v8-flags=--expose-gc");
  for (let turn = 0; turn < 3; turn++) collect();
  const { heapUsed, rss } = Deno.memoryUsage();
  return { heap: heapUsed, rss };
}

/** Gives the most that the process takes, in bytes, while `work` goes on. */
export async function largestResident(work: () => Promise<void>): Promise<number> {
  let largest = 0;
  const look = () => void (largest = Math.max(largest, Deno.memoryUsage().rss));
  const timer = setInterval(look, lookMs);
  try {
    await work();
    look();
    return largest;
  } finally {
    clearInterval(timer);
  }
}

const lookMs = 10;
