import type { Promised } from "./promised.ts";

/** Files that callers send as URLs. */
export const downloadRequirements: readonly Promised[] = [
  ["§5.6 url-fetched", "A file by URL is in the inbox before the turn, and the engine is told where"],
  ["§5.6 url-as-sent", "The history keeps a file by URL as its caller sent it"],
  ["§5.6 url-guarded", "A file is fetched through the guarded door, on the account of its caller"],
  [
    "§5.6 url-name",
    "A fetched file is called as its part says, else as the answer says, else as its URL ends, always cleaned",
  ],
  ["§5.6 url-type", "A fetched file is of the type its part says, else its answer, else its name"],
  [
    "§5.6 url-failed",
    "A file that cannot be fetched fails the task, naming the file and a class of reasons, never where it leads",
  ],
  ["§5.6 url-limits", "Fetched files are at most MaxFileBytes each, and 256 MiB and 10 minutes a message"],
  ["§5.6 url-room", "Without room for a file its task fails, and says so"],
  ["§5.6 url-abort", "Cancel, deadline, drain and removal end a download at once"],
  ["§5.6 url-whole", "A message has all of its files or none, and no part of a file is left"],
  ["DM11 no-link", "What callers send is never written or removed through a link in the place of its folder"],
  ["SM3 opening-downloads", "Files are fetched when the run has its slot, before its turn; a failed one fails the run"],
  ["case 25", "An address is judged when it is connected to, whatever its form or its name says"],
];
