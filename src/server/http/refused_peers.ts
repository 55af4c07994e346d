import type { Clock } from "@/time/clock.ts";

const linesMax = 10;
const minuteMs = 60_000;
/** Peers that are kept in mind; whoever is over it is told of in full only after a minute, by `counted`. */
const peersMax = 1_000;

/** How many refusals of one peer were not worth a line. */
export interface CountedRefusals {
  readonly peer: string;
  readonly count: number;
  readonly outcome: "UNAUTHENTICATED";
}

/** Keeps a stranger who knocks on and on from filling the audit: ten lines a minute and peer, then one with a count. */
export class RefusedPeers {
  readonly #clock: Clock;
  readonly #peers = new Map<string, { readonly since: number; seen: number }>();

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  /** Counts a refusal, and says whether it gets a line of its own. */
  isWorthALine(peer: string): boolean {
    let known = this.#peers.get(peer);
    if (known === undefined) {
      if (this.#peers.size >= peersMax) peer = "others";
      known = this.#peers.get(peer) ?? { since: this.#clock.elapsed(), seen: 0 };
      this.#peers.set(peer, known);
    }
    return ++known.seen <= linesMax;
  }

  /** Those whose minute is over and who had more than their lines; they are forgotten by it. */
  counted(): readonly CountedRefusals[] {
    const over: CountedRefusals[] = [];
    for (const [peer, { since, seen }] of this.#peers) {
      if (this.#clock.elapsed() - since < minuteMs) break; // in the order they came
      this.#peers.delete(peer);
      if (seen > linesMax) over.push({ peer, count: seen - linesMax, outcome: "UNAUTHENTICATED" });
    }
    return over;
  }
}
