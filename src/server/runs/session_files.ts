import { relative, resolve } from "node:path";
import type {
  ChangeResult,
  FilesRefused,
  LineRange,
  ListResult,
  ReadResult,
  SearchQuery,
  SearchResult,
  SessionFiles,
  TextChange,
} from "@/engine/session_files.ts";
import type { Random } from "@/random.ts";
import type { Clock } from "@/time/clock.ts";
import { type CallerMap, confinementOf } from "@/workspace/caller_map.ts";
import { openConfined, writeConfined } from "@/workspace/confined_files.ts";
import { listConfined } from "@/workspace/confined_folder.ts";
import { type Confinement, isRefusal, type Refusal, refuse, unseen } from "@/workspace/confined_path.ts";
import { type Disk, isDiskFull, isMissing, isPathTrouble, type ReadableFile } from "@/workspace/disk.ts";
import { searchFolder } from "@/workspace/folder_search.ts";
import { parseLinePattern } from "@/workspace/line_pattern.ts";
import { shownMediaType } from "@/workspace/media_types.ts";
import { makeOwnedFolder } from "@/workspace/owned_folder.ts";
import { plainLine } from "@/workspace/plain_line.ts";
import { editText } from "@/workspace/text_edit.ts";
import { readTextWindow, textOf } from "@/workspace/text_window.ts";

/** What the files of one turn are lent from. */
export interface CallerFilesOptions {
  readonly map: CallerMap;
  readonly disk: Disk;
  readonly random: Random;
  readonly clock: Clock;
  /** The largest file that is written. */
  readonly fileBytesMax: number;
}

/** The limits of one look. */
export const lookLimits = {
  lines: 2000,
  textBytes: 64 * 1024,
  lineChars: 2000,
  /** A larger text is not read to its end, so its lines cannot be counted. */
  countedBytes: 64 * 1024 * 1024,
  /** Of an image or a document. */
  shownBytes: 5 * 1024 * 1024,
  names: 1000,
} as const;

/**
 * The workspace's files for one turn of a caller, as its map has them (product.md §6). Links are followed to read when they stay
 * inside, and never to write. Changes of one turn happen one after another, so that two edits of a file both count.
 */
export class CallerFiles implements SessionFiles {
  readonly #options: CallerFilesOptions;
  readonly #within: Confinement;
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(options: CallerFilesOptions) {
    this.#options = options;
    this.#within = confinementOf(options.map, options);
  }

  async read(path: string, range?: LineRange): Promise<ReadResult> {
    return await this.#answer("read", path, async (inside) => {
      if (range !== undefined && !isRange(range)) return refuse("lines are counted from 1, and at least one is read");
      const opened = await openConfined(this.#within, inside);
      if (isRefusal(opened)) return opened;
      using file = opened.file;
      return await shown(file, range ?? { from: 1, count: lookLimits.lines });
    });
  }

  async write(path: string, text: string): Promise<ChangeResult> {
    return await this.#change("write", path, (inside) => this.#put(inside, text));
  }

  async edit(path: string, change: TextChange): Promise<ChangeResult> {
    return await this.#change("edit", path, async (inside) => {
      const before = await this.#textOf(inside);
      if (typeof before !== "string") return before;
      const edited = editText(before, change);
      return isRefusal(edited) ? edited : await this.#put(inside, edited.text);
    });
  }

  async list(path: string): Promise<ListResult> {
    return await this.#answer("list", path, async (inside) => {
      const listed = await listConfined(this.#within, inside);
      if (isRefusal(listed)) return listed;
      const names = listed.entries.map(({ name, kind }) => kind === "folder" ? `${name}/` : name).sort();
      return { kind: "entries", names: names.slice(0, lookLimits.names), isCut: names.length > lookLimits.names };
    });
  }

  async search({ pattern, path }: SearchQuery, signal: AbortSignal): Promise<SearchResult> {
    return await this.#answer("search", path, async (inside) => {
      const parsed = parseLinePattern(pattern);
      if (isRefusal(parsed)) return parsed;
      return await searchFolder(this.#within, { pattern: parsed, path: inside, clock: this.#options.clock, signal });
    });
  }

  async #textOf(path: string): Promise<string | Refusal> {
    const opened = await openConfined(this.#within, path, { links: "none" });
    if (isRefusal(opened)) return opened;
    using file = opened.file;
    if (file.stamp.bytes > this.#options.fileBytesMax) return tooLarge(file.stamp.bytes, this.#options.fileBytesMax);
    return textOf(await file.read()) ?? refuse("it is no text in UTF-8");
  }

  async #put(path: string, text: string): Promise<{ readonly kind: "done" } | Refusal> {
    const { map, disk, fileBytesMax } = this.#options;
    const bytes = new TextEncoder().encode(text);
    if (bytes.length > fileBytesMax) return tooLarge(bytes.length, fileBytesMax);
    const own = map.writable.find((folder) => folder !== map.root && resolve(map.root, path).startsWith(`${folder}/`));
    if (own !== undefined) await makeOwnedFolder(disk, own);
    const written = await writeConfined(this.#within, path, bytes);
    return isRefusal(written) ? written : { kind: "done" };
  }

  /** Does a change when the map allows it, behind those before it. */
  async #change(
    verb: string,
    path: string,
    change: (inside: string) => Promise<{ readonly kind: "done" } | Refusal>,
  ): Promise<ChangeResult> {
    const before = this.#lastChange;
    const work = this.#answer(verb, path, async (inside) => {
      await before;
      return whyFixed(this.#options.map, inside) ?? await change(inside);
    });
    this.#lastChange = work.catch(() => {});
    return await work;
  }

  /** Does what is asked with a path from the root; a refusal becomes a sentence that names the path as it was asked for. */
  async #answer<T extends { readonly kind: string }>(
    verb: string,
    asked: string,
    work: (inside: string) => Promise<T | Refusal>,
  ): Promise<T | FilesRefused> {
    const inside = insidePath(this.#options.map.root, asked);
    const result = inside === undefined
      ? refuse("it is outside of the workspace")
      : await orTrouble(work(inside || "."));
    if (!isRefusal(result)) return result;
    return {
      kind: "refused",
      why: `Cannot ${verb} ${inside === undefined ? "that path" : shownPath(inside)}: ${result.why}`,
    };
  }
}

/** A path from the root, for an absolute one what it is below it or below the box's; undefined when it leads out. */
function insidePath(root: string, asked: string): string | undefined {
  const inside = [root, boxedRoot].map((from) => relative(from, resolve(root, asked)));
  return inside.find((path) => path !== ".." && !path.startsWith("../"));
}

/** Where a box shows the workspace: who looked at a file there may ask for it by that path. */
const boxedRoot = "/workspace";

function shownPath(inside: string): string {
  return inside === "" ? "the workspace" : `"${plainLine(inside, pathCharsMax)}"`;
}

const pathCharsMax = 200;

/** Why a path cannot be changed, in words that say where else; undefined when the map allows it. */
function whyFixed(map: CallerMap, path: string): Refusal | undefined {
  if (map.mayChange(path)) return undefined;
  if (map.isHidden(path)) return refuse(unseen);
  if (map.access === "read") return refuse(`in this session only files below work/${map.caller}/ may be changed`);
  return refuse("it steers tools of the owner, so it may not be changed from here");
}

async function shown(file: ReadableFile, range: LineRange): Promise<ReadResult> {
  const { bytes } = file.stamp;
  const mediaType = shownMediaType(await file.readAt(0, 16));
  if (mediaType !== undefined) {
    if (bytes > lookLimits.shownBytes) return tooLarge(bytes, lookLimits.shownBytes);
    return { kind: "bytes", bytes: await file.read(), mediaType };
  }
  if (bytes > lookLimits.countedBytes) return tooLarge(bytes, lookLimits.countedBytes);
  const limits = { bytesMax: lookLimits.textBytes, lineCharsMax: lookLimits.lineChars };
  const found = await readTextWindow(file, { ...range, ...limits });
  if (found === "no text") return refuse("it is neither text in UTF-8 nor an image or document that can be shown");
  const { text, lines, isCut } = found;
  if (range.from > Math.max(lines, 1)) return refuse(`it has only ${lines} lines`);
  return { kind: "text", text, from: range.from, lines, isCut };
}

function isRange({ from, count }: LineRange): boolean {
  return Number.isSafeInteger(from) && Number.isSafeInteger(count) && from >= 1 && count >= 1;
}

function tooLarge(bytes: number, bytesMax: number): Refusal {
  return refuse(`it has ${bytes} bytes, the limit is ${bytesMax}`);
}

/** What a path or a full disk makes of an operation is a refusal; other trouble of the disk goes on. */
async function orTrouble<T>(work: Promise<T>): Promise<T | Refusal> {
  try {
    return await work;
  } catch (error) {
    if (isDiskFull(error)) return refuse("no room is left");
    if (isMissing(error)) return refuse(unseen);
    if (isPathTrouble(error)) return refuse("it cannot be opened");
    throw error;
  }
}
