import type { PastTurn } from "@/engine/engine.ts";
import type { CompactLine, EndLine, TranscriptLine, TurnLine } from "./transcript_line.ts";

/** Turns kept in memory; of longer conversations the newest. */
export const turnsKept = 200;
/**
 * Characters of transcript lines kept in memory. Of the newest turn the texts are kept whatever their size, which its
 * request and the limit of a reply bound; its entries only as long as they are not more than this.
 */
export const charsKept = 4 * 1024 * 1024;

/**
 * What a transcript says, put together line by line: the same for lines that are read and lines that are written, so a
 * conversation looks the same before and after it was closed.
 *
 * Bounded by `turnsKept` and `charsKept`.
 */
export class TurnHistory {
  readonly #turns: PastTurn[] = [];
  /** Characters of each of `#turns`. */
  readonly #chars: number[] = [];
  /** The number of each of `#turns`. */
  readonly #numbers: number[] = [];
  #charsTotal = 0;
  #running: RunningTurn | undefined;
  #lastTurn = 0;
  #fence = 0;
  #version = 1;
  #compact: CompactLine | undefined;
  #dropped = false;

  /** The turns that ended, oldest first. A live view. */
  get turns(): readonly PastTurn[] {
    return this.#turns;
  }

  /** The turn without an `end`. */
  get running(): TurnLine | undefined {
    return this.#running?.line;
  }

  /** The number of the newest turn; 0 before the first. */
  get lastTurn(): number {
    return this.#lastTurn;
  }

  /** Characters of the lines that are kept, those of the running turn included. */
  get chars(): number {
    return this.#charsTotal + (this.#running?.chars ?? 0);
  }

  /** The highest fence of an `open` line; 0 before the first. */
  get fence(): number {
    return this.#fence;
  }

  /** The highest version that an `open` line names. */
  get version(): number {
    return this.#version;
  }

  /** The newest summary; the turns that it stands for are not among `turns`. */
  get compact(): CompactLine | undefined {
    return this.#compact;
  }

  /**
   * The number of the last of the oldest `count` turns.
   *
   * @throws {RangeError} If there are not so many, or `count` is 0.
   */
  numberOf(count: number): number {
    const number = this.#numbers[count - 1];
    if (number === undefined) throw new RangeError(`Cannot find turn ${count} of ${this.#turns.length}`);
    return number;
  }

  /** More was said than is kept, so nothing older is of use. */
  get isFull(): boolean {
    return this.#dropped;
  }

  /** Takes the next line; `chars` is its length as written. */
  add(line: TranscriptLine, chars: number): void {
    switch (line.kind) {
      case "open":
        this.#fence = Math.max(this.#fence, line.fence);
        this.#version = Math.max(this.#version, line.v);
        return;
      case "turn":
        return this.#begin(line, chars);
      case "compact":
        return this.#summarise(line);
      case "agent":
        return;
      case "entry":
      case "ask":
      case "end":
        break;
      default:
        return line satisfies never;
    }
    const running = this.#running;
    if (running?.line.turn !== line.turn) return; // damaged: its turn line is not there
    if (line.kind === "entry" && line.part === undefined) return addEntry(running, line.body, chars);
    running.chars += chars;
    if (line.kind === "ask") running.question = line.question;
    else if (line.kind === "end") this.#end(running, line);
    else if (line.part === "prompt") running.prompt.push(String(line.body));
    else running.reply.push(String(line.body));
  }

  #begin(line: TurnLine, chars: number): void {
    // A full file is put aside in mid turn: the new one repeats the turn line.
    if (this.#running?.line.turn === line.turn) return;
    if (this.#running) this.#end(this.#running, { outcome: "failed" });
    this.#lastTurn = Math.max(this.#lastTurn, line.turn);
    this.#running = { line, chars, prompt: [line.text], reply: [], entries: [], entryChars: 0 };
  }

  #end(running: RunningTurn, { outcome, text }: Pick<EndLine, "outcome" | "text">): void {
    this.#running = undefined;
    const { from, taskId } = running.line;
    const answer = text ?? running.reply.join("");
    const reply = outcome === "asked" ? running.question : outcome === "answered" ? answer : undefined;
    this.#turns.push({ from, taskId, text: running.prompt.join(""), entries: running.entries, outcome, reply });
    this.#chars.push(running.chars);
    this.#numbers.push(running.line.turn);
    this.#charsTotal += running.chars;
    while (this.#turns.length > turnsKept || (this.#charsTotal > charsKept && this.#turns.length > 1)) {
      this.#dropOldest();
      this.#dropped = true;
    }
  }

  #summarise(line: CompactLine): void {
    this.#compact = line;
    while (this.#numbers[0] !== undefined && this.#numbers[0] <= line.upToTurn) this.#dropOldest();
  }

  #dropOldest(): void {
    this.#turns.shift();
    this.#numbers.shift();
    this.#charsTotal -= this.#chars.shift() ?? 0;
  }
}

/** Too many entries are as none: half of a turn's calls, or calls without their results, would mislead its reader. */
function addEntry(running: RunningTurn, body: unknown, chars: number): void {
  const had = running.entryChars;
  running.entryChars += chars;
  if (running.entryChars <= charsKept) {
    running.entries.push(body);
    running.chars += chars;
  } else if (had <= charsKept) {
    running.entries.length = 0;
    running.chars -= had;
  }
}

interface RunningTurn {
  readonly line: TurnLine;
  readonly prompt: string[];
  readonly reply: string[];
  readonly entries: unknown[];
  /** Of all entries there were, kept or not. */
  entryChars: number;
  question?: string;
  chars: number;
}
