import type { LanguageModel } from "ai";
import type { ModelFiles } from "./model_tool.ts";

/** A model that can be called, and what it is like. */
export interface OpenedModel {
  readonly kind: "model";
  readonly model: LanguageModel;
  /** Which files it is shown itself. */
  readonly files: ModelFiles;
  /** Tokens that it takes in, its answer included. */
  readonly contextTokens: number;
  /** Takes the key out of a text. */
  readonly scrub: (text: string) => string;
}

/** Why there is no model now. */
export interface ModelUnavailable {
  readonly kind: "unavailable";
  /** A sentence that says what is missing; for the caller. */
  readonly message: string;
}

/** Opens the model; called again when its key was refused. Rejects with the signal's reason. */
export type OpenModel = (signal: AbortSignal) => Promise<OpenedModel | ModelUnavailable>;
