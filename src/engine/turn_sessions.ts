import {
  type Engine,
  type EngineEvent,
  type EngineKind,
  type EngineSession,
  EngineUnavailable,
  type Prompt,
  type SessionOptions,
} from "./engine.ts";

/** Plays one turn. `killed` aborts at a kill, after which nothing of it is read, and it may throw whatever it likes. */
export type PlayTurn = (
  prompt: Prompt,
  signals: { readonly signal: AbortSignal; readonly killed: AbortSignal },
) => AsyncIterable<EngineEvent>;

/**
 * Makes an engine in this process out of how its sessions play a turn: one turn at a time, a kill at any moment, no turn in a
 * session that was closed.
 *
 * What `openTurns` throws `open` rejects with. Disposing kills the open sessions; after that `open` rejects with
 * EngineUnavailable.
 */
export function createTurnEngine(kind: EngineKind, openTurns: (session: SessionOptions) => PlayTurn): Engine {
  const sessions = new Set<TurnSession>();
  let isDisposed = false;
  return {
    kind,
    open(options) {
      if (isDisposed) return Promise.reject(new EngineUnavailable("The engine is stopped"));
      return Promise.try(() => {
        const session = new TurnSession(openTurns(options), () => sessions.delete(session));
        sessions.add(session);
        return session;
      });
    },
    [Symbol.asyncDispose]() {
      isDisposed = true;
      for (const session of sessions) session.kill();
      return Promise.resolve();
    },
  };
}

class TurnSession implements EngineSession {
  readonly #play: PlayTurn;
  readonly #onEnd: () => void;
  readonly #killed = new AbortController();
  #state: "idle" | "turning" | "closed" = "idle";

  constructor(play: PlayTurn, onEnd: () => void) {
    this.#play = play;
    this.#onEnd = onEnd;
  }

  turn(prompt: Prompt, signal: AbortSignal): AsyncIterable<EngineEvent> {
    if (this.#state === "turning") throw new RangeError("Cannot run a turn: another one runs in this session");
    if (this.#state === "closed") throw new Error("Cannot run a turn: the session is closed");
    this.#state = "turning";
    return this.#turn(prompt, signal);
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

  async *#turn(prompt: Prompt, signal: AbortSignal): AsyncGenerator<EngineEvent, void, void> {
    const killed = this.#killed.signal;
    try {
      for await (const event of this.#play(prompt, { signal, killed })) {
        if (killed.aborted) return;
        yield event;
      }
    } catch (error) {
      if (!killed.aborted) throw error; // a kill takes from a turn what it notes and reads with
    } finally {
      if (this.#state === "turning") this.#state = "idle";
    }
  }
}
