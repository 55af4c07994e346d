import type { Promised } from "./promised.ts";

/** What a caller's session may see and change of a workspace. */
export const isolationRequirements: readonly Promised[] = [
  ["§6 hidden", "State, other callers' folders, files of agents and what looks like a secret are hidden from a caller"],
  ["§6 hide", "What the owner names in Hide is hidden from all callers"],
  ["§6 write-access", 'A caller with access "write" may change the workspace, except what is hidden and control paths'],
  [
    "§6 control-paths",
    "What tools of the owner obey because it is there cannot be changed by a caller, existing or missing",
  ],
];
