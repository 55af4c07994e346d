import type { Engine, EngineEvent, Prompt, SessionOptions } from "@/engine/engine.ts";
import { createTurnEngine } from "@/engine/turn_sessions.ts";
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
  const model = new KeptModel(options.openModel);
  return createTurnEngine(
    "llm",
    (session) => (prompt, signals) => playTurn(prompt, { ...options, ...signals, session, model }),
  );
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

interface PlayOptions extends LlmEngineOptions {
  readonly session: SessionOptions;
  readonly model: KeptModel;
  readonly signal: AbortSignal;
  readonly killed: AbortSignal;
}

async function* playTurn(prompt: Prompt, options: PlayOptions): AsyncGenerator<EngineEvent, void, void> {
  const { session: { conversation, programs }, model, clock, silenceMs, stepsMax = stepsMaxDefault } = options;
  const left = new AbortController();
  try {
    const signal = AbortSignal.any([options.signal, options.killed, left.signal]);
    const { LlmTurn } = await import("./llm_turn.ts");
    const turn = new LlmTurn({
      ...{ prompt, conversation, programs, clock, silenceMs, stepsMax, signal },
      openModel: model.open,
      onKeyRefused: () => model.forget(),
    });
    yield { kind: "end", outcome: yield* turn.play() };
  } finally {
    left.abort(); // who stops reading wants no more of it
  }
}
