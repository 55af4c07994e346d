import type { Program, ProgramEnd, ProgramRefused, ProgramRequest, SessionPrograms } from "@/engine/programs.ts";
import type { MainRequests } from "./main_requests.ts";
import type { MainAnswer } from "./messages.ts";

/** What a workspace's programs are started with. */
export interface HostProgramsOptions {
  readonly requests: Pick<MainRequests, "ask">;
  /** The workspace's name. */
  readonly workspace: string;
}

/** The programs of callers in one workspace, started and killed by the main thread on typed requests (product.md §4). */
export class HostPrograms implements AsyncDisposable {
  readonly #requests: Pick<MainRequests, "ask">;
  readonly #workspace: string;
  readonly #running = new Set<Program>();
  readonly #over = new AbortController();

  constructor({ requests, workspace }: HostProgramsOptions) {
    this.#requests = requests;
    this.#workspace = workspace;
  }

  /** What one caller's session starts programs with. */
  lend(caller: string, contextId: string | undefined): SessionPrograms {
    return { start: (request, signal) => this.#start({ caller, contextId, request }, signal) };
  }

  /** Kills all that runs and waits until it is gone; nothing more is started. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await Promise.all([...this.#running].map((program) => program[Symbol.asyncDispose]()));
  }

  async #start(
    { caller, contextId, request }: { caller: string; contextId: string | undefined; request: ProgramRequest },
    signal: AbortSignal,
  ): Promise<Program | ProgramRefused> {
    const given = AbortSignal.any([signal, this.#over.signal]);
    if (given.aborted) return stopped;
    // Not with the signal: a program that was started meanwhile would be nobody's.
    const answer = await this.#ask({
      ...{ kind: "start program", workspace: this.#workspace, caller, contextId, program: request },
    });
    if (answer.kind === "refused") return answer;
    if (answer.kind !== "program") throw new Error(`Cannot start a program: the main thread says ${answer.kind}`);
    const program = this.#own(answer);
    if (!given.aborted) {
      const onAbort = () => program.kill();
      given.addEventListener("abort", onAbort, { once: true });
      void program.ended.then(() => given.removeEventListener("abort", onAbort));
      return program;
    }
    await program[Symbol.asyncDispose]();
    return stopped;
  }

  #own({ id, stdin, stdout, stderr }: MainAnswer & { readonly kind: "program" }): Program {
    const ended = this.#ask({ kind: "await program", id }).then((answer) =>
      answer.kind === "ended" ? answer.end : lost
    );
    const kill = () => void this.#ask({ kind: "kill program", id });
    const program: Program = {
      ...{ kind: "program", stdin, stdout, stderr, ended, kill },
      async [Symbol.asyncDispose]() {
        kill();
        await ended;
      },
    };
    this.#running.add(program);
    void ended.then(() => this.#running.delete(program));
    return program;
  }

  #ask(request: Parameters<MainRequests["ask"]>[0]): Promise<MainAnswer> {
    return this.#requests.ask(request, never);
  }
}

const never = new AbortController().signal;
const stopped: ProgramRefused = { kind: "refused", why: "Nothing was started: the turn was stopped" };
const lost: ProgramEnd = { code: 137, because: "host ends" };
