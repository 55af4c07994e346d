import type { Promised } from "./promised.ts";

/** What is only shown by the program as it is started, and by clients that are not ours. */
export const startedProgramRequirements: readonly Promised[] = [
  [
    "§5.1 sdk-client",
    "The SDK's client of 1.0 as it is published works from our card, with every method, on both bindings",
  ],
  ["§5.1 sdk-errors", "The SDK's client of 1.0 makes its own error classes of our errors, on both bindings"],
  ["§5.1 half-open", "Connections that send half a request, or nothing, keep nobody else from being served"],
  [
    "§5.5 killed-program",
    "What the program answered over HTTP is there after it was killed: nothing runs twice, nothing is stuck",
  ],
  [
    "§13 rebinding",
    "The program as it is started connects to nothing inside when a webhook's or a file's name first leads outside",
  ],
];
