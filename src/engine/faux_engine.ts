import type { Clock } from "@/time/clock.ts";
import {
  type Engine,
  type EngineEvent,
  type EngineSession,
  EngineUnavailable,
  type Prompt,
  type SessionOptions,
} from "./engine.ts";
import { FauxTurn } from "./faux_turn.ts";

/** What the faux engine needs. */
export interface FauxEngineOptions {
  /** Measures `wait`. */
  readonly clock: Clock;
}

/**
 * Makes the engine without a model: it answers a message with its own text and obeys the words of `fauxVocabulary`
 * (product.md §8, docs/guides/faux.md).
 *
 * The same messages give the same events on every run. It reads the conversation (`recall`) and notes one entry a
 * `tool` line, `{tool, summary}`. Disposing of it kills its open sessions; after that `open` throws EngineUnavailable.
 */
export function createFauxEngine({ clock }: FauxEngineOptions): Engine {
  const sessions = new Set<FauxSession>();
  let disposed = false;
  return {
    kind: "faux",
    open(options) {
      if (disposed) return Promise.reject(new EngineUnavailable("The engine is stopped"));
      const session = new FauxSession(options, clock, () => sessions.delete(session));
      sessions.add(session);
      return Promise.resolve(session);
    },
    [Symbol.asyncDispose]() {
      disposed = true;
      for (const session of sessions) session.kill();
      return Promise.resolve();
    },
  };
}

class FauxSession implements EngineSession {
  readonly #options: SessionOptions;
  readonly #clock: Clock;
  readonly #onEnd: () => void;
  readonly #killed = new AbortController();
  #state: "idle" | "turning" | "closed" = "idle";

  constructor(options: SessionOptions, clock: Clock, onEnd: () => void) {
    this.#options = options;
    this.#clock = clock;
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
    try {
      const turn = new FauxTurn({
        prompt,
        signal,
        killed,
        clock: this.#clock,
        conversation: this.#options.conversation,
      });
      for await (const event of turn.play()) {
        if (killed.aborted) return;
        yield event;
      }
    } finally {
      if (this.#state === "turning") this.#state = "idle";
    }
  }
}
