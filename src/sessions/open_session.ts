import { getLogger } from "@logtape/logtape";
import {
  type Conversation,
  type Engine,
  type EngineEvent,
  type EngineSession,
  EngineUnavailable,
  type Prompt,
  type SessionOptions,
  type TurnOutcome,
} from "@/engine/engine.ts";
import type { Counters } from "@/counters.ts";
import type { Clock } from "@/time/clock.ts";
import { isDiskFull } from "@/workspace/disk.ts";
import { lendTools } from "./lent_tools.ts";
import { retryDisk } from "./retry_disk.ts";
import type { Transcript, TurnFields } from "./transcript.ts";
import type { TokenUsage } from "./transcript_line.ts";
import { until } from "./until.ts";

const logger = getLogger(["a2a", "sessions"]);

/** What the caller of a failed run is told when the reason is ours alone (seed 000 "Task lifecycle"). */
export const unexpectedFailure = "The run failed unexpectedly.";

/** An engine gets this long to leave a turn that ended, and to close. */
const engineGraceMs = 5000;
/** The pause before the one retry of an engine that was not available (state-machines.md 3). */
const retryMs = 1000;

/** What an open session is made of. */
export interface OpenSessionOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly scope: string;
  readonly trust: SessionOptions["trust"];
  readonly openTranscript: () => Promise<Transcript>;
  /** Applied to what the owner sees of a turn, and to the reason of a failure. */
  readonly scrub: (text: string) => string;
  /** The most the opening may take, the one retry included. */
  readonly openMs: number;
  /** Told of each new try to write an end. */
  readonly counters?: Pick<Counters, "add">;
  /** Starts the programs of this session. */
  readonly programs?: SessionOptions["programs"];
}

/** One turn, as the session layer gets it. */
export interface SessionTurn {
  readonly fence: number;
  readonly fields: TurnFields;
  readonly prompt: Prompt;
}

/**
 * An engine's session with the transcript that belongs to it: one scope, open (state-machines.md 4).
 *
 * The order of a turn is kept here: its `turn` line is on disk before the engine sees the prompt, its `end` line before
 * `run` returns. One turn at a time, which the pool sees to.
 */
export class OpenSession {
  readonly #options: OpenSessionOptions;
  readonly #session: EngineSession;
  readonly #transcript: Transcript;
  #closing: Promise<void> | undefined;
  #killed = false;
  /** The turn ended well, but the engine did not leave it: it cannot take another one. */
  #unfit = false;
  /** Aborts when the session is killed: ends the waits of its turn. */
  readonly #stop = new AbortController();
  /** Settles what the turn waits for when the session is killed. */
  #onKill = () => {};

  private constructor(options: OpenSessionOptions, session: EngineSession, transcript: Transcript) {
    this.#options = options;
    this.#session = session;
    this.#transcript = transcript;
  }

  /**
   * Opens the transcript, then the engine's session, which is tried once more when the engine is not available. Rejects
   * with what they reject with, with the reason of `stop` when it aborts, and with `EngineUnavailable` after `openMs`; then
   * nothing stays open. An engine that comes later than that is killed.
   */
  static async open(options: OpenSessionOptions, stop: AbortSignal): Promise<OpenSession> {
    using deadline = options.clock.deadline(options.openMs);
    const signal = AbortSignal.any([stop, deadline.signal]);
    try {
      return await OpenSession.#open(options, signal);
    } catch (error) {
      if (error === deadline.signal.reason) throw new EngineUnavailable(tooLate(options.openMs), { cause: error });
      throw error;
    }
  }

  static async #open(options: OpenSessionOptions, signal: AbortSignal): Promise<OpenSession> {
    const transcript = await options.openTranscript();
    try {
      const session = await openEngine(options, transcript, signal);
      const opened = new OpenSession(options, session, transcript);
      if (!signal.aborted) return opened;
      opened.kill("stopped");
      await opened.closed;
      throw signal.reason;
    } catch (error) {
      await transcript.close();
      throw error;
    }
  }

  /** Says whether it can take a turn: neither killed nor closed. */
  get isOpen(): boolean {
    return this.#closing === undefined;
  }

  /** Resolves when all is freed after `kill` or `close`; never rejects. */
  get closed(): Promise<void> {
    return this.#closing ?? Promise.resolve();
  }

  /** Characters of its conversation that are in memory, what the engine itself keeps not counted. */
  get chars(): number {
    return this.#transcript.chars;
  }

  /**
   * Runs one turn: yields its events but the end, and returns the outcome once the `end` line is on disk.
   *
   * An engine that throws or stops without an end, and a transcript that cannot be written before the engine has an
   * outcome, are outcomes too: `failed`, and the session is killed. The outcome of an engine is not thrown away for a disk
   * that is full or refuses: its `end` line is tried again after 0.1, 0.2 ... 30 s, and an abort of `signal` meanwhile is
   * the outcome `aborted` (state-machines.md 0.8). After `kill` the outcome is `aborted`. Leaving the iteration kills the
   * session.
   */
  async *run(turn: SessionTurn, signal: AbortSignal): AsyncGenerator<EngineEvent, TurnOutcome, void> {
    let finished = false;
    try {
      const outcome = yield* this.#run(turn, signal);
      finished = true;
      return outcome;
    } finally {
      if (!finished) this.kill("stopped");
    }
  }

  /** Ends what runs, at once; `reason` stands in the running turn's `end` line. The rest happens behind `closed`. */
  kill(reason: string): void {
    if (this.#closing) return;
    this.#killed = true;
    this.#stop.abort();
    this.#killEngine();
    const ended = this.#transcript.endTurn({ outcome: "failed", reason });
    this.#closing = Promise.all([this.#quietly(ended), this.#closeEngine(), this.#transcript.close()]).then(() => {});
    this.#onKill();
  }

  /** Frees all; the conversation stays on disk. Not during a turn. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#closeEngine().then(() => this.#transcript.close());
    return this.#closing;
  }

  async *#run(turn: SessionTurn, signal: AbortSignal): AsyncGenerator<EngineEvent, TurnOutcome, void> {
    try {
      this.#transcript.adopt(turn.fence);
    } catch (error) {
      return failureOf(error); // a straggler: the session is not to blame
    }
    const lent = lendTools(turn.prompt.tools);
    const usage = { inputTokens: 0, outputTokens: 0 };
    let outcome: TurnOutcome;
    let broken = false;
    try {
      if (await this.#unlessKilled(this.#transcript.beginTurn(turn.fields)) === killed) return { kind: "aborted" };
      outcome = yield* this.#events({ ...turn.prompt, tools: lent.tools }, signal, usage);
    } catch (error) {
      outcome = failureOf(error);
      broken = true;
    } finally {
      lent.takeBack();
    }
    if (outcome.kind === "failed") outcome = { ...outcome, message: this.#options.scrub(outcome.message) };
    const end = () => this.#end(outcome, usage);
    try {
      // What broke is told at once: nothing is lost but its reason, and that the task has.
      const ended = broken ? end() : this.#endSurely(end, signal);
      if (await this.#unlessKilled(ended) === killed) return { kind: "aborted" };
    } catch (error) {
      // The first reason is the one to tell: what cannot be written follows from it.
      if (!broken) outcome = signal.aborted ? { kind: "aborted" } : failureOf(error);
      broken = true;
    }
    if (broken || this.#unfit) this.kill(outcome.kind === "failed" ? outcome.message : "stopped");
    return outcome;
  }

  async *#events(
    prompt: Prompt,
    signal: AbortSignal,
    usage: { inputTokens: number; outputTokens: number },
  ): AsyncGenerator<EngineEvent, TurnOutcome, void> {
    const iterator = this.#session.turn(prompt, signal)[Symbol.asyncIterator]();
    let ended = false;
    try {
      while (true) {
        const next = await this.#unlessKilled(iterator.next());
        if (next === killed) return { kind: "aborted" };
        if (next.done) throw new Error("The engine stopped without an end");
        const event = next.value;
        if (event.kind === "end") {
          ended = true;
          await this.#leave(iterator);
          return event.outcome;
        }
        if (event.kind === "usage") {
          usage.inputTokens += event.inputTokens;
          usage.outputTokens += event.outputTokens;
        }
        yield scrubEvent(event, this.#options.scrub);
      }
    } finally {
      // Not awaited: an engine that is killed or broken may never come back.
      if (!ended) void (async () => await iterator.return?.())().catch(() => {});
    }
  }

  /** Lets the engine's iterator run its last lines; one that does not, or throws now, is not used again. */
  async #leave(iterator: AsyncIterator<EngineEvent>): Promise<void> {
    using deadline = this.#options.clock.deadline(engineGraceMs);
    try {
      await until(Promise.resolve(iterator.return?.()), deadline.signal);
    } catch (error) {
      logger.warning("The engine of {scope} did not leave its turn: {error}", { scope: this.#options.scope, error });
      this.#unfit = true;
    }
  }

  #endSurely(end: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock, scope, counters } = this.#options;
    const onRetry = (error: unknown, retryMs: number) => {
      counters?.add("commit.retries");
      logger.warning("Cannot write the end of a turn of {scope}, trying again in {retryMs} ms: {error}", {
        scope,
        retryMs,
        error,
      });
    };
    return retryDisk(end, { clock, signal: AbortSignal.any([signal, this.#stop.signal]), onRetry });
  }

  async #end(outcome: TurnOutcome, usage: TokenUsage): Promise<void> {
    const used = usage.inputTokens + usage.outputTokens > 0 ? usage : undefined;
    await this.#transcript.endTurn({
      outcome: outcome.kind,
      text: outcome.kind === "answered" || outcome.kind === "asked" ? outcome.text : undefined,
      truncated: outcome.kind === "answered" && outcome.truncated ? true : undefined,
      question: outcome.kind === "asked" ? outcome.question : undefined,
      reason: outcome.kind === "failed" ? outcome.message : undefined,
      usage: used,
    });
  }

  async #closeEngine(): Promise<void> {
    using deadline = this.#options.clock.deadline(engineGraceMs);
    try {
      await until(this.#session.close(), deadline.signal);
    } catch (error) {
      this.#killEngine();
      logger.warning("Cannot close the session of {scope}: {error}", { scope: this.#options.scope, error });
    }
  }

  #killEngine(): void {
    try {
      this.#session.kill();
    } catch (error) {
      logger.error("Cannot kill the session of {scope}: {error}", { scope: this.#options.scope, error });
    }
  }

  async #quietly(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      logger.warning("Cannot write the end of a turn of {scope}: {error}", { scope: this.#options.scope, error });
    }
  }

  /** What `work` resolves to, or `killed` when the session is killed first. Cheap: called for each event. */
  #unlessKilled<T>(work: Promise<T>): Promise<T | typeof killed> {
    return new Promise((resolve, reject) => {
      if (this.#killed) resolve(killed);
      this.#onKill = () => resolve(killed);
      work.then(resolve, reject);
    });
  }
}

const killed = Symbol("killed");

/** What the caller is told when a session did not open in time. */
export function tooLate(openMs: number): string {
  return `The session did not open within ${openMs / 1000} s.`;
}

/** What the owner sees is scrubbed here; the answer is the engine's own. */
function scrubEvent(event: EngineEvent, scrub: (text: string) => string): EngineEvent {
  if (event.kind === "aside") return { ...event, text: scrub(event.text) };
  if (event.kind === "tool") return { ...event, summary: scrub(event.summary) };
  return event;
}

/** What the caller is told of an error: of a full disk, of an engine that cannot work, or only that it failed. */
export function failureOf(error: unknown): TurnOutcome & { readonly kind: "failed" } {
  if (error instanceof EngineUnavailable) return { kind: "failed", message: error.message, cause: error };
  if (isDiskFull(error)) return { kind: "failed", message: "The host's storage is full.", cause: error };
  return { kind: "failed", message: unexpectedFailure, cause: error };
}

async function openEngine(
  { engine, clock, scope, trust, programs }: OpenSessionOptions,
  transcript: Transcript,
  signal: AbortSignal,
): Promise<EngineSession> {
  const conversation: Conversation = {
    turns: transcript.turns,
    get summary() {
      return transcript.compact?.summary;
    },
    note: (entry) => transcript.note(entry),
    compact: (count, summary) => transcript.summarise(count, summary),
  };
  async function open(): Promise<EngineSession> {
    signal.throwIfAborted();
    const opening = engine.open({ scope, trust, conversation, programs });
    try {
      return await until(opening, signal);
    } catch (error) {
      if (signal.aborted) void opening.then((late) => (late.kill(), late.close())).catch(() => {});
      throw error;
    }
  }
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof EngineUnavailable)) throw error;
    logger.info("The engine is not available for {scope}, trying once more", { scope });
  }
  await clock.sleep(retryMs, signal);
  return await open();
}
