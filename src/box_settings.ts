import { bytes, choice, commandWords, duration, optional, setting, wholeNumber } from "./setting_kinds.ts";

/** The rows of the settings table about callers' programs: where they run and how much they may use. */
export const boxSettings = {
  bash: setting("Bash", choice("boxed", "unsandboxed"), {
    default: "boxed",
    doc:
      "Where callers' programs run: `boxed` in a sandbox or not at all, `unsandboxed` with all the rights of this process",
  }),
  execCommand: optional("ExecCommand", commandWords(), {
    doc: "The command that answers as the engine `exec`: the prompt comes on its standard input. No shell reads it",
  }),
  boxMemoryBytes: setting("BoxMemory", bytes("0 is none"), {
    default: "2GiB",
    doc: "What one process of a caller may allocate. 0 means no limit",
  }),
  boxProcesses: setting("BoxProcesses", wholeNumber("0 is none"), {
    default: "256",
    doc: "Processes and threads at once in one box. The kernel does not apply it to root. 0 means no limit",
  }),
  boxMs: setting("BoxTimeout", duration("0 is none"), {
    default: "1h",
    doc: "How long one program of a caller may run; then it is killed. 0 means no limit",
  }),
  boxOutputBytes: setting("BoxOutput", bytes("0 is none"), {
    default: "64MiB",
    doc: "What one program of a caller may put out; then it is killed. 0 means no limit",
  }),
  boxScratchBytes: setting("BoxScratch", bytes("0 is none"), {
    default: "256MiB",
    doc: "What fits into each of `/tmp`, `/dev/shm` and the home folder of a box, which are memory. 0 means no limit",
  }),
  callerDiskBytes: setting("DiskPerCaller", bytes("0 is none"), {
    default: "1GiB",
    doc:
      "What one caller's files may take: no program starts above it, and those that run are killed. 0 means no limit",
  }),
} as const;
