import type { EngineEvent, TurnOutcome } from "@/engine/engine.ts";
import type { SessionPool, TurnRequest } from "@/sessions/session_pool.ts";

/** A turn that a test plays by hand, event by event. */
export interface PlayedTurn {
  readonly request: TurnRequest;
  readonly signal: AbortSignal;
  /** Text of the answer, a piece each. */
  say(...texts: string[]): void;
  emit(event: EngineEvent): void;
  end(outcome: TurnOutcome): void;
  /** Says what was not said, and ends with it. */
  answer(text: string): void;
  ask(question: string, text?: string): void;
  /** Throws `error`, or without one stops without an end. */
  break(error?: Error): void;
  /** From now on an abort does not end the turn. */
  ignoreAbort(): void;
  readonly isOver: boolean;
}

/** Sessions without engines: each turn waits for a test to play it. */
export interface ScriptedSessions extends Pick<SessionPool, "turn" | "kill" | "closeCaller" | "removeTranscript"> {
  /** The next turn that begins, or began and was not taken yet. */
  next(): Promise<PlayedTurn>;
  /** All turns that began. */
  readonly turns: readonly PlayedTurn[];
  /** Scopes that were killed. */
  readonly killed: readonly string[];
  /** Callers whose sessions were to be closed. */
  readonly closed: readonly string[];
  /** Said at each turn's begin, and each end. */
  readonly log: readonly string[];
}

/** Makes sessions that hold every turn. As the real ones they take one turn a scope, and fences that grow. */
export function createScriptedSessions(): ScriptedSessions {
  const turns: Turn[] = [];
  const killed: string[] = [];
  const closed: string[] = [];
  const log: string[] = [];
  const fences = new Map<string, number>();
  const waiting: ((turn: PlayedTurn) => void)[] = [];
  let taken = 0;
  return {
    turns,
    killed,
    closed,
    log,
    next() {
      const turn = turns[taken++];
      return turn === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(turn);
    },
    closeCaller: (caller) => void closed.push(caller),
    removeTranscript: () => Promise.resolve(false),
    kill(scope) {
      killed.push(scope);
      for (const turn of turns) if (turn.request.scope === scope) turn.break();
    },
    async *turn(request, signal) {
      const { scope, fence } = request;
      const isTaken = turns.some((turn) => turn.request.scope === scope && !turn.isOver);
      if (isTaken) throw new RangeError(`Cannot run a turn in ${scope}: another one runs`);
      if (fence <= (fences.get(scope) ?? 0)) {
        throw new RangeError(`Cannot run a turn in ${scope}: fence ${fence} is old`);
      }
      fences.set(scope, fence);
      const turn = new Turn(request, signal);
      turns.push(turn);
      log.push(`turn ${request.text}`);
      if (waiting.length > 0) {
        taken++;
        waiting.shift()!(turn);
      }
      try {
        yield* turn.events();
      } finally {
        log.push(`over ${request.text}`);
        turn.isOver = true;
      }
    },
  };
}

class Turn implements PlayedTurn {
  readonly request: TurnRequest;
  readonly signal: AbortSignal;
  readonly #queue: (EngineEvent | { readonly kind: "break"; readonly error: Error | undefined })[] = [];
  #wake = Promise.withResolvers<void>();
  #ignoresAbort = false;
  #said = "";
  isOver = false;

  constructor(request: TurnRequest, signal: AbortSignal) {
    this.request = request;
    this.signal = signal;
    signal.addEventListener("abort", () => {
      if (!this.#ignoresAbort) this.end({ kind: "aborted" });
    }, { once: true });
  }

  say(...texts: string[]): void {
    for (const text of texts) this.emit({ kind: "text", text });
    this.#said += texts.join("");
  }

  emit(event: EngineEvent): void {
    this.#put(event);
  }

  end(outcome: TurnOutcome): void {
    this.#put({ kind: "end", outcome });
  }

  answer(text: string): void {
    if (!this.#said.endsWith(text)) this.say(text);
    this.end({ kind: "answered", text, truncated: false });
  }

  ask(question: string, text = ""): void {
    this.end({ kind: "asked", question, text });
  }

  break(error?: Error): void {
    this.#put({ kind: "break", error });
  }

  ignoreAbort(): void {
    this.#ignoresAbort = true;
  }

  async *events(): AsyncGenerator<EngineEvent, void, void> {
    while (true) {
      const event = this.#queue.shift();
      if (event === undefined) {
        await this.#wake.promise;
        this.#wake = Promise.withResolvers();
      } else if (event.kind === "break") {
        if (event.error !== undefined) throw event.error;
        return;
      } else {
        if (event.kind === "end") this.isOver = true;
        yield event;
        if (event.kind === "end") return;
      }
    }
  }

  #put(event: EngineEvent | { readonly kind: "break"; readonly error: Error | undefined }): void {
    this.#queue.push(event);
    this.#wake.resolve();
  }
}
