import { getLogger } from "@logtape/logtape";
import type { Clock } from "@/time/clock.ts";
import { type Disk, type FileStamp, isMissing } from "./disk.ts";

const logger = getLogger(["a2a", "workspace"]);

/** What is at a path, for a parser: nothing, the bytes of a regular file, or something that cannot be read as one. */
export type FileContent =
  | { readonly kind: "missing" }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  /** `why` ends a sentence: "it is not a regular file". */
  | { readonly kind: "unusable"; readonly why: string };

/** What a file is read as: `problems` are whole sentences for the log, without keys; none when all is well. */
export interface Parsed {
  readonly problems: readonly string[];
}

/** Which file is kept in mind, and how it is read. */
export interface CachedFileOptions<T extends Parsed> {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly path: string;
  readonly bytesMax: number;
  /** Makes a value of the content. Pure; never throws for what a file may hold. */
  parse(content: FileContent): T;
}

/**
 * A file that a person edits, read at every use and still cheap: Read C of data-model.md 0.
 *
 * A synchronous `stat` decides: the value is reused while device, inode, size and time of change are equal and that time
 * was at least 2 s past when the file was read. Without the second rule an edit of the same size within one tick of the
 * file system's clock is never seen. Reading never waits, whatever is at the path: a FIFO, a device and a folder are
 * `unusable`.
 */
export class CachedFile<T extends Parsed> {
  readonly #options: CachedFileOptions<T>;
  #stamp: FileStamp | undefined;
  #content: FileContent | undefined;
  #value: T | undefined;
  #warned = "";

  constructor(options: CachedFileOptions<T>) {
    this.#options = options;
  }

  /**
   * What the file says now. The same object as long as the content is the same, so that callers may compare by identity.
   * Never throws; problems are logged once, and again only when they change.
   */
  read(): T {
    const { disk, path, parse } = this.#options;
    let found: FileStamp | undefined;
    try {
      found = disk.stampSync(path);
    } catch {
      return this.#keep({ kind: "unusable", why: "it cannot be looked at" }, parse);
    }
    if (!found) return this.#keep({ kind: "missing" }, parse);
    if (this.#value && this.#stamp && sameVersion(this.#stamp, found)) return this.#value;
    return this.#keep(found.kind === "file" ? this.#open() : notRegular, parse);
  }

  #open(): FileContent {
    const { disk, clock, path, bytesMax } = this.#options;
    const now = clock.now();
    try {
      using file = disk.openReadSync(path);
      const { stamp } = file;
      if (stamp.kind !== "file") return notRegular;
      if (stamp.bytes > bytesMax) return { kind: "unusable", why: `it is larger than ${bytesMax} bytes` };
      const bytes = file.readSync(bytesMax);
      this.#stamp = now - stamp.modifiedMs >= settledMs ? stamp : undefined;
      return { kind: "bytes", bytes };
    } catch (error) {
      return isMissing(error) ? { kind: "missing" } : { kind: "unusable", why: "it cannot be opened" };
    }
  }

  #keep(content: FileContent, parse: (content: FileContent) => T): T {
    if (content.kind !== "bytes") this.#stamp = undefined;
    if (this.#value && this.#content && sameContent(this.#content, content)) return this.#value;
    this.#content = content;
    this.#value = parse(content);
    const warning = this.#value.problems.join("\n");
    if (warning !== this.#warned) {
      for (const problem of this.#value.problems.slice(0, warningsMax)) logger.warning("{problem}", { problem });
      const more = this.#value.problems.length - warningsMax;
      if (more > 0) logger.warning("And {more} more problems in {file}", { more, file: this.#options.path });
    }
    this.#warned = warning;
    return this.#value;
  }
}

const settledMs = 2000;
const warningsMax = 20;
const notRegular: FileContent = { kind: "unusable", why: "it is not a regular file" };

function sameVersion(a: FileStamp, b: FileStamp): boolean {
  return a.device === b.device && a.inode === b.inode && a.bytes === b.bytes && a.modifiedMs === b.modifiedMs;
}

function sameContent(a: FileContent, b: FileContent): boolean {
  if (a.kind === "bytes") return b.kind === "bytes" && sameBytes(a.bytes, b.bytes);
  if (a.kind === "unusable") return b.kind === "unusable" && a.why === b.why;
  return b.kind === "missing";
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}
