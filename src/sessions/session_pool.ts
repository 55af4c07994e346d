import { getLogger } from "@logtape/logtape";
import type { Counters } from "@/counters.ts";
import type { Engine, EngineEvent, Prompt, SessionOptions, TurnOutcome } from "@/engine/engine.ts";
import type { SessionPrograms } from "@/engine/programs.ts";
import type { Random } from "@/random.ts";
import type { Clock } from "@/time/clock.ts";
import type { Disk } from "@/workspace/disk.ts";
import { isIdle, longestIdle, longestIdleOf, type Slot } from "./idle_sessions.ts";
import { failureOf, OpenSession, tooLate } from "./open_session.ts";
import { frame } from "./prompt_framing.ts";
import { Transcripts } from "./transcript.ts";
import { until } from "./until.ts";

const logger = getLogger(["a2a", "sessions"]);

const openMsDefault = 60_000;
const idleCharsMaxDefault = 64 * 1024 * 1024;

/** What a pool needs, and its limits. */
export interface SessionPoolOptions {
  readonly engine: Engine;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  /** `.volcanic/sessions` of the workspace, absolute. */
  readonly folder: string;
  readonly hostVersion: string;
  /** The model's name, for the transcript's `open` line. */
  readonly model?: string;
  /** Reads the workspace's instructions, persona and memory; called for each turn. */
  readonly readInstructions: () => Promise<string>;
  /** Applied to what isolated sessions write to the transcript and show the owner; identity by default. */
  readonly scrub?: (text: string) => string;
  /** An idle session is closed after this; 30 min. 0: never. */
  readonly idleMs?: number;
  /** The most a session may take to open; 60 s. */
  readonly openMs?: number;
  /** Open sessions of one caller, asked when it opens one; 100. `Infinity`: no limit. */
  readonly callerSessionsMax?: (caller: string) => number;
  readonly counters?: Pick<Counters, "add">;
  /** Lends a caller's session what starts programs in its box; undefined: there is no box, and it may start none. */
  readonly lendPrograms?: LendPrograms;
  /** Characters of conversations that all idle sessions together may have in memory; 64 Mi. */
  readonly idleCharsMax?: number;
}

/** What starts the programs of one caller's session, in the conversation `contextId`. */
export type LendPrograms = (caller: string, contextId: string | undefined) => SessionPrograms | undefined;

/** One turn in a scope. `tools` are lent to the engine for the turn; after its end they reject. */
export interface TurnRequest extends Omit<Prompt, "framed" | "instructions"> {
  readonly scope: string;
  readonly trust: SessionOptions["trust"];
  /**
   * The right to run in this scope (state-machines.md 2), higher than that of each earlier turn of the scope: an equal
   * one is enough only while the session stays open. `fenceBase(epoch)` plus a counter grows over restarts too.
   */
  readonly fence: number;
  readonly caller?: string;
  readonly contextId?: string;
  readonly deliveryId?: string;
}

/**
 * The sessions of one workspace: opened or resumed when a turn comes, closed when idle (product.md §5.4,
 * state-machines.md 4). At most one is open a scope.
 */
export class SessionPool implements AsyncDisposable {
  readonly #options: SessionPoolOptions;
  readonly #transcripts: Transcripts;
  readonly #idleMs: number;
  readonly #slots = new Map<string, Slot>();
  /** What is still being closed, or removed, by scope: the next opening of the scope waits for it. */
  readonly #closing = new Map<string, Promise<void>>();
  /** Everything that ends by itself; awaited when the pool closes. */
  readonly #pending = new Set<Promise<unknown>>();
  readonly #stop = new AbortController();
  #sweeps = false;

  constructor(options: SessionPoolOptions) {
    this.#options = options;
    this.#transcripts = new Transcripts(options);
    this.#idleMs = options.idleMs ?? 30 * 60 * 1000;
  }

  /**
   * Runs one turn in a scope: opens or resumes its session, and yields the engine's events and exactly one `end`, last.
   *
   * The `end` comes when the transcript has it on disk and the scope can take the next turn. Whatever goes wrong is an
   * outcome: `failed` when the session does not open in time, the engine breaks, or the transcript cannot be written
   * (`message` is for the caller, `cause` for the log); `aborted` after `kill`. Abort of `signal` is passed to the
   * engine; while the session opens it ends the turn at once. Leaving the iteration early kills the session.
   *
   * @throws {RangeError} When a turn runs in the scope, or the session was opened with another trust; nothing is done.
   */
  async *turn(request: TurnRequest, signal: AbortSignal): AsyncGenerator<EngineEvent, void, void> {
    let outcome: TurnOutcome;
    if (this.#stop.signal.aborted) {
      outcome = { kind: "failed", message: "The host is stopping." };
    } else {
      const slot = this.#slots.get(request.scope) ?? this.#startOpening(request);
      if (slot.inTurn) throw new RangeError(`Cannot run a turn in ${request.scope}: another one runs`);
      if (slot.trust !== request.trust) {
        throw new RangeError(`Cannot run a turn in ${request.scope}: its session is of trust ${slot.trust}`);
      }
      slot.inTurn = true;
      try {
        outcome = yield* this.#runTurn(slot, request, signal);
      } finally {
        this.#endTurn(slot);
      }
    }
    yield { kind: "end", outcome };
  }

  /**
   * Kills what runs in a scope and frees the scope: the next turn opens a new session and needs a higher fence. The turn
   * that ran ends as `aborted`; its `end` line says failed, "stopped". Does nothing when no session is open.
   */
  kill(scope: string): void {
    const slot = this.#slots.get(scope);
    if (slot) this.#kill(slot);
  }

  #kill(slot: Slot): void {
    this.#forget(slot);
    slot.stop.abort(new Error("The session was killed"));
    slot.session?.kill("stopped");
    // What is still opening kills itself when it sees the abort.
    this.#keep(slot.opening.then((session) => (session.kill("stopped"), session.closed), () => {}));
  }

  /**
   * A caller was removed: closes its idle sessions now, and those in a turn or opening when that is over. What they run is
   * its owner's to cancel. The conversations stay on disk (state-machines.md 4).
   */
  closeCaller(caller: string): void {
    for (const slot of [...this.#slots.values()].filter((slot) => slot.caller === caller)) {
      if (isIdle(slot)) this.#close(slot, slot.session);
      else slot.isLeaving = true;
    }
  }

  /**
   * Removes the transcript of a scope: these of its files, in this order. False, and nothing is done, while its session is
   * open or being closed; one that is opened meanwhile waits. Rejects with the disk's error.
   */
  async removeTranscript(scope: string, files: readonly string[]): Promise<boolean> {
    const isOpen = this.#slots.has(scope) || this.#closing.has(scope) || this.#stop.signal.aborted;
    if (isOpen || !this.#transcripts.isClosed(scope)) return false;
    const removing = this.#transcripts.remove(scope, files);
    this.#hold(scope, removing.catch(() => {}));
    await removing;
    return true;
  }

  /** How many sessions are open or opening. */
  get size(): number {
    return this.#slots.size;
  }

  /** Closes all sessions; those in a turn are killed, and later turns fail. Resolves when all is freed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error("The sessions are closed"));
    for (const slot of [...this.#slots.values()]) {
      if (slot.session && !slot.inTurn) this.#close(slot, slot.session);
      else this.kill(slot.scope);
    }
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }

  async *#runTurn(
    slot: Slot,
    request: TurnRequest,
    signal: AbortSignal,
  ): AsyncGenerator<EngineEvent, TurnOutcome, void> {
    const { fence, runId, taskId, messageId, from, deliveryId, text, files, hops, tools } = request;
    const ready = await this.#ready(slot, signal);
    if ("kind" in ready) return ready;
    const fields = { runId, taskId, messageId, from, deliveryId, text, files, hops };
    const { instructions } = ready;
    const framed = this.#frame(request);
    const prompt = { runId, taskId, messageId, from, text, framed, instructions, files, hops, tools };
    return yield* ready.session.run({ fence, fields, prompt }, signal);
  }

  /** The open session and the instructions as they are now, or why there is no turn. */
  async #ready(slot: Slot, signal: AbortSignal): Promise<Ready | TurnOutcome> {
    const openMs = this.#options.openMs ?? openMsDefault;
    using deadline = this.#options.clock.deadline(openMs);
    const given = AbortSignal.any([signal, slot.stop.signal, deadline.signal]);
    try {
      const session = await until(slot.opening, given);
      const instructions = await until(this.#options.readInstructions(), given);
      if (!given.aborted) return { session, instructions };
    } catch (error) {
      if (!given.aborted) return failureOf(error);
    }
    if (signal.aborted || slot.stop.signal.aborted) return { kind: "aborted" };
    // What does not even open its files is given up: the next turn opens anew.
    if (slot.session === undefined) this.#kill(slot);
    return { kind: "failed", message: tooLate(openMs) };
  }

  #frame({ from, text, caller, files, tools }: TurnRequest): string {
    if (from === "owner") return text;
    const fence = this.#options.random.hex(16);
    return frame({ from, text, caller, files, fence, canNotifyOwner: tools.notifyOwner !== undefined });
  }

  /** Opens the session of a scope. The opening outlives the turn that asked for it, and the next turn shares it. */
  #startOpening(request: TurnRequest): Slot {
    const { scope, trust, caller } = request;
    if (caller !== undefined) this.#makeRoom(caller);
    const stop = new AbortController();
    const opening = this.#open(request, stop.signal);
    const slot: Slot = { scope, trust, caller, opening, stop, inTurn: false, isLeaving: false, idleSince: 0 };
    this.#slots.set(scope, slot);
    this.#keep(opening.then((session) => {
      slot.session = session;
      if (!slot.inTurn && this.#slots.get(scope) === slot) this.#toIdle(slot, session);
    }, () => this.#forget(slot)));
    this.#keep(this.#sweep());
    return slot;
  }

  async #open(request: TurnRequest, stop: AbortSignal): Promise<OpenSession> {
    const { engine, clock, model, scrub = same, openMs = openMsDefault, counters, lendPrograms } = this.#options;
    const { scope, trust, caller, contextId, fence } = request;
    const scrubbing = trust === "isolated" ? scrub : same;
    await this.#closing.get(scope);
    const session = await OpenSession.open({
      engine,
      clock,
      scope,
      trust,
      scrub: scrubbing,
      openMs,
      counters,
      programs: caller === undefined ? undefined : lendPrograms?.(caller, contextId),
      openTranscript: () =>
        this.#transcripts.open({ scope, caller, contextId, engine: engine.kind, model, fence, scrub: scrubbing }),
    }, stop);
    logger.info("Opened session {scope}", { scope });
    return session;
  }

  /** A turn is over: its session is idle, or gone when it was killed. */
  #endTurn(slot: Slot): void {
    slot.inTurn = false;
    if (!slot.session) return;
    if (slot.session.isOpen) return this.#toIdle(slot, slot.session);
    this.#forget(slot);
    this.#keep(slot.session.closed);
  }

  #toIdle(slot: Slot, session: OpenSession): void {
    slot.idleSince = this.#options.clock.elapsed();
    if (slot.isLeaving) return this.#close(slot, session);
    const charsMax = this.#options.idleCharsMax ?? idleCharsMaxDefault;
    for (const idle of longestIdle(this.#slots.values(), charsMax)) this.#close(idle, idle.session);
  }

  #forget(slot: Slot): void {
    if (this.#slots.get(slot.scope) === slot) this.#slots.delete(slot.scope);
  }

  /** Closes the longest idle sessions of a caller that has as many as it may; never one in a turn. */
  #makeRoom(caller: string): void {
    const max = this.#options.callerSessionsMax?.(caller) ?? 100;
    for (const slot of longestIdleOf(this.#slots.values(), caller, max - 1)) this.#close(slot, slot.session);
  }

  #close(slot: Slot, session: OpenSession): void {
    this.#forget(slot);
    logger.info("Closing idle session {scope}", { scope: slot.scope });
    this.#hold(slot.scope, session.close());
  }

  /** Lets the next opening of the scope wait for `work`, which must not reject. */
  #hold(scope: string, work: Promise<void>): void {
    const held = work.then(() => {
      if (this.#closing.get(scope) === held) this.#closing.delete(scope);
    });
    this.#closing.set(scope, held);
    this.#keep(held);
  }

  /** Closes idle sessions when their time comes: one timer for all, running while any is open. */
  async #sweep(): Promise<void> {
    if (this.#sweeps || this.#idleMs === 0) return;
    this.#sweeps = true;
    const { clock } = this.#options;
    try {
      while (this.#slots.size > 0) {
        // A time only ever moves back, so nothing becomes due while this sleeps.
        let oldest = clock.elapsed();
        for (const slot of this.#slots.values()) if (isIdle(slot)) oldest = Math.min(oldest, slot.idleSince);
        await clock.sleep(oldest + this.#idleMs - clock.elapsed(), this.#stop.signal);
        const dueSince = clock.elapsed() - this.#idleMs;
        for (const slot of [...this.#slots.values()].filter(isIdle)) {
          if (slot.idleSince <= dueSince) this.#close(slot, slot.session);
        }
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    } finally {
      this.#sweeps = false;
    }
  }

  #keep(work: Promise<unknown>): void {
    this.#pending.add(work);
    work.finally(() => this.#pending.delete(work));
  }
}

interface Ready {
  readonly session: OpenSession;
  readonly instructions: string;
}

function same(text: string): string {
  return text;
}
