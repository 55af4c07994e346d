import type { Promised } from "./promised.ts";

/** The host: its start and end, its threads, who loses access, what the owner sees. */
export const hostRequirements: readonly Promised[] = [
  ["§3 serve-start", "serve says what it serves, and in a folder without callers what to do next"],
  ["§3 serve-engine", "serve needs an engine that is in this build, and exactly one"],
  [
    "§3 workspace-names",
    "Workspaces are named by who starts the host, else by their folders, no two alike and none in another",
  ],
  ["§3 seed-curl", "The curl examples of seed 000, pasted, give what that document says"],
  ["§4 scoped-worker", "The host's thread may read and write its workspaces, and nothing else"],
  [
    "§4 typed-requests",
    "What the host may not do is asked of the main thread, and refused with one sentence while it is not built",
  ],
  ["§5.1 readyz", "readyz says what of lock, store and index is not as it must be"],
  [
    "§5.2 expelled",
    "A caller removed from a well-formed file is expelled within 2 s or at its next request, and by nothing else",
  ],
  ["§5.2 expelled-in-flight", "A caller that is removed while its request comes in begins nothing"],
  ["§5.2 expired-while-running", "The streams of a caller whose time is over end with an error; its runs go on"],
  ["§7 audit", "A line per send, cancel, refusal and end of run, without content and keys"],
  ["DM8 lines", "A line of the audit has its fields"],
  ["DM8 strangers-counted", "Requests without a valid key get ten lines a minute and peer, then one with a count"],
  ["§11 live-lines", "Inbound work is shown live: message, tools, end with its duration"],
  ["§11 live-lines-scrubbed", "A live line holds no control character"],
  ["SM7 reads-served", "A draining host serves reads"],
  ["SM7 streams-end", "Draining ends streams with a last comment, and not their work"],
  ["SM7 port-first", "A port that is in use is refused before anything was begun"],
  ["SM7 host-died", "A host whose thread breaks, ends or gets stuck ends the process with 70"],
  ["SM7 second-signal", "A second signal ends at once with 130"],
  ["SM7 stuck-host", "A host that does not end in time is ended with 70"],
];
