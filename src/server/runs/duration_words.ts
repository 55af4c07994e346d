const units: readonly (readonly [ms: number, word: string])[] = [
  [24 * 60 * 60 * 1000, "d"],
  [60 * 60 * 1000, "h"],
  [60 * 1000, "min"],
  [1000, "s"],
];

/** A duration as people say it: `24 h`, `30 min`, `90 s`. The largest unit that it is a whole number of, days from two on. */
export function durationWords(ms: number): string {
  for (const [unitMs, word] of units) {
    const count = ms / unitMs;
    if (Number.isInteger(count) && (word !== "d" || count > 1)) return `${count} ${word}`;
  }
  return `${ms} ms`;
}
