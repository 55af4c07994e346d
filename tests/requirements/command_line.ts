import type { Promised } from "./promised.ts";

/** The command line and the executable. */
export const commandLineRequirements: readonly Promised[] = [
  ["§1 one-executable", "One executable does everything, and needs nothing else installed"],
  ["§3 exit-codes", "The exit codes are 0, 1, 2, 3, 4, 5 and 70, each for one kind of end"],
  [
    "§3 serve-first-run",
    "In a folder without callers `serve` prints the command that makes a key, and a `curl` to try",
  ],
  ["§4 no-prompt", "No permission prompt of Deno's may ever appear"],
  ["§4 no-code-cache", "The executable reads no code from a folder that others may write to"],
  ["§3 callers-add", "`callers add` prints the key once, and stores keyHash and keyHint"],
  ["§3 callers-rotate", "`callers rotate` gives a new key; the old one ends at once or after the overlap"],
  ["§3 callers-remove", "`callers remove` removes every entry of the name and keeps the others as they are"],
  ["§3 callers-list", "`callers list` shows hint, access, expiry and note, never a key"],
  [
    "§3 callers-secret",
    "`callers secret` prints what a caller's pushes are signed with, alone; `callers list` names it",
  ],
  ["§3 callers-refusals", "What `callers` cannot do is one line, exit code 2, and changes nothing"],
  ["§3 curl-line", "Beside a key there is a command to try it with, as in seed 000"],
  ["§3 callers-beside-host", "`callers` edits beside a running host, and edits at once all hold"],
];
