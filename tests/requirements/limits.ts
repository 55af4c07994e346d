import type { Promised } from "./promised.ts";

/** The limits of callers: requests a minute, turns, bodies in memory, and what an entry of callers.json says instead. */
export const limitRequirements: readonly Promised[] = [
  ["§7 request-rates", "A caller has so many requests a minute that start runs and so many others, over both bindings"],
  ["§7 bounded-counts", "What is counted by caller or context is bounded, whoever calls and however often"],
];
