import { getLogger, withContext } from "@logtape/logtape";
import type { EngineEvent, TurnOutcome } from "@/engine/engine.ts";
import type { CallerName, TaskId } from "@/protocol/ids.ts";
import { unexpectedFailure } from "@/sessions/open_session.ts";
import type { SessionPool, TurnRequest } from "@/sessions/session_pool.ts";
import type { Clock } from "@/time/clock.ts";
import type { Counters } from "@/counters.ts";
import { GrowingText } from "@/server/tasks/growing_text.ts";
import { responseId } from "@/server/tasks/lifecycle.ts";
import type { RunId, Usage } from "@/server/tasks/task_record.ts";
import type { Progress } from "@/server/tasks/task_store.ts";
import type { CallerTools } from "./session_tools.ts";
import { nextRunPhase, type RunPhase, type RunPhaseEvent } from "./run_phase.ts";

const logger = getLogger(["a2a", "server", "runs"]);

/** How long an engine may take to stop before its session is killed. */
export const patienceMs = 5_000;
/** How much text one run may answer. */
export const replyCharsMax = 4 * 1024 * 1024;

/** How a run ended. Nothing of it is stored yet; after `aborted` nothing will be. */
export type RunResult =
  & { readonly usage: Usage | undefined }
  & (
    | { readonly kind: "asked"; readonly question: string; readonly text: string }
    | { readonly kind: "answered"; readonly text: string; readonly truncated: boolean }
    | { readonly kind: "failed"; readonly message: string }
    | { readonly kind: "aborted" }
  );

/** A turn that can be prompted, or why it cannot. `aborted`: the signal was. */
export type Prepared =
  | { readonly kind: "turn"; readonly request: TurnRequest }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "aborted" };

/** What one run works with, and who hears of it. */
export interface ActiveRunOptions {
  readonly taskId: TaskId;
  readonly caller: CallerName;
  readonly runId: RunId;
  readonly scope: string;
  readonly sessions: Pick<SessionPool, "turn" | "kill">;
  readonly clock: Clock;
  readonly counters: Counters;
  /**
   * Makes the turn's prompt, once. It may take as long as its downloads, none without any; when the signal is aborted it is
   * over soon, with whatever: it has 5 s like a turn, and what it comes to later is dropped.
   */
  readonly prepare: (signal: AbortSignal) => Promise<Prepared>;
  /** Shows text that is not stored. */
  readonly show: (progress: Progress) => void;
  /** Shows the owner what goes on. */
  readonly observe: (event: EngineEvent) => void;
  /** The run must be ended from outside, failed with this message: it broke a limit. */
  readonly onLimit: (message: string) => void;
  /** What the turn was lent: a question asked through it counts even when the engine then ended as if it had answered. */
  readonly tools: CallerTools;
}

/**
 * One run at work: its turn, the text it has shown, and its end (state-machines.md 3). It stores nothing: it says how it
 * ended, and its owner commits that.
 */
export class ActiveRun {
  readonly taskId: TaskId;
  readonly caller: CallerName;
  readonly runId: RunId;
  readonly #options: ActiveRunOptions;
  readonly #abort = new AbortController();
  readonly #stopWaiting = new AbortController();
  #phase: RunPhase = { kind: "opening" };
  #text = new GrowingText();
  #startsMessage = true;
  #chars = 0;
  #usage: Usage | undefined;
  #isKilled = false;
  #hasTurn = false;
  /** Settles what the turn waits for when the session is killed. */
  #onKilled = () => {};

  constructor(options: ActiveRunOptions) {
    this.#options = options;
    this.taskId = options.taskId;
    this.caller = options.caller;
    this.runId = options.runId;
  }

  /** Works until the turn is over, at most 5 s after `abort`. Never rejects. Call it once. */
  async work(): Promise<RunResult> {
    const { taskId, caller, runId } = this.#options;
    try {
      return this.#result(await withContext({ taskId, caller, runId }, () => this.#turn()));
    } catch (cause) {
      return this.#result({ kind: "failed", message: unexpectedFailure, cause });
    } finally {
      this.#stopWaiting.abort();
    }
  }

  /**
   * Tells the turn to stop; the session is killed when it has not after 5 s. What it says from now on counts no more. When
   * the turn is over already, only who waits to store its end hears of it.
   */
  abort(reason: string): void {
    if (this.signal.aborted) return;
    const isOver = this.#phase.kind === "settled";
    if (!isOver) this.#move({ kind: "abort" });
    this.#abort.abort(new DOMException(reason, "AbortError"));
    if (!isOver) void this.#killWhenLate();
  }

  /** Aborts with `abort`. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The text of the answer so far. */
  get text(): string {
    return this.#text.range(0);
  }

  /** Files the run has sent. */
  get files(): number {
    return this.#options.tools.files;
  }

  get phase(): RunPhase {
    return this.#phase;
  }

  async #turn(): Promise<TurnOutcome> {
    const prepared = await this.#unlessKilled(this.#options.prepare(this.signal));
    if (prepared === killed || this.signal.aborted) return { kind: "aborted" };
    if (prepared.kind !== "turn") return prepared;
    this.#move({ kind: "opened" });
    this.#hasTurn = true;
    const events = this.#options.sessions.turn(prepared.request, this.#abort.signal)[Symbol.asyncIterator]();
    try {
      while (true) {
        const next = await this.#unlessKilled(events.next());
        if (next === killed) return { kind: "aborted" };
        if (next.done) return { kind: "failed", message: unexpectedFailure };
        if (next.value.kind === "end") return next.value.outcome;
        this.#take(next.value);
      }
    } finally {
      void events.return().catch(() => {}); // not awaited: what was killed may never come back
    }
  }

  /** What `work` gives, or `killed`. No race of promises: it would keep every event of a run until its end. */
  #unlessKilled<T>(work: Promise<T>): Promise<T | typeof killed> {
    return new Promise((resolve, reject) => {
      if (this.#isKilled) resolve(killed);
      this.#onKilled = () => resolve(killed);
      work.then(resolve, reject);
    });
  }

  #take(event: EngineEvent): void {
    if (this.#phase.kind !== "turning") return;
    if (event.kind === "text") this.#takeText(event.text);
    if (event.kind === "message") this.#startsMessage = true;
    if (event.kind === "usage") this.#usage = plus(this.#usage, event);
    this.#options.observe(event);
  }

  #takeText(text: string): void {
    if (text === "" || this.#chars > replyCharsMax) return;
    this.#chars += text.length;
    if (this.#chars > replyCharsMax) return this.#options.onLimit(overLimit);
    if (this.#startsMessage) this.#text = new GrowingText();
    this.#startsMessage = false;
    const from = this.#text.length;
    this.#text.append(text);
    this.#options.show({ taskId: this.taskId, artifactId: responseId, from, text });
  }

  #result(given: TurnOutcome): RunResult {
    const outcome = this.#judged(given);
    const isOurs = this.#phase.kind === "stopping"; // what ends so was told to
    if (outcome.kind === "failed" && outcome.cause !== undefined && !isOurs) {
      logger.error("The turn of run {runId} failed: {cause}", { runId: this.runId, cause: outcome.cause });
    }
    this.#move({ kind: "end", how: outcome.kind });
    const usage = this.#usage;
    if (this.#phase.kind === "settled" && this.#phase.how === "aborted") return { kind: "aborted", usage };
    const asked = outcome.kind === "answered" ? this.#options.tools.question : undefined;
    const end = outcome.kind === "answered" && asked !== undefined
      ? { kind: "asked" as const, question: asked, text: outcome.text }
      : outcome;
    if (end.kind === "answered" || end.kind === "asked") this.#showWhole(end.text);
    if (end.kind !== "failed") return { ...end, usage };
    return { kind: "failed", message: end.message, usage };
  }

  /** What an engine must not do is a failure: to stop by itself without a word, or to answer more than fits. */
  #judged(outcome: TurnOutcome): TurnOutcome {
    const isOurs = this.#phase.kind === "stopping" || this.#phase.kind === "settled"; // killed
    if (outcome.kind === "aborted" && !isOurs) return { kind: "failed", message: unexpectedFailure };
    const isLong = (outcome.kind === "answered" || outcome.kind === "asked") && outcome.text.length > replyCharsMax;
    return isLong ? { kind: "failed", message: overLimit } : outcome;
  }

  /** Followers must end with what is stored, whatever the engine streamed before. */
  #showWhole(text: string): void {
    if (text === this.text) return;
    this.#options.show({ taskId: this.taskId, artifactId: responseId, from: 0, text });
  }

  async #killWhenLate(): Promise<void> {
    const { clock, counters, sessions } = this.#options;
    try {
      await clock.sleep(patienceMs, this.#stopWaiting.signal);
    } catch {
      return; // it stopped in time
    }
    if (this.#hasTurn) {
      logger.warning("Killed the session of run {runId}: it did not stop in time", { runId: this.runId });
      counters.add("runs.killed");
      sessions.kill(this.#options.scope);
    } else {
      logger.warning("Left the downloads of run {runId}: they did not stop in time", { runId: this.runId });
    }
    this.#move({ kind: "patience over" });
    this.#isKilled = true;
    this.#onKilled();
  }

  #move(event: RunPhaseEvent): void {
    this.#phase = nextRunPhase(this.#phase, event);
  }
}

const killed = Symbol("killed");
const overLimit = `The reply is over the limit of ${replyCharsMax} characters`;

function plus(usage: Usage | undefined, more: Usage): Usage {
  return {
    inputTokens: (usage?.inputTokens ?? 0) + more.inputTokens,
    outputTokens: (usage?.outputTokens ?? 0) + more.outputTokens,
  };
}
