import { getLogger } from "@logtape/logtape";
import { type Clock, isoTime } from "@/time/clock.ts";
import { cutText } from "./cut_text.ts";
import type { Disk } from "./disk.ts";
import { RotatingLineFile } from "./rotating_line_file.ts";

const logger = getLogger(["a2a", "workspace"]);

/** A line of `audit.jsonl`, without its time (data-model.md 8). No content, no keys. */
export interface AuditEntry {
  /** The method, or what happened: `SendMessage`, `end of run`. */
  readonly op: string;
  readonly binding: "jsonrpc" | "rest" | "push" | "wake" | "local" | "mcp" | "run";
  /** Null when nobody was known by a key. */
  readonly caller: string | null;
  readonly taskId?: string;
  readonly contextId?: string;
  /** `ok`, or the reason of the error. */
  readonly outcome: string;
  readonly status?: number;
  readonly ms: number;
  /** Bytes of the request's and the answer's body. */
  readonly in: number;
  readonly out: number;
  readonly hops?: number;
  readonly peer?: string;
  readonly asserted?: string;
  readonly version?: string;
  /** How many like it this line stands for. */
  readonly count?: number;
}

/** The file of who did what. Best effort: it never fails or holds up a request. One process writes it. */
export class AuditFile implements AsyncDisposable {
  readonly #file: RotatingLineFile;
  readonly #path: string;
  readonly #clock: Clock;
  #waiting: string[] = [];
  #writing: Promise<void> | undefined;
  #lost = 0;
  #closed = false;

  constructor(options: {
    readonly disk: Disk;
    readonly path: string;
    readonly clock: Clock;
    readonly bytesMax?: number;
  }) {
    this.#file = new RotatingLineFile(options);
    this.#path = options.path;
    this.#clock = options.clock;
  }

  /**
   * Adds a line of at most 1 KiB: longer texts in it are cut. Returns at once and never throws; lines that come together
   * are written together. When the disk fails, or cannot keep up with 10,000 lines, lines are lost and counted in the log.
   */
  append(entry: AuditEntry): void {
    if (this.#closed || this.#waiting.length >= waitingMax) {
      this.#lost++;
      return;
    }
    this.#waiting.push(auditLine(isoTime(this.#clock.now()), entry));
    this.#writing ??= this.#write();
  }

  /** Writes what waits, and closes the file. Never rejects; what is added later is dropped. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#writing;
    await this.#file[Symbol.asyncDispose]();
    this.#tellLost();
  }

  async #write(): Promise<void> {
    await Promise.resolve(); // what the same turn adds goes out together
    let failed = false;
    while (this.#waiting.length > 0) {
      const lines = this.#waiting.splice(0, linesAtOnceMax);
      try {
        await this.#file.append(lines);
        if (!failed) this.#tellLost();
      } catch {
        failed = true;
        this.#lost += lines.length;
      }
    }
    this.#writing = undefined;
  }

  #tellLost(): void {
    if (this.#lost === 0) return;
    logger.warning("Lost {count} lines of {file}: the disk failed or was too slow", {
      count: this.#lost,
      file: this.#path,
    });
    this.#lost = 0;
  }
}

const waitingMax = 10_000;
const linesAtOnceMax = 500;
const lineBytesMax = 1024;

/** One line with its time, of at most 1 KiB with its LF: the texts in it get shorter until it fits. Never throws. */
export function auditLine(at: string, entry: AuditEntry): string {
  for (const bytesMax of [256, 128, 64, 32, 0]) {
    const cut = (_: string, value: unknown) => typeof value === "string" ? cutText(value, bytesMax) : value;
    const line = JSON.stringify({ at: "", ...entry }, cut).replace('"at":""', `"at":"${at}"`);
    if (new TextEncoder().encode(line).length < lineBytesMax) return line;
  }
  return JSON.stringify({ at });
}
