import type { Clock } from "@/time/clock.ts";
import type { Engine } from "./engine.ts";
import { FauxTurn } from "./faux_turn.ts";
import { createTurnEngine } from "./turn_sessions.ts";

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
  return createTurnEngine(
    "faux",
    ({ conversation }) => (prompt, signals) => new FauxTurn({ prompt, ...signals, clock, conversation }).play(),
  );
}
