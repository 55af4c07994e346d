/**
 * Starts programs for one session. Where they run, what they may touch and how much they may use is settled by who lends this:
 * for an isolated session they run in the box, with a clean environment, or not at all (product.md §6).
 */
export interface SessionPrograms {
  /**
   * Starts a program. A refusal says why in a sentence for the model or the caller: no box, a limit, the host ends. Rejects
   * only for bugs. `signal` ends the program, its whole tree included.
   */
  start(request: ProgramRequest, signal: AbortSignal): Promise<Program | ProgramRefused>;
}

/** What is to be started. */
export interface ProgramRequest {
  /** `bash`: a command of the model's, read by a shell in the box. `engine`: the owner's own command (`exec`, `acp`). */
  readonly kind: "bash" | "engine";
  /** The program and its arguments: no shell reads them. */
  readonly command: readonly string[];
  /** The program is killed after so long; `Infinity` for the session's own limit. */
  readonly timeoutMs: number;
  /** A folder that stays from turn to turn, seen as `/session`; absent: none. */
  readonly keepsFolder?: boolean;
}

/** A program at work. Disposing kills its whole tree and waits until it is gone. */
export interface Program extends AsyncDisposable {
  readonly kind: "program";
  readonly stdin: WritableStream<Uint8Array>;
  readonly stdout: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly stderr: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Resolves once the program and all that it started are gone. Never rejects. */
  readonly ended: Promise<ProgramEnd>;
  /** Kills the whole tree, without waiting. */
  kill(): void;
}

/** How a program ended. */
export interface ProgramEnd {
  /** Of the program itself; 128 and more when a signal ended it. */
  readonly code: number;
  /** What ended it from outside, when something did: `disk` and `output` are the caller's limits of both. */
  readonly because?: "time" | "memory" | "disk" | "output" | "killed" | "host ends";
}

/** Nothing was started. */
export interface ProgramRefused {
  readonly kind: "refused";
  /** A sentence without a path of the machine, for the model or the caller. */
  readonly why: string;
}
