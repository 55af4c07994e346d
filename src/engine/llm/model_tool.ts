import type { ZodType } from "zod";

/** A tool as a model sees it, and what it does. */
export interface ModelTool<Input = unknown> {
  readonly name: string;
  readonly description: string;
  readonly input: ZodType<Input>;
  /** It changes something: calls of one message that do run one after another, in their order. */
  readonly changes: boolean;
  /** One line about a call for the owner. */
  readonly summary: (input: Input) => string;
  /**
   * Does the work; absent for what ends the turn. What it refuses is an outcome; it rejects only for bugs. `signal` ends
   * it, and who waits for it need not wait for that.
   */
  readonly run?: (input: Input, signal: AbortSignal) => Promise<ToolOutcome>;
}

/** What a tool came to. */
export interface ToolOutcome {
  /** For the model to read. */
  readonly text: string;
  readonly isError?: boolean;
  /** A file that the model is shown behind the results. */
  readonly shows?: ShownFile;
}

/** A file that is shown to a model itself, not only named. */
export interface ShownFile {
  readonly path: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Which files a model takes besides text. */
export interface ModelFiles {
  readonly images: boolean;
  /** PDF. */
  readonly documents: boolean;
}

/** Says whether a model is shown files of a type. */
export function isShown({ images, documents }: ModelFiles, mediaType: string): boolean {
  if (mediaType === "application/pdf") return documents;
  return images && /^image\/(?:png|jpeg|gif|webp)$/.test(mediaType);
}

/** The outcome of what was refused. */
export function refusedOutcome(why: string): ToolOutcome {
  return { text: why, isError: true };
}
