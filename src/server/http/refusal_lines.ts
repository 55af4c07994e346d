import type { Clock } from "@/time/clock.ts";

const linesMax = 10;
const minuteMs = 60_000;
/** Names that are kept in mind; whoever is over it is told of in full only after a minute, by `counted`. */
const namesMax = 1_000;

/** How many refusals under one name were not worth a line. */
export interface CountedRefusals {
  readonly name: string;
  readonly count: number;
}

/**
 * Keeps who knocks on and on from filling the audit, a stranger's address or a caller over its rate: ten lines a minute and
 * name, then one with a count.
 */
export class RefusalLines {
  readonly #clock: Clock;
  readonly #names = new Map<string, { readonly since: number; seen: number }>();

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  /** Counts a refusal, and says whether it gets a line of its own. */
  isWorthALine(name: string): boolean {
    let known = this.#names.get(name);
    if (known === undefined) {
      if (this.#names.size >= namesMax) name = "others";
      known = this.#names.get(name) ?? { since: this.#clock.elapsed(), seen: 0 };
      this.#names.set(name, known);
    }
    return ++known.seen <= linesMax;
  }

  /** Those whose minute is over and who had more than their lines; they are forgotten by it. */
  counted(): readonly CountedRefusals[] {
    const over: CountedRefusals[] = [];
    for (const [name, { since, seen }] of this.#names) {
      if (this.#clock.elapsed() - since < minuteMs) break; // in the order they came
      this.#names.delete(name);
      if (seen > linesMax) over.push({ name, count: seen - linesMax });
    }
    return over;
  }
}
