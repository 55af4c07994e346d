import type { CallerLimits, CallersFile, CallersRead } from "./callers_file.ts";

/**
 * The limits that callers have of their own, as `callers.json` says at each use.
 *
 * While the file is missing or cannot be read they stay as they were: what runs and waits then must not come loose.
 */
export class OwnLimits {
  readonly #callers: Pick<CallersFile, "read">;
  #read: CallersRead | undefined;
  #limits: ReadonlyMap<string, CallerLimits> = new Map();

  constructor(callers: Pick<CallersFile, "read">) {
    this.#callers = callers;
  }

  /** Those of one caller; what is absent is the setting's. */
  of(caller: string): CallerLimits {
    const read = this.#callers.read();
    if (read !== this.#read && !read.missing && !read.malformed) {
      this.#read = read;
      this.#limits = new Map(read.callers.map(({ caller, limits }) => [caller, limits]));
    }
    return this.#limits.get(caller) ?? {};
  }
}

/** A caller's own limit where it has one, else the setting's. `Infinity` is none, which an entry writes as 0. */
export function limitOf(own: number | undefined, setting: number): number {
  if (own === undefined) return setting;
  return own === 0 ? Infinity : own;
}
