import { strictEqual } from "node:assert/strict";
import { foldPath, matchesPath, parsePathPattern } from "./path_pattern.ts";

const rows: readonly { pattern: string; meant: readonly string[]; others: readonly string[] }[] = [
  {
    pattern: "notes.txt",
    meant: ["notes.txt", "a/b/notes.txt", "NOTES.TXT", "notes.txt/in/it", "notes.txt.", "no\u200btes.txt"],
    others: ["notes_txt", "anotes.txt", "notes.txt2", "notes", "a/notes.tx/t"],
  },
  { pattern: "/secrets", meant: ["secrets", "secrets/a/b"], others: ["a/secrets", "secret"] },
  { pattern: "secrets/", meant: ["secrets", "secrets/a", "a/secrets"], others: ["secrets2"] },
  { pattern: "*.pem", meant: [".pem", "a.pem", "x/.b.PEM"], others: ["pem", "a.pem2", "a.pe/m"] },
  { pattern: ".env*", meant: [".env", ".env.local", "a/.envrc/b"], others: ["env", "a.env"] },
  { pattern: "a?c", meant: ["abc", "x/a.c"], others: ["ac", "abbc", "a/c"] },
  { pattern: "*a*b*", meant: ["ab", "xaxbx", "aab"], others: ["ba", "a/b"] },
  { pattern: ".git/config", meant: [".git/config", "x/y/.git/config"], others: [".git/x/config", "config", ".git"] },
  { pattern: "a/**/b", meant: ["a/b", "a/x/b", "r/a/x/y/b/z"], others: ["a", "a/x", "b/a"] },
  { pattern: "/a/*", meant: ["a/x", "a/.x/y"], others: ["a", "b/a/x"] },
  { pattern: "straße", meant: ["STRASSE", "straße"], others: ["strase"] },
  { pattern: "*", meant: ["a", "a/b"], others: [] },
];

for (const { pattern, meant, others } of rows) {
  for (const path of [...meant, ...others]) {
    const expected = meant.includes(path);
    Deno.test(`matchesPath() ${pattern} ${expected ? "means" : "does not mean"} ${JSON.stringify(path)} [§6 hide]`, () => {
      strictEqual(matchesPath(parsePathPattern(pattern)!, foldPath(path)), expected);
    });
  }
}

const refused = [
  "",
  "/",
  "//",
  "a//b",
  "./a",
  "../a",
  "a/..",
  "[ab]",
  "{a,b}",
  "!a",
  "a\\b",
  "a**",
  "a/**",
  "**",
  "a\nb",
  "...",
];
for (const text of [...refused, "a".repeat(201)]) {
  Deno.test(`parsePathPattern() refuses ${JSON.stringify(text.slice(0, 20))} [§6 hide]`, () => {
    strictEqual(parsePathPattern(text), undefined);
  });
}

Deno.test("matchesPath() takes time in step with the path, whatever the pattern says [§6 hide]", () => {
  const [stars, folders] = [parsePathPattern(`${"*a".repeat(90)}b`)!, parsePathPattern(`${"**/a/".repeat(30)}b`)!];
  const path = foldPath(`${"a/".repeat(2000)}${"a".repeat(200)}`);
  strictEqual(matchesPath(stars, path), false); // ends at all
  strictEqual(matchesPath(folders, path), false);
});
