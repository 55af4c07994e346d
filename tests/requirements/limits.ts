import type { Promised } from "./promised.ts";

/** The limits of callers: requests a minute, turns, bodies in memory, and what an entry of callers.json says instead. */
export const limitRequirements: readonly Promised[] = [
  ["§7 request-rates", "A caller has so many requests a minute that start runs and so many others, over both bindings"],
  [
    "§7 rate-refusals",
    "A request over a rate is 429 before anything is stored, naming the limit and when to come back",
  ],
  ["§7 rates-before-body", "A caller over both of its rates together is refused with its body unread"],
  ["§7 rates-recover", "A rate does not count what it refuses, so whoever keeps asking is let in again"],
  ["§7 rates-audited", "Refusals for a rate are audited, ten lines a minute and caller, then one with a count"],
  [
    "§7 own-limits",
    "A limit in a caller's entry counts instead of the setting at the next call after an edit; 0 is none",
  ],
  ["§7 own-limits-kept", "While callers.json is missing or broken a caller's own limits stay as they were"],
  ["§7 own-runs", "A caller's own limit of runs holds beside the workspace's, and its waiting runs shut nobody out"],
  ["§7 turns-a-context", "One context takes so many turns an hour; a message for one more is 429, and leaves no trace"],
  [
    "§7 delegated-turns",
    "One context takes so many turns in a row over other agents; one over none, or an hour of silence, begins anew",
  ],
  ["§7 bounded-counts", "What is counted by caller or context is bounded, whoever calls and however often"],
  ["§7 bodies-of-a-caller", "One caller's bodies take at most half of the room for bodies, so others are served"],
];
