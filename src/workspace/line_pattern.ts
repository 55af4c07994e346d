import { RE2JS } from "re2js";
import { type Refusal, refuse } from "./confined_path.ts";

/** A regular expression that is tried on lines, in time linear in the line whatever the two are. */
export interface LinePattern {
  readonly kind: "pattern";
  /** Says whether a line matches, by its first `matchedCharsMax` characters. */
  matches(line: string): boolean;
}

/** Characters of a line that are looked at; the slowest pattern takes 0.1 ms for one. */
export const matchedCharsMax = 2000;

/**
 * Reads a regular expression of JavaScript, without flags, that comes from outside.
 *
 * JavaScript's own engine goes back and tries again: `(a+)+$` on 40 letters stops the process for minutes, and nothing can end it.
 * So RE2 takes its place, which has no look-around and no back-references. Its work grows with the pattern, so that is bounded.
 */
export function parseLinePattern(text: string): LinePattern | Refusal {
  if (text === "") return refuse("the pattern is empty");
  if (text.length > patternCharsMax) return refuse(`the pattern has over ${patternCharsMax} characters`);
  const compiled = compile(text);
  if (compiled === undefined) return refuse(`the pattern ${whyNot(text)}`);
  if (compiled.programSize() > programSizeMax) return refuse("the pattern is too large");
  return { kind: "pattern", matches: (line) => compiled.test(line.slice(0, matchedCharsMax)) };
}

const patternCharsMax = 1000;
/** Steps of the compiled pattern: about one a character, times its repetitions. */
const programSizeMax = 500;

/** What most likely is wrong with a pattern that RE2 does not take. */
function whyNot(text: string): string {
  if (/\(\?<?[=!]/.test(text)) return "looks ahead or behind, which is not supported";
  if (/\\(?:[1-9]|k<)/.test(text)) return "refers back to a group, which is not supported";
  return "is no regular expression, or repeats more than 1000 times";
}

function compile(text: string): RE2JS | undefined {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(text));
  } catch {
    return undefined;
  }
}
