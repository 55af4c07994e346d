import { strictEqual } from "node:assert/strict";
import { durationWords } from "./duration_words.ts";

const rows: readonly (readonly [ms: number, words: string])[] = [
  [24 * 3_600_000, "24 h"],
  [48 * 3_600_000, "2 d"],
  [30 * 24 * 3_600_000, "30 d"],
  [36 * 3_600_000, "36 h"],
  [3_600_000, "1 h"],
  [30 * 60_000, "30 min"],
  [90_000, "90 s"],
  [1_000, "1 s"],
  [1_500, "1500 ms"],
];

for (const [ms, words] of rows) {
  Deno.test(`durationWords() says ${words}`, () => strictEqual(durationWords(ms), words));
}
