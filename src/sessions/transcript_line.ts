import type { EngineKind, Prompt, PromptFile, TurnOutcome } from "@/engine/engine.ts";

/** One line of a transcript (data-model.md 7). `at` is wall time as ISO 8601, `turn` counts from 1 in a scope. */
export type TranscriptLine = OpenLine | TurnLine | EntryLine | AskLine | EndLine | CompactLine | AgentLine;

/** A writer begins: the first line of a file, and one at each later opening. */
export interface OpenLine {
  readonly kind: "open";
  readonly v: 1;
  readonly at: string;
  readonly scope: string;
  readonly caller?: string;
  readonly contextId?: string;
  readonly engine: EngineKind;
  readonly model?: string;
  readonly fence: number;
  readonly hostVersion: string;
}

/** A turn begins; written before the engine sees the prompt. */
export interface TurnLine {
  readonly kind: "turn";
  readonly at: string;
  readonly turn: number;
  readonly runId: string;
  readonly taskId?: string;
  readonly messageId?: string;
  readonly from: Prompt["from"];
  readonly deliveryId?: string;
  readonly text: string;
  readonly files: readonly PromptFile[];
  readonly hops: number;
}

/**
 * A message, tool call or tool result in the engine's own form; or, with `part`, a piece of a long text.
 *
 * `part` is outside of `body`, so nothing that an engine notes can look like a piece.
 */
export interface EntryLine {
  readonly kind: "entry";
  readonly at: string;
  readonly turn: number;
  /** `prompt`: goes behind the text of the `turn` line. `reply`: part of the text that the `end` line left out. */
  readonly part?: "prompt" | "reply";
  readonly body: unknown;
}

/** The question that a turn ends with. */
export interface AskLine {
  readonly kind: "ask";
  readonly at: string;
  readonly turn: number;
  readonly callId?: string;
  readonly question: string;
}

/** A turn ended; a long text is left out and stands in `entry` lines before. */
export interface EndLine {
  readonly kind: "end";
  readonly at: string;
  readonly turn: number;
  readonly outcome: TurnOutcome["kind"];
  readonly text?: string;
  readonly truncated?: boolean;
  readonly usage?: TokenUsage;
  readonly reason?: string;
}

/** A summary that stands for the turns up to `upToTurn`. */
export interface CompactLine {
  readonly kind: "compact";
  readonly at: string;
  readonly upToTurn: number;
  readonly summary: string;
}

/** The session of an agent that was started, resumed or loaded (acp). */
export interface AgentLine {
  readonly kind: "agent";
  readonly at: string;
  readonly sessionId: string;
  readonly how: "new" | "resume" | "load";
}

/** Tokens of a model, summed over a turn. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** The longest line in bytes, its LF included (data-model.md 7). */
export const lineBytesMax = 1024 * 1024;

/**
 * A text of more characters is stored in pieces of this many. JSON may write a character in six bytes, so a piece is at
 * most three quarters of a line.
 */
export const pieceCharsMax = 128 * 1024;

/** A question or a reason of more characters is cut, and says so. */
const shortTextCharsMax = 64 * 1024;

/**
 * Returns a turn's lines: the `turn` line and, when its text is long, the rest of it as `entry` lines behind it.
 */
export function splitTurn(line: TurnLine): readonly TranscriptLine[] {
  const [first = "", ...rest] = pieces(line.text);
  const { at, turn } = line;
  return [
    { ...line, text: first },
    ...rest.map((body) => ({ kind: "entry", at, turn, part: "prompt", body }) as const),
  ];
}

/** Returns a turn's last lines: the `end` line and, when its text is long, all of it as `entry` lines before it. */
export function splitEnd(line: EndLine): readonly TranscriptLine[] {
  const { at, turn, text } = line;
  if (text === undefined || text.length <= pieceCharsMax) return [line];
  return [
    ...pieces(text).map((body) => ({ kind: "entry", at, turn, part: "reply", body }) as const),
    { ...line, text: undefined },
  ];
}

/** Returns `text`, cut to what a question or a reason may have and marked when it was longer. */
export function shortText(text: string): string {
  return text.length <= shortTextCharsMax ? text : `${text.slice(0, shortTextCharsMax)} (cut)`;
}

/**
 * Returns a line as it is written, without its LF.
 *
 * @throws {RangeError} If it is longer than `lineBytesMax`.
 */
export function encodeLine(line: TranscriptLine): string {
  const text = JSON.stringify(line);
  // Three bytes a character at most: most lines need no exact count.
  if (text.length * 3 >= lineBytesMax && new TextEncoder().encode(text).length >= lineBytesMax) {
    throw new RangeError(`Cannot write a transcript line of kind ${line.kind}: it is over ${lineBytesMax} bytes`);
  }
  return text;
}

/** Reads a line that `encodeLine` wrote; undefined when it is none of ours, as after damage to the file. Never throws. */
export function parseLine(text: string): TranscriptLine | undefined {
  let line: TranscriptLine;
  try {
    line = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof line !== "object" || line === null) return undefined;
  switch (line.kind) {
    case "open":
      return Number.isFinite(line.fence) && Number.isInteger(line.v) ? line : undefined;
    case "turn":
      return Number.isInteger(line.turn) && typeof line.text === "string" ? line : undefined;
    case "entry":
      return Number.isInteger(line.turn) ? line : undefined;
    case "ask":
      return Number.isInteger(line.turn) && typeof line.question === "string" ? line : undefined;
    case "end":
      return Number.isInteger(line.turn) && typeof line.outcome === "string" ? line : undefined;
    case "compact":
    case "agent":
      return line;
    default:
      return line satisfies never, undefined;
  }
}

/** Returns the line with `scrub` over everything that people, models and tools wrote. */
export function scrubLine(line: TranscriptLine, scrub: (text: string) => string): TranscriptLine {
  switch (line.kind) {
    case "turn":
      return { ...line, text: scrub(line.text) };
    case "entry":
      return { ...line, body: scrubDeep(line.body, scrub) };
    case "ask":
      return { ...line, question: scrub(line.question) };
    case "end": {
      const { text, reason } = line;
      return { ...line, text: text && scrub(text), reason: reason && scrub(reason) };
    }
    case "compact":
      return { ...line, summary: scrub(line.summary) };
    case "open":
    case "agent":
      return line;
    default:
      return line satisfies never;
  }
}

function scrubDeep(value: unknown, scrub: (text: string) => string): unknown {
  if (typeof value === "string") return scrub(value);
  if (Array.isArray(value)) return value.map((item) => scrubDeep(item, scrub));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, scrubDeep(item, scrub)]));
}

function pieces(text: string): readonly string[] {
  const count = Math.ceil(text.length / pieceCharsMax);
  return Array.from({ length: count }, (_, index) => text.slice(index * pieceCharsMax, (index + 1) * pieceCharsMax));
}
