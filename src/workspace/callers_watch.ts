import type { CallerName } from "@/protocol/ids.ts";
import type { Clock } from "@/time/clock.ts";
import type { CallersFile, CallersRead } from "./callers_file.ts";

/** Who lost the right to call. */
export interface CallersLost {
  /** Removed from the file since the last look: their work is to be ended. */
  readonly removed: readonly CallerName[];
  /** In the file, and their time is over: they get nothing new, and what runs for them goes on. Named at every look. */
  readonly expired: readonly CallerName[];
}

/**
 * Notices who was removed from a `callers.json` while we looked (product.md §5.2, state-machines.md T15).
 *
 * Only a file that is there and can be read removes anyone: some editors take a file away before they save it, and half a
 * file is none. A caller whose entry is there and bad was not removed either.
 */
export class CallersWatch {
  readonly #callers: CallersFile;
  readonly #clock: Clock;
  #read: CallersRead | undefined;
  /** Callers of the last good file, with the names of their entries. */
  #known: ReadonlyMap<CallerName, string> = new Map();

  constructor(options: { readonly callers: CallersFile; readonly clock: Clock }) {
    this.#callers = options.callers;
    this.#clock = options.clock;
  }

  /** Looks at the file now. Never throws. */
  look(): CallersLost {
    const read = this.#callers.read();
    const now = this.#clock.now();
    const expired = read.callers.filter(({ expires }) => expires !== undefined && expires <= now);
    return { removed: this.#removedBy(read), expired: expired.map(({ caller }) => caller) };
  }

  #removedBy(read: CallersRead): readonly CallerName[] {
    if (read === this.#read || read.missing || read.malformed) return [];
    this.#read = read;
    const before = this.#known;
    const known = new Map(read.callers.map(({ caller, name }) => [caller, name]));
    const skipped = new Set(read.skipped.map(({ name }) => name));
    for (const [caller, name] of before) if (!known.has(caller) && skipped.has(name)) known.set(caller, name);
    this.#known = known;
    return [...before.keys()].filter((caller) => !known.has(caller));
  }
}
