import type { Random } from "@/random.ts";

/** Chance that comes out the same on every run: counts up. */
export function createTestRandom(): Random {
  let count = 0;
  const next = () => (++count).toString(16);
  return {
    uuid: () => `00000000-0000-4000-8000-${next().padStart(12, "0")}`,
    hex: (bytes) => next().padStart(bytes * 2, "0").slice(-bytes * 2),
    fraction: () => 0.5,
  };
}
