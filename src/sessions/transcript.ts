import { join } from "node:path";
import { getLogger } from "@logtape/logtape";
import type { EngineKind, PastTurn, TurnOutcome } from "@/engine/engine.ts";
import { type Clock, isoTime } from "@/time/clock.ts";
import type { Disk } from "@/workspace/disk.ts";
import { keptFolder } from "./session_scope.ts";
import { TranscriptFile } from "./transcript_file.ts";
import {
  type AgentLine,
  type CompactLine,
  encodeLine,
  type OpenLine,
  scrubLine,
  shortText,
  splitEnd,
  splitTurn,
  type TokenUsage,
  type TranscriptLine,
  type TurnLine,
} from "./transcript_line.ts";
import { TranscriptParts } from "./transcript_parts.ts";
import { TurnHistory } from "./turn_history.ts";

const logger = getLogger(["a2a", "sessions"]);

/** Where the transcripts of a workspace are. */
export interface TranscriptsOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  /** `.volcanic/sessions` of the workspace, absolute; made when missing. */
  readonly folder: string;
  readonly hostVersion: string;
  /** A file that would get longer is put aside first; 64 MiB. */
  readonly fileBytesMax?: number;
}

/** Whose transcript is opened, and with which right. */
export interface TranscriptOptions {
  readonly scope: string;
  readonly caller?: string;
  readonly contextId?: string;
  readonly engine: EngineKind;
  readonly model?: string;
  /** The right to write: higher than that of every writer before, over restarts too. */
  readonly fence: number;
  /** Applied to what people, models and tools wrote, before it is written; identity by default. */
  readonly scrub?: (text: string) => string;
}

/** A writer came with a fence that is not the highest, or is no longer: it must write nothing. */
export class FenceRefused extends Error {
  override readonly name = "FenceRefused";
}

/**
 * The transcripts of one workspace, and who may write each: at most one writer a scope (data-model.md 7,
 * state-machines.md 2). Only the holder of `host.lock` has one.
 */
export class Transcripts {
  readonly #options: SharedOptions;
  readonly #writers = new Map<string, Transcript>();

  constructor(options: TranscriptsOptions) {
    this.#options = { ...options, parts: new TranscriptParts(options) };
  }

  /**
   * Opens a scope's transcript to write, making the file when it is missing. What a crash left is repaired: a torn last
   * line is cut, a turn without an end is closed as failed, "server restarted".
   *
   * A writer with a lower fence loses the scope at once; what it handed over before is written first.
   *
   * @throws {FenceRefused} If `options.fence` is not higher than that of the writer there is and of all before it.
   */
  async open(options: TranscriptOptions): Promise<Transcript> {
    const before = this.#writers.get(options.scope);
    if (before && options.fence <= before.fence) throw refused(options.scope, options.fence, before.fence);
    const transcript = new Transcript(this.#options, options, () => {
      if (this.#writers.get(options.scope) === transcript) this.#writers.delete(options.scope);
    });
    this.#writers.set(options.scope, transcript);
    await transcript.start(before);
    return transcript;
  }

  /** Says whether nobody writes the transcript of a scope. */
  isClosed(scope: string): boolean {
    return !this.#writers.has(scope);
  }

  /** Removes these files of a scope whose transcript is closed and is not opened meanwhile. Rejects with the disk's error. */
  async remove(scope: string, files: readonly string[]): Promise<void> {
    const { disk, folder, parts } = this.#options;
    await disk.remove(keptFolder(folder, scope));
    for (const name of files) await disk.remove(join(folder, name));
    await parts.removed(scope);
  }
}

/** What all transcripts of a workspace have in common. */
interface SharedOptions extends TranscriptsOptions {
  readonly parts: TranscriptParts;
}

/** The fields of a `turn` line that its writer does not know by itself. */
export type TurnFields = Omit<TurnLine, "kind" | "at" | "turn">;

/** How a turn ended, for its last lines; the times and numbers are added. */
export interface EndFields {
  readonly outcome: TurnOutcome["kind"];
  readonly text?: string;
  /** Written as an `ask` line before the end. */
  readonly question?: string;
  readonly truncated?: boolean;
  readonly usage?: TokenUsage;
  readonly reason?: string;
}

/**
 * One scope's transcript, open to write. Lines are written in the order of the calls, whole or not at all. When a write
 * fails its promise rejects with the disk's error; close the transcript then, and open it again to see what is on disk.
 */
export class Transcript {
  readonly #shared: SharedOptions;
  readonly #options: TranscriptOptions;
  readonly #onClosed: () => void;
  readonly #scrub: (text: string) => string;
  #history = new TurnHistory();
  #file: TranscriptFile | undefined;
  #fence: number;
  /** Why nothing more is taken. */
  #ended: Error | undefined;
  /** The last thing that was asked for; never rejects. */
  #tail: Promise<void> = Promise.resolve();

  /** Use `Transcripts.open`. */
  constructor(shared: SharedOptions, options: TranscriptOptions, onClosed: () => void) {
    this.#shared = shared;
    this.#options = options;
    this.#onClosed = onClosed;
    this.#scrub = options.scrub ?? ((text) => text);
    this.#fence = options.fence;
  }

  get fence(): number {
    return this.#fence;
  }

  /** The turns that ended, oldest first, the newest `turnsKept` of them. A live view. */
  get turns(): readonly PastTurn[] {
    return this.#history.turns;
  }

  /** Characters of lines that are in memory. */
  get chars(): number {
    return this.#history.chars;
  }

  /** The newest summary of older turns. */
  get compact(): CompactLine | undefined {
    return this.#history.compact;
  }

  /**
   * Goes on with the fence of a newer lease, without opening again.
   *
   * @throws {FenceRefused} If `fence` is lower than the one it has.
   */
  adopt(fence: number): void {
    if (fence < this.#fence) throw refused(this.#options.scope, fence, this.#fence);
    this.#fence = fence;
  }

  /** Opens the file behind `before`, the writer it replaces. Called once, by `Transcripts`. */
  start(before: Transcript | undefined): Promise<void> {
    const { scope } = this.#options;
    const why = new FenceRefused(`Cannot write to the transcript of ${scope}: a newer writer has it`);
    const gone = before === undefined ? Promise.resolve() : before.#retire(why);
    const started = this.#queue(async () => {
      await gone;
      await this.#open();
    });
    return started.catch(async (error) => {
      await this.close();
      throw error;
    });
  }

  /** Begins a turn: when this resolves its line is on disk. */
  beginTurn(fields: TurnFields): Promise<void> {
    return this.#queue(async () => {
      const line = this.#scrubbed({ kind: "turn", at: this.#now(), turn: this.#history.lastTurn + 1, ...fields });
      await this.#write(splitTurn(line as TurnLine), { flush: true });
    });
  }

  /**
   * Adds an entry in the engine's own form to the running turn; it is on disk when the turn ends.
   *
   * @throws {RangeError} Outside of a turn, and for an entry over 1 MiB.
   */
  note(body: unknown): Promise<void> {
    return this.#queue(async () => {
      const turn = this.#history.running?.turn;
      if (turn === undefined) throw new RangeError("Cannot note an entry: no turn runs");
      await this.#write([this.#scrubbed({ kind: "entry", at: this.#now(), turn, body })]);
    });
  }

  /**
   * Puts a summary in the place of the oldest `count` turns; it is on disk when the turn ends.
   *
   * @throws {RangeError} Outside of a turn, for a summary over 1 MiB, and if there are not so many turns.
   */
  summarise(count: number, summary: string): Promise<void> {
    return this.#queue(async () => {
      if (this.#history.running === undefined) throw new RangeError("Cannot summarise turns: no turn runs");
      const upToTurn = this.#history.numberOf(count);
      await this.#write([this.#scrubbed({ kind: "compact", at: this.#now(), upToTurn, summary })]);
    });
  }

  /** Adds a line that belongs to no turn; it is on disk when the next turn begins or ends. */
  add(line: Omit<CompactLine, "at"> | Omit<AgentLine, "at">): Promise<void> {
    return this.#queue(() => this.#write([this.#scrubbed({ ...line, at: this.#now() })]));
  }

  /** Ends the running turn: when this resolves its end is on disk. Does nothing when no turn runs. */
  endTurn({ question, text, reason, ...fields }: EndFields): Promise<void> {
    return this.#queue(async () => {
      const turn = this.#history.running?.turn;
      if (turn === undefined) return;
      const at = this.#now();
      const lines: TranscriptLine[] = [];
      if (question !== undefined) {
        lines.push(this.#scrubbed({ kind: "ask", at, turn, question: shortText(question) }));
      }
      const cut = reason === undefined ? undefined : shortText(reason);
      const end = this.#scrubbed({ kind: "end", at, turn, ...fields, text, reason: cut });
      if (end.kind === "end") lines.push(...splitEnd(end));
      await this.#write(lines, { flush: true });
    });
  }

  /** Takes nothing more, writes what was handed over, frees the file and the scope. */
  close(): Promise<void> {
    return this.#retire(new Error(`Cannot write to the transcript of ${this.#options.scope}: it is closed`));
  }

  async #retire(why: Error): Promise<void> {
    this.#ended ??= why;
    await this.#tail;
    this.#file?.[Symbol.dispose]();
    this.#file = undefined;
    this.#onClosed();
  }

  #queue(work: () => Promise<void>): Promise<void> {
    if (this.#ended) return Promise.reject(this.#ended);
    const done = this.#tail.then(work);
    this.#tail = done.catch(() => {});
    return done;
  }

  async #open(): Promise<void> {
    const { scope } = this.#options;
    const { file, history, damaged } = await TranscriptFile.open({ ...this.#shared, scope });
    this.#file = file;
    this.#history = history;
    if (damaged > 0) logger.warning("Left out {damaged} unreadable lines of transcript {scope}", { damaged, scope });
    if (history.version > 1) {
      throw new Error(`Cannot open the transcript of ${scope}: a newer version of this program wrote it`);
    }
    if (this.#fence <= history.fence) throw refused(scope, this.#fence, history.fence);
    const lines: TranscriptLine[] = [this.#openLine()];
    const turn = history.running?.turn;
    if (turn !== undefined) {
      lines.push({ kind: "end", at: this.#now(), turn, outcome: "failed", reason: "server restarted" });
    }
    await this.#write(lines);
  }

  /** Writes lines as one piece and makes them part of the history. */
  async #write(lines: readonly TranscriptLine[], { flush = false } = {}): Promise<void> {
    const file = this.#file;
    if (file === undefined) throw new Error(`Cannot write to the transcript of ${this.#options.scope}: it is not open`);
    const texts = lines.map(encodeLine);
    if (!file.fits(texts)) await this.#startNewFile(file);
    await file.append(texts);
    if (flush) await file.flush();
    lines.forEach((line, index) => this.#history.add(line, texts[index]!.length));
  }

  /** A new file begins with `open`, the last `compact`, and the turn that runs, so that it can be read by itself. */
  async #startNewFile(file: TranscriptFile): Promise<void> {
    const { compact, running } = this.#history;
    const head = [this.#openLine(), compact, running].filter((line) => line !== undefined);
    await file.startNew(head.map(encodeLine));
  }

  #openLine(): OpenLine {
    const { scope, caller, contextId, engine, model } = this.#options;
    const { hostVersion } = this.#shared;
    const fence = this.#fence;
    return { kind: "open", v: 1, at: this.#now(), scope, caller, contextId, engine, model, fence, hostVersion };
  }

  #scrubbed(line: TranscriptLine): TranscriptLine {
    return scrubLine(line, this.#scrub);
  }

  #now(): string {
    return isoTime(this.#shared.clock.now());
  }
}

function refused(scope: string, fence: number, last: number): FenceRefused {
  return new FenceRefused(`Cannot write to the transcript of ${scope}: fence ${fence} is not higher than ${last}`);
}
