import type { Promised } from "./promised.ts";

/** Files that callers send as URLs. */
export const downloadRequirements: readonly Promised[] = [
  [
    "§5.6 url-name",
    "A fetched file is called as its part says, else as the answer says, else as its URL ends, always cleaned",
  ],
  ["§5.6 url-type", "A fetched file is of the type its part says, else its answer, else its name"],
];
