import type { Promised } from "./promised.ts";

/** What a caller's session may see and change of a workspace. */
export const isolationRequirements: readonly Promised[] = [
  ["§6 hidden", "State, other callers' folders, files of agents and what looks like a secret are hidden from a caller"],
  ["§6 hide", "What the owner names in Hide is hidden from all callers"],
  ["§6 own-folders", 'A caller writes below its own folders and, with access "read", nowhere else'],
  ["§6 write-access", 'A caller with access "write" may change the workspace, except what is hidden and control paths'],
  [
    "§6 control-paths",
    "What steers the owner's tools because it is there cannot be changed by a caller, existing or missing",
  ],
  ["§6 access-fresh", "What an entry gives counts for the next run, without a restart"],
  ["§6 writers-named", "Callers that may change a workspace are named at each start"],
  [
    "§6 file-tools",
    "Files are read, written, edited and listed by the map, within limits; a refusal names no path of the machine",
  ],
  ["§6 no-link-written", "No file is written through a link"],
  [
    "§6 search",
    "A search passes over what is hidden, large, no text, in .git or in node_modules, and gives at most 200 lines",
  ],
  [
    "§6 search-ends",
    "No pattern stops the process: each line's time is bounded, others have their turn, and a cancel ends it",
  ],
  ["§6 race", "4,000 reads and 4,000 writes against a loop that swaps links and folders leak and change nothing"],
  ["§6 card-links", "A PERSONA.md or SKILL.md that is a link never shows its target on a card"],
];
