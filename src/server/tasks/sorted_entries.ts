import type { TaskId } from "@/protocol/ids.ts";
import type { IndexEntry } from "./index_entry.ts";
import type { PageKey } from "./page_token.ts";

/**
 * Tasks in the order of their status time, oldest first, ties by id.
 *
 * A sorted array: a task that changes is nearly always a recent one, so putting it in and taking it out move little, and
 * a search is a bisection.
 */
export class SortedEntries {
  readonly #entries: IndexEntry[] = [];

  get length(): number {
    return this.#entries.length;
  }

  at(place: number): IndexEntry | undefined {
    return this.#entries[place];
  }

  ids(): TaskId[] {
    return this.#entries.map(({ id }) => id);
  }

  /** The first place whose entry is not before `key`; `length` when there is none. */
  from(key: PageKey): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(this.#entries[middle]!, key)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  add(entry: IndexEntry): void {
    const last = this.#entries.at(-1);
    if (last === undefined || isBefore(last, entry)) this.#entries.push(entry);
    else this.#entries.splice(this.from(entry), 0, entry);
  }

  remove(entry: IndexEntry): void {
    const place = this.from(entry);
    if (this.#entries[place]?.id === entry.id) this.#entries.splice(place, 1);
  }
}

function isBefore(a: PageKey, b: PageKey): boolean {
  return a.at < b.at || (a.at === b.at && a.id < b.id);
}
