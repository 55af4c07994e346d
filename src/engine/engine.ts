import type { SessionPrograms } from "./programs.ts";
import type { SessionFiles } from "./session_files.ts";

/**
 * What thinks. Knows nothing of A2A, tasks or callers; knows a scope, a conversation and the tools it is lent.
 *
 * The session layer keeps the transcript: it writes the `turn` line before an engine sees the prompt and the `end` line,
 * flushed, before anyone sees the end. An engine writes only entries in its own form.
 */
export interface Engine extends AsyncDisposable {
  readonly kind: EngineKind;
  /**
   * Opens or resumes the conversation of `options.scope`. At most one open session a scope (the session layer sees to it).
   *
   * @throws {EngineUnavailable} No box, no login, command missing: nothing was run and a retry may help.
   */
  open(options: SessionOptions): Promise<EngineSession>;
}

/** The engines there are (product.md §8). */
export type EngineKind = "faux" | "llm" | "acp" | "exec";

/** Thrown by `Engine.open` when the engine cannot work now. The message is for the caller: no path, no key, no cause. */
export class EngineUnavailable extends Error {
  override readonly name = "EngineUnavailable";
}

/** What an engine is told when it opens or resumes a session. */
export interface SessionOptions {
  readonly scope: string;
  /** `isolated`: everything that the session starts runs in the box, or the session is not opened. */
  readonly trust: "owner" | "isolated";
  readonly conversation: Conversation;
  /** Starts the programs of this session; absent: it may start none. */
  readonly programs?: SessionPrograms;
}

/** What was said in a scope so far, and the place for what the engine wants to find again. */
export interface Conversation {
  /** The turns that ended, oldest first, without the one that runs. Grows as turns end. */
  readonly turns: readonly PastTurn[];
  /** What an engine made of the turns before `turns`, when it put a summary in their place. */
  readonly summary?: string;
  /**
   * Adds one message, tool call or tool result in the engine's own form to the running turn. Resolves when the line is
   * handed to the system; it is on disk when the turn ends. Rejects after `kill` and outside a turn.
   */
  note(entry: unknown): Promise<void>;
  /**
   * Puts `summary` in the place of the oldest `count` of `turns` and of the summary there is. Resolves when the line is
   * handed to the system, and `turns` begins behind them. Rejects after `kill` and outside a turn.
   *
   * @throws {RangeError} If there are not so many turns.
   */
  compact(count: number, summary: string): Promise<void>;
}

/** A turn that ended, as a later turn finds it. */
export interface PastTurn {
  readonly from: Prompt["from"];
  readonly taskId?: string;
  readonly text: string;
  readonly entries: readonly unknown[];
  readonly outcome: TurnOutcome["kind"];
  /** The answer, or the question. */
  readonly reply?: string;
}

/** One scope's conversation, open in an engine. */
export interface EngineSession {
  /**
   * Runs one turn. Yields events in order and exactly one `end`, last. Does not throw for what a model, a network or a
   * tool did (that is `end` with `failed`), only for bugs. One turn at a time: a second call throws RangeError.
   *
   * After `signal` aborts it must end with `aborted` soon; who runs it waits 5 s and then calls `kill`. After `kill`
   * nothing more need come, not even an `end`.
   */
  turn(prompt: Prompt, signal: AbortSignal): AsyncIterable<EngineEvent>;
  /** Ends whatever still runs, children included, without waiting; notes are refused from now on. */
  kill(): void;
  /**
   * Frees memory and processes; the conversation stays on disk and `Engine.open` resumes it. Never during a turn, unless
   * the session was killed.
   */
  close(): Promise<void>;
}

/** What a turn is about: whose words, with which files, tools and instructions. */
export interface Prompt {
  readonly runId: string;
  /** Absent in the owner's own turns. */
  readonly taskId?: string;
  /** As the caller named its message; it is no key of ours and may come twice. */
  readonly messageId?: string;
  readonly from: "owner" | "caller" | "delivery";
  /** The words of whoever is `from`, as they are. */
  readonly text: string;
  /** What a model is given: `text` inside a frame that says who speaks and what not to obey (product.md §6). */
  readonly framed: string;
  /** The workspace's instructions, persona and memory, read for this turn. */
  readonly instructions: string;
  /** Files that came with the message, by path from the workspace's root. */
  readonly files: readonly PromptFile[];
  readonly hops: number;
  /** Lent for this turn; after its end each rejects. */
  readonly tools: SessionTools;
}

/** A file that came with a message: where it is, what its sender says it is, its size. */
export interface PromptFile {
  readonly path: string;
  readonly mediaType: string;
  readonly bytes: number;
}

/** Tools lent to a turn. A refusal is a value: its `why` is for the model to read. */
export interface SessionTools {
  /** Sends a file of the workspace to the caller. Copies it now (confined, regular, size checked): a later change does not matter. */
  send?(path: string): Promise<ToolResult>;
  /** The workspace's files, as the session may see and change them. */
  readonly files?: SessionFiles;
  /** Makes or replaces a file in the session's own folder (`work/<caller>/`); `path` in the result is from the workspace's root. */
  write?(name: string, bytes: Uint8Array): Promise<ToolResult & { readonly path?: string }>;
  /** Records the question; the engine must then end its turn. The last question of a turn counts. */
  requestInput?(question: string): void;
  /** Tells the owner. Resolves once the notice is on disk. */
  notifyOwner?(text: string): Promise<ToolResult>;
}

/** What came of a tool's work. */
export type ToolResult =
  | { readonly kind: "done" }
  | { readonly kind: "refused"; readonly why: string };

/** What a turn yields, in order; `end` is the last. */
export type EngineEvent =
  /** Part of the answer. */
  | { readonly kind: "text"; readonly text: string }
  /** The assistant begins a new message: text that follows replaces what this turn showed before. */
  | { readonly kind: "message" }
  /** Shown to the owner, never an answer. */
  | { readonly kind: "aside"; readonly text: string; readonly of: "reasoning" | "notice" }
  /** One scrubbed line for the owner about a tool at work. */
  | { readonly kind: "tool"; readonly name: string; readonly phase: "start" | "end"; readonly summary: string }
  | { readonly kind: "usage"; readonly inputTokens: number; readonly outputTokens: number }
  | { readonly kind: "end"; readonly outcome: TurnOutcome };

/** How a turn ended. */
export type TurnOutcome =
  /** `text` is the last message in full. Empty text without a file is a failure, upstream. */
  | { readonly kind: "answered"; readonly text: string; readonly truncated: boolean }
  | { readonly kind: "asked"; readonly question: string; readonly text: string }
  /** `message` is for the caller, scrubbed; `cause` is for the log and never leaves. */
  | { readonly kind: "failed"; readonly message: string; readonly cause?: unknown }
  | { readonly kind: "aborted" };
