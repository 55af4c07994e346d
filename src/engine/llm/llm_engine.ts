import {
  type Engine,
  type EngineEvent,
  type EngineSession,
  EngineUnavailable,
  type Prompt,
  type SessionOptions,
  type TurnOutcome,
} from "@/engine/engine.ts";
import type { Clock } from "@/time/clock.ts";
import type { OpenedModel, OpenModel } from "./opened_model.ts";

/** What the engine needs. */
export interface LlmEngineOptions {
  readonly clock: Clock;
  /** Called when a turn needs the model, until it gives one; again after its key was refused. */
  readonly openModel: OpenModel;
  /** A model may say nothing for so long; then its turn fails. */
  readonly silenceMs: number;
  /** The most calls of the model in one turn; 50. */
  readonly stepsMax?: number;
}

const stepsMaxDefault = 50;

/**
 * Makes the engine that runs the tool loop on a provider's model (product.md §8).
 *
 * The SDK is loaded when the first turn needs it: it would double the time of a start. Disposing kills the open sessions;
 * after that `open` throws EngineUnavailable.
 */
export function createLlmEngine(options: LlmEngineOptions): Engine {
  const sessions = new Set<LlmSession>();
  const model = new KeptModel(options.openModel);
  let isDisposed = false;
  return {
    kind: "llm",
    open(session) {
      if (isDisposed) return Promise.reject(new EngineUnavailable("The engine is stopped"));
      const opened: LlmSession = new LlmSession(session, { ...options, model }, () => sessions.delete(opened));
      sessions.add(opened);
      return Promise.resolve(opened);
    },
    [Symbol.asyncDispose]() {
      isDisposed = true;
      for (const session of sessions) session.kill();
      return Promise.resolve();
    },
  };
}

/** The model that was opened, kept for all sessions until its key is refused. */
class KeptModel {
  readonly #open: OpenModel;
  #opened: OpenedModel | undefined;

  constructor(open: OpenModel) {
    this.#open = open;
  }

  readonly open: OpenModel = async (signal) => {
    if (this.#opened !== undefined) return this.#opened;
    const opened = await this.#open(signal);
    if (opened.kind === "model") this.#opened = opened;
    return opened;
  };

  forget(): void {
    this.#opened = undefined;
  }
}

class LlmSession implements EngineSession {
  readonly #session: SessionOptions;
  readonly #options: LlmEngineOptions & { readonly model: KeptModel };
  readonly #onEnd: () => void;
  readonly #killed = new AbortController();
  #state: "idle" | "turning" | "closed" = "idle";

  constructor(
    session: SessionOptions,
    options: LlmEngineOptions & { readonly model: KeptModel },
    onEnd: () => void,
  ) {
    this.#session = session;
    this.#options = options;
    this.#onEnd = onEnd;
  }

  turn(prompt: Prompt, signal: AbortSignal): AsyncIterable<EngineEvent> {
    if (this.#state === "turning") throw new RangeError("Cannot run a turn: another one runs in this session");
    if (this.#state === "closed") throw new Error("Cannot run a turn: the session is closed");
    this.#state = "turning";
    return this.#play(prompt, signal);
  }

  kill(): void {
    this.#killed.abort();
    this.#state = "closed";
    this.#onEnd();
  }

  close(): Promise<void> {
    if (this.#state === "turning") return Promise.reject(new Error("Cannot close the session: a turn runs"));
    this.#state = "closed";
    this.#onEnd();
    return Promise.resolve();
  }

  async *#play(prompt: Prompt, signal: AbortSignal): AsyncGenerator<EngineEvent, void, void> {
    const killed = this.#killed.signal;
    const left = new AbortController();
    try {
      const outcome = yield* this.#events(prompt, AbortSignal.any([signal, killed, left.signal]));
      if (!killed.aborted) yield { kind: "end", outcome };
    } catch (error) {
      if (!killed.aborted) throw error; // notes are refused after a kill
    } finally {
      left.abort(); // who stops reading wants no more of it
      if (this.#state === "turning") this.#state = "idle";
    }
  }

  async *#events(prompt: Prompt, signal: AbortSignal): AsyncGenerator<EngineEvent, TurnOutcome, void> {
    const { clock, silenceMs, stepsMax = stepsMaxDefault, model } = this.#options;
    const { conversation, programs } = this.#session;
    const { LlmTurn } = await import("./llm_turn.ts");
    const turn = new LlmTurn({
      ...{ prompt, conversation, programs, clock, silenceMs, stepsMax, signal },
      openModel: model.open,
      onKeyRefused: () => model.forget(),
    });
    const events = turn.play();
    try {
      while (true) {
        const next = await events.next();
        if (this.#killed.signal.aborted) return { kind: "aborted" };
        if (next.done) return next.value;
        yield next.value;
      }
    } finally {
      await events.return({ kind: "aborted" });
    }
  }
}
