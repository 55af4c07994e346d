import type { Clock } from "@/time/clock.ts";
import { letOthersRun } from "@/time/event_loop.ts";
import { openConfined } from "./confined_files.ts";
import { listConfined, type Listed } from "./confined_folder.ts";
import { type Confinement, isRefusal, type Refusal, refuse } from "./confined_path.ts";
import type { LinePattern } from "./line_pattern.ts";
import { cutLine, textOf } from "./text_window.ts";

/** What is looked for, where, and until when. */
export interface FolderSearchOptions {
  readonly pattern: LinePattern;
  /** A folder, or one file; "" is the root. */
  readonly path: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** One line that matches. */
export interface FoundLine {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** Cut when it is long. */
  readonly text: string;
}

/** What was found, in the order of paths. */
export interface Found {
  readonly kind: "found";
  readonly matches: readonly FoundLine[];
  /** There is more than was looked at, or than is here. */
  readonly isCut: boolean;
}

/** The limits of one search. */
export const searchLimits = {
  matches: 200,
  /** A larger file is passed over. */
  fileBytes: 1024 * 1024,
  /** Files and folders that are looked at. */
  entries: 50_000,
  bytes: 256 * 1024 * 1024,
  lineChars: 300,
  depth: 40,
} as const;

/**
 * Looks for lines in the text files below a folder, except in `.git`, `node_modules`, behind links, and in what is hidden.
 *
 * It gives way to other work every few milliseconds. Rejects with the signal's reason once that aborts, and when the disk fails.
 */
export async function searchFolder(within: Confinement, options: FolderSearchOptions): Promise<Found | Refusal> {
  const search = new Search(within, options);
  return await search.run();
}

const skippedNames = new Set([".git", "node_modules"]);
const sliceMs = 8;

class Search {
  readonly #within: Confinement;
  readonly #options: FolderSearchOptions;
  readonly #matches: FoundLine[] = [];
  #entriesLeft: number = searchLimits.entries;
  #bytesLeft: number = searchLimits.bytes;
  #isCut = false;
  #sliceEnd: number;

  constructor(within: Confinement, options: FolderSearchOptions) {
    this.#within = within;
    this.#options = options;
    this.#sliceEnd = options.clock.elapsed() + sliceMs;
  }

  async run(): Promise<Found | Refusal> {
    const { path } = this.#options;
    await this.#pause();
    const listed = await listConfined(this.#within, path, { isProven: false });
    const problem = isRefusal(listed) ? await this.#inFile(path, "inside") : await this.#inFolder(listed, 0);
    return isRefusal(problem) ? problem : { kind: "found", matches: this.#matches, isCut: this.#isCut };
  }

  async #inFolder({ path, entries }: Listed, depth: number): Promise<void> {
    for (const { name, kind, isLink } of entries) {
      if (this.#isOver) return this.#cut();
      if (isLink || (kind === "folder" && skippedNames.has(name))) continue;
      this.#entriesLeft--;
      await this.#pause();
      const inner = path === "" ? name : `${path}/${name}`;
      if (kind === "file") {
        await this.#inFile(inner, "none");
        continue;
      }
      if (depth === searchLimits.depth) return this.#cut();
      const listed = await listConfined(this.#within, inner, { isProven: false });
      if (!isRefusal(listed)) await this.#inFolder(listed, depth + 1); // else it was removed, or may not be read
    }
  }

  /** Looks into one file; gives why it cannot. */
  async #inFile(path: string, links: "inside" | "none"): Promise<Refusal | undefined> {
    const opened = await openConfined(this.#within, path, { links });
    if (isRefusal(opened)) return opened;
    using file = opened.file;
    if (file.stamp.bytes > searchLimits.fileBytes) return refuse("it has over 1 MiB");
    const bytes = await file.read();
    this.#bytesLeft -= bytes.length;
    const text = textOf(bytes);
    if (text === undefined) return refuse("it is no text in UTF-8");
    await this.#inText(opened.path, text);
    return undefined;
  }

  async #inText(path: string, text: string): Promise<void> {
    let line = 0;
    for (let at = 0; at < text.length;) {
      const end = text.indexOf("\n", at);
      const whole = text.slice(at, end === -1 ? text.length : end).replace(/\r$/, "");
      line++;
      at = end === -1 ? text.length : end + 1;
      if (this.#options.clock.elapsed() >= this.#sliceEnd) await this.#pause();
      if (!this.#options.pattern.matches(whole)) continue;
      if (this.#matches.length === searchLimits.matches) return this.#cut();
      this.#matches.push({ path, line, text: cutLine(whole, searchLimits.lineChars) });
    }
  }

  get #isOver(): boolean {
    return this.#isCut || this.#entriesLeft === 0 || this.#bytesLeft <= 0;
  }

  #cut(): void {
    this.#isCut = true;
  }

  async #pause(): Promise<void> {
    this.#options.signal.throwIfAborted();
    if (this.#options.clock.elapsed() < this.#sliceEnd) return;
    await letOthersRun();
    this.#sliceEnd = this.#options.clock.elapsed() + sliceMs;
    this.#options.signal.throwIfAborted();
  }
}
