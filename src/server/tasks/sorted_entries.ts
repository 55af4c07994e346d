import type { IndexEntry } from "./index_entry.ts";
import type { PageKey } from "./page_token.ts";

/** Entries that an addition may move; one that would move more waits, and is put in with others. */
const movedMax = 1024;
const lateMax = 4096;

/**
 * Tasks in the order of their status time, oldest first, ties by id.
 *
 * A sorted array: a task that changes is nearly always a recent one, so putting it in and taking it out move little, and
 * a search is a bisection. Those that come in another order, as when an index is built from a folder, are gathered and
 * put in by the thousands: one by one each would move half of the array.
 */
export class SortedEntries {
  #entries: IndexEntry[] = [];
  /** In no order, and in none of the places of `#entries`, until the next look. */
  #late: IndexEntry[] = [];

  get length(): number {
    return this.#entries.length + this.#late.length;
  }

  at(place: number): IndexEntry | undefined {
    this.#settle();
    return this.#entries[place];
  }

  [Symbol.iterator](): Iterator<IndexEntry> {
    this.#settle();
    return this.#entries.values();
  }

  /** The first place whose entry is not before `key`; `length` when there is none. */
  from(key: PageKey): number {
    this.#settle();
    return this.#place(key);
  }

  add(entry: IndexEntry): void {
    const last = this.#entries.at(-1);
    if (last === undefined || isBefore(last, entry)) {
      this.#entries.push(entry);
      return;
    }
    const place = this.#place(entry);
    if (this.#entries.length - place <= movedMax) {
      this.#entries.splice(place, 0, entry);
      return;
    }
    this.#late.push(entry);
    if (this.#late.length === lateMax) this.#settle();
  }

  remove(entry: IndexEntry): void {
    if (this.#takeOut(entry) || this.#late.length === 0) return;
    this.#settle();
    this.#takeOut(entry);
  }

  #takeOut(entry: IndexEntry): boolean {
    const place = this.#place(entry);
    if (this.#entries[place]?.id !== entry.id) return false;
    this.#entries.splice(place, 1);
    return true;
  }

  #place(key: PageKey): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(this.#entries[middle]!, key)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #settle(): void {
    if (this.#late.length === 0) return;
    // Two sorted runs: the second sort merges them in one pass.
    this.#entries = this.#entries.concat(this.#late.sort(byTime)).sort(byTime);
    this.#late = [];
  }
}

function isBefore(a: PageKey, b: PageKey): boolean {
  return a.at < b.at || (a.at === b.at && a.id < b.id);
}

/** The order of `SortedEntries`: for `sort`, of entries that are not one. */
export function byTime(a: PageKey, b: PageKey): number {
  return a.at - b.at || (a.id < b.id ? -1 : 1);
}
