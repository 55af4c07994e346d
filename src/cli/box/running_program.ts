import type { ProgramEnd } from "@/engine/programs.ts";
import type { Clock } from "@/time/clock.ts";
import { readyLine, type StartedCommand } from "./box_arguments.ts";

/** What a child is started with, and what ends it. */
export interface RunningProgramOptions extends StartedCommand {
  readonly clock: Clock;
  /** The whole of its environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where it starts; a box chooses by itself. */
  readonly folder?: string;
  /** Its group is killed with it: where there is no box whose end ends all. */
  readonly killsGroup?: boolean;
  readonly timeoutMs: number;
  /** What it may put out in all. */
  readonly outputBytesMax: number;
  /** Says whether the caller's disk is full; asked every `diskCheckMs`. */
  readonly isDiskFull: () => Promise<boolean>;
}

/** How often the disk of a running program's caller is measured. */
const diskCheckMs = 2_000;

/**
 * One child at work, with its limits (product.md §6). Its streams may be handed to another thread.
 *
 * What is not read is not taken from the child: it waits, and nothing grows.
 */
export class RunningProgram implements AsyncDisposable {
  readonly stdin: WritableStream<Uint8Array>;
  readonly stdout: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly stderr: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Resolves when it is gone. Never rejects. */
  readonly ended: Promise<ProgramEnd>;
  readonly #child: Deno.ChildProcess;
  readonly #options: RunningProgramOptions;
  readonly #over = new AbortController();
  #because: ProgramEnd["because"];
  #outputBytes = 0;

  private constructor(options: RunningProgramOptions, child: Deno.ChildProcess, said: Uint8Array<ArrayBuffer>) {
    this.#options = options;
    this.#child = child;
    this.stdin = this.#child.stdin;
    this.stdout = this.#child.stdout.pipeThrough(this.#counted());
    this.stderr = this.#child.stderr.pipeThrough(this.#counted(said));
    this.ended = this.#child.status.then(({ code }) => {
      this.#over.abort();
      this.#killGroup();
      return this.#because === undefined ? { code } : { code, because: this.#because };
    });
    void this.#endInTime();
    void this.#watchDisk();
  }

  /**
   * Starts it. A box that could not be made is what its maker said. Rejects with the runtime's error when there is no such program.
   */
  static async start(
    options: RunningProgramOptions,
  ): Promise<RunningProgram | { readonly kind: "failed"; readonly said: string }> {
    const { program, args, environment, folder, killsGroup = false, saysReady = false } = options;
    const child = new Deno.Command(program, {
      args: [...args],
      ...{ env: { ...environment }, clearEnv: true, cwd: folder ?? "/", detached: killsGroup },
      ...{ stdin: "piped", stdout: "piped", stderr: "piped" },
    }).spawn();
    const first = saysReady ? await readReady(child, options.clock) : { isReady: true, rest: new Uint8Array() };
    if (first.isReady) return new RunningProgram(options, child, first.rest);
    await Promise.allSettled([child.stdin.close(), child.stdout.cancel(), child.stderr.cancel(), child.status]);
    return { kind: "failed", said: new TextDecoder().decode(first.rest) };
  }

  /** Kills it with all that it started, without waiting. The first reason counts. */
  kill(because: NonNullable<ProgramEnd["because"]>): void {
    if (this.#over.signal.aborted) return;
    this.#because ??= because;
    killChild(this.#child); // bwrap's end ends the process 1 of the box, and that all others
    this.#killGroup();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill("host ends");
    await this.ended;
  }

  #killGroup(): void {
    if (this.#options.killsGroup !== true) return;
    try {
      Deno.kill(-this.#child.pid, "SIGKILL");
    } catch {
      // The group is empty.
    }
  }

  /** Counts what goes through; `said` came before it. */
  #counted(said = new Uint8Array()): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
    return new TransformStream({
      start: (controller) => {
        if (said.length > 0) controller.enqueue(said);
      },
      transform: (chunk, controller) => {
        this.#outputBytes += chunk.length;
        if (this.#outputBytes <= this.#options.outputBytesMax) return controller.enqueue(chunk);
        this.kill("output");
        controller.terminate();
      },
    });
  }

  async #endInTime(): Promise<void> {
    const { clock, timeoutMs } = this.#options;
    if (timeoutMs !== Infinity && await this.#sleeps(clock, timeoutMs)) this.kill("time");
  }

  async #watchDisk(): Promise<void> {
    const { clock, isDiskFull } = this.#options;
    // What cannot be measured is not let grow.
    while (await this.#sleeps(clock, diskCheckMs)) if (await isDiskFull().catch(() => true)) this.kill("disk");
  }

  /** False when the program ended meanwhile. */
  #sleeps(clock: Clock, ms: number): Promise<boolean> {
    return clock.sleep(ms, this.#over.signal).then(() => true, () => false);
  }
}

function killChild(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch {
    // It is gone.
  }
}

/** To build a box takes milliseconds; on a machine that is stuck, it is given up. */
const readyMs = 30_000;
/** More is no word of `bwrap`. */
const saidBytesMax = 64 * 1024;

/** Reads until the box says that it is ready; else what was said, up to its end. */
async function readReady(
  child: Deno.ChildProcess,
  clock: Clock,
): Promise<{ readonly isReady: boolean; readonly rest: Uint8Array<ArrayBuffer> }> {
  const line = new TextEncoder().encode(`${readyLine}\n`);
  const reader = child.stderr.getReader();
  using deadline = clock.deadline(readyMs);
  deadline.signal.addEventListener("abort", () => killChild(child));
  let said = new Uint8Array();
  while (said.length < saidBytesMax) {
    const { done, value } = await reader.read();
    if (done) break;
    const grown = new Uint8Array(said.length + value.length);
    grown.set(said);
    grown.set(value, said.length);
    said = grown;
    if (line.every((byte, at) => said[at] === byte)) {
      reader.releaseLock();
      return { isReady: true, rest: said.subarray(line.length) };
    }
  }
  reader.releaseLock();
  return { isReady: false, rest: said };
}
