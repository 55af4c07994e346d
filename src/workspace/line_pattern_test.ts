import { match, ok, strictEqual } from "node:assert/strict";
import { matchedCharsMax, parseLinePattern } from "./line_pattern.ts";

const rows: readonly (readonly [pattern: string, line: string, matches: boolean])[] = [
  ["foo|bar", "a bar", true],
  ["foo|bar", "a Bar", false],
  ["(?i)foo", "FOO", true],
  ["^\\s*export\\s+function\\s+(\\w+)", "  export function one() {", true],
  ["^export$", "export ", false],
  ["\\bword\\b", "a word.", true],
  ["\\d{3}-\\d{4}", "call 555-1234", true],
  ["a\\/b", "a/b", true],
  ["\\u0041", "A", true],
  ["(?<year>\\d{4})", "in 2031", true],
  ["\\p{Lu}\\p{Ll}+", "straße Über", true],
  ["[^\\]]+\\]", "a]", true],
  [".*?x", "💥x", true],
  ["a\\(?=b", "a=b", true],
];

for (const [pattern, line, matches] of rows) {
  Deno.test(`parseLinePattern() ${pattern} ${matches ? "matches" : "does not match"} ${line} [§6 search]`, () => {
    const parsed = parseLinePattern(pattern);
    ok(parsed.kind === "pattern");
    strictEqual(parsed.matches(line), matches);
    if (!pattern.startsWith("(?i)")) strictEqual(new RegExp(pattern, "u").test(line), matches);
  });
}

const refused: readonly (readonly [pattern: string, why: RegExp])[] = [
  ["", /is empty$/],
  ["(?=a)b", /looks ahead or behind/],
  ["(?<!a)b", /looks ahead or behind/],
  ["(a)\\1", /refers back/],
  ["[a", /no regular expression/],
  ["a**", /no regular expression/],
  ["(a", /no regular expression/],
  ["((a{100}){100}){100}", /repeats more than 1000 times/],
  ["(a|b){600}", /too large/],
  ["(".repeat(500) + ")".repeat(500), /too large|no regular expression/],
  ["a".repeat(1001), /over 1000 characters/],
];

for (const [pattern, why] of refused) {
  Deno.test(`parseLinePattern() refuses ${pattern.slice(0, 30)} [§6 search]`, () => {
    const parsed = parseLinePattern(pattern);
    ok(parsed.kind === "refused");
    match(parsed.why, why);
  });
}

/** Each keeps JavaScript's own engine busy for hours, or is as slow as RE2 gets. The first letter is there lest a look for it ends all. */
const hostile: readonly (readonly [pattern: string, line: string])[] = [
  ["(a+)+$", `${"a".repeat(matchedCharsMax)}!`],
  ["(x+x+)+y", `y${"x".repeat(matchedCharsMax)}`],
  ["^(([a-z])+.)+[A-Z]([a-z])+$", "a".repeat(matchedCharsMax)],
  ["(.*)(.*)(.*)(.*)(.*)=$", `=${"a".repeat(matchedCharsMax)}`],
  ["(a|b)*a(a|b){60}c", `c${"abbabaab".repeat(matchedCharsMax / 8)}`],
  [`(${"a?".repeat(150)}${"a".repeat(150)})b`, `b${"a".repeat(matchedCharsMax)}`],
];

for (const [pattern, line] of hostile) {
  Deno.test(`parseLinePattern() ${pattern.slice(0, 30)} ends on a line that is against it [§6 search-ends]`, () => {
    const parsed = parseLinePattern(pattern);
    ok(parsed.kind === "pattern");
    for (let count = 0; count < 5; count++) parsed.matches(line);
  });
}

Deno.test("parseLinePattern() looks at the first characters of a line only [§6 search-ends]", () => {
  const parsed = parseLinePattern("x");
  ok(parsed.kind === "pattern");
  strictEqual(parsed.matches(`${" ".repeat(matchedCharsMax - 1)}x`), true);
  strictEqual(parsed.matches(`${" ".repeat(matchedCharsMax)}x`), false);
});
