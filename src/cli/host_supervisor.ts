import { hostPermissions } from "@/host/host_permissions.ts";
import type { FromHost, HostConfig, HostReport, MainAnswer, MainRequest, ToHost } from "@/host/messages.ts";
import type { Activity } from "@/server/runs/run_activity.ts";
import type { Clock } from "@/time/clock.ts";
import { type ExitCode, exitCodes } from "./command_context.ts";

/** How often the host is asked for a sign of life, and how often it may fail to give one. */
const pingMs = 5_000;
const silentPingsMax = 6;
/** What a host may take longer than the grace: a stubborn engine is killed after 5 s, then files are closed. */
const closingMs = 15_000;

/** What a host is started with, and who hears of it. */
export interface SupervisorOptions {
  readonly hostUrl: URL;
  readonly config: HostConfig;
  /** How long runs may go on after the first signal. */
  readonly graceMs: number;
  readonly clock: Clock;
  /** Calls `onSignal` for each TERM and INT. */
  readonly listenToSignals: (onSignal: () => void) => Disposable;
  readonly onStarted: (report: HostReport) => void;
  readonly onActivity: (workspace: string, activity: Activity) => void;
  /** The first signal came. */
  readonly onStopping: () => void;
  /** What went wrong, as one line. */
  readonly complain: (text: string) => void;
  /** Does what the host has no right to do. Never rejects. */
  readonly answer: (request: MainRequest) => Promise<MainAnswer>;
}

/**
 * Runs the host in a thread with the rights of its workspaces, until it ends, and gives the exit code: 0 after a drain, 2 when it
 * could not start, 70 when it broke, 130 at once on a second signal (state-machines.md 7).
 *
 * A host that ends its own thread, or gets stuck, says nothing: who is silent for 30 s is taken for broken. End the process
 * with the code: a thread that is stuck would keep it alive.
 */
export async function superviseHost(options: SupervisorOptions): Promise<ExitCode> {
  Deno.exitCode = exitCodes.failed; // whatever ends the process unforeseen, it is no success (compile.md 4)
  using supervisor = new HostSupervisor(options);
  return await supervisor.ended;
}

class HostSupervisor implements Disposable {
  readonly ended: Promise<ExitCode>;
  readonly #end: (exitCode: ExitCode) => void;
  readonly #options: SupervisorOptions;
  readonly #worker: Worker;
  readonly #signals: Disposable;
  readonly #over = new AbortController();
  #isStopping = false;
  #silentPings = 0;

  constructor(options: SupervisorOptions) {
    const { promise, resolve } = Promise.withResolvers<ExitCode>();
    this.#options = options;
    this.ended = promise;
    this.#end = resolve;
    const permissions = hostPermissions(options.config.workspaces.map(({ folder }) => folder));
    const how = { type: "module", name: "host", deno: { permissions } };
    this.#worker = new Worker(options.hostUrl, how as WorkerOptions);
    this.#worker.addEventListener("message", ({ data }: MessageEvent<FromHost>) => this.#hear(data));
    this.#worker.addEventListener("error", (event) => {
      event.preventDefault(); // else it is thrown again here
      this.#break(`The host broke: ${event.message}`);
    });
    this.#signals = options.listenToSignals(() => this.#stop());
    void this.#watch();
  }

  [Symbol.dispose](): void {
    this.#over.abort();
    this.#signals[Symbol.dispose]();
    this.#worker.terminate();
  }

  #tell(message: ToHost): void {
    this.#worker.postMessage(message);
  }

  #hear(message: FromHost): void {
    this.#silentPings = 0;
    const { config, onStarted, onActivity, complain } = this.#options;
    switch (message.kind) {
      case "ready":
        return this.#tell({ kind: "start", config });
      case "alive":
        return;
      case "started":
        return onStarted(message.report);
      case "activity":
        return onActivity(message.workspace, message.activity);
      case "ask":
        return void this.#answer(message.id, message.request);
      case "refused":
        complain(message.message);
        return this.#end(exitCodes.wrongUsage);
      case "lost":
        return this.#break(message.message);
      case "stopped":
        return this.#end(exitCodes.done);
      default:
        return message satisfies never;
    }
  }

  async #answer(id: number, request: MainRequest): Promise<void> {
    const answer = await this.#options.answer(request);
    if (this.#over.signal.aborted) return;
    const streams = answer.kind === "program" ? [answer.stdin, answer.stdout, answer.stderr] : [];
    this.#worker.postMessage({ kind: "answer", id, answer } satisfies ToHost, streams);
  }

  #stop(): void {
    if (this.#isStopping) return this.#end(exitCodes.interrupted);
    this.#isStopping = true;
    const { graceMs, onStopping } = this.#options;
    onStopping();
    this.#tell({ kind: "stop", graceMs });
    void this.#breakAfter(
      graceMs + closingMs,
      "The host did not end in time: what still ran is failed at the next start",
    );
  }

  async #watch(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#over;
    while (await clock.sleep(pingMs, signal).then(() => true, () => false)) {
      if (this.#silentPings++ >= silentPingsMax) {
        return this.#break("The host does not answer any more: its thread is stuck or gone");
      }
      this.#tell({ kind: "ping" });
    }
  }

  async #breakAfter(ms: number, text: string): Promise<void> {
    if (await this.#options.clock.sleep(ms, this.#over.signal).then(() => true, () => false)) this.#break(text);
  }

  #break(text: string): void {
    if (this.#over.signal.aborted) return;
    this.#options.complain(text);
    this.#end(exitCodes.broke);
    this.#over.abort();
  }
}
