import type { Promised } from "./promised.ts";

/** Where callers' programs run. */
export const boxRequirements: readonly Promised[] = [
  [
    "§6 box-arguments",
    "The mounts of a box are built from the caller's map alone, in an order in which the later hides the earlier",
  ],
  ["§6 box-masks", "What is hidden by its shape, control paths and special files are found, or the box is refused"],
  ["§6 box-probe", "The box is tried with a canary at start; when it does not hold callers get no programs"],
  ["§6 box-requests", "Only a served workspace and a caller with an entry have a box; nothing in a request widens it"],
  ["§6 box-limits", "Time, output, memory, processes and files of a program are limited"],
  ["§6 box-tree", "The end of a program, its kill and the end of the host end all that it started"],
  ["§6 box-attacks", "From inside of a box no secret, no other caller's work and no control path is reached"],
  ["§6 box-streams", "A program's streams are handed to the host's thread, and what is not read does not grow"],
  ["§6 box-report", "Each start says whether callers may run programs, and why not"],
  ["§6 unsandboxed", "Bash=unsandboxed runs programs without a box, with a warning at each start"],
  ["§7 disk-quota", "A caller's files are measured before a program starts and while it runs"],
  ["§8 exec", "The engine exec gives the framed prompt to a command and streams its output as the reply"],
  ["§8 exec-words", "The command of exec is split into words without a shell"],
];
