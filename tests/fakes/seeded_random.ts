import type { Random } from "@/random.ts";

/** Chance that a seed repeats: the same seed gives the same choices in the same order. */
export interface SeededRandom extends Random {
  /** A whole number from 0 (included) to `count` (excluded). */
  below(count: number): number;
  /** True with a chance of `share`, from 0 to 1. */
  chance(share: number): boolean;
  pick<T>(choices: readonly T[]): T;
  /** One of the choices, each as often as its weight says. */
  weighted<T>(choices: readonly (readonly [weight: number, choice: T])[]): T;
}

/** Makes chance from a whole number (the generator is mulberry32). */
export function createSeededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  function fraction(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const below = (count: number) => Math.floor(fraction() * count);
  const hex = (count: number) => Array.from({ length: count }, () => below(256).toString(16).padStart(2, "0")).join("");
  return {
    fraction,
    below,
    hex,
    uuid: () => `${hex(4)}-${hex(2)}-4${hex(2).slice(1)}-8${hex(2).slice(1)}-${hex(6)}`,
    chance: (share) => fraction() < share,
    pick: (choices) => choices[below(choices.length)]!,
    weighted(choices) {
      let left = fraction() * choices.reduce((sum, [weight]) => sum + weight, 0);
      return choices.find(([weight]) => (left -= weight) < 0)![1];
    },
  };
}
