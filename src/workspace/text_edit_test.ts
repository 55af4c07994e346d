import { deepStrictEqual } from "node:assert/strict";
import { editText, type Replacement } from "./text_edit.ts";

const rows: readonly { name: string; text: string; change: Replacement; gives: string }[] = [
  { name: "the one place", text: "a b c", change: { old: "b", new: "x" }, gives: "a x c" },
  { name: "several lines", text: "1\n2\n3\n", change: { old: "1\n2", new: "one" }, gives: "one\n3\n" },
  { name: "all places", text: "a a a", change: { old: "a", new: "b", all: true }, gives: "b b b" },
  { name: "text with nothing", text: "abc", change: { old: "b", new: "" }, gives: "ac" },
  { name: "$ as itself", text: "a", change: { old: "a", new: "$& $1 $$" }, gives: "$& $1 $$" },
  { name: "a dot as itself", text: "a.b axb", change: { old: "a.b", new: "c" }, gives: "c axb" },
  { name: "lines of CRLF", text: "1\r\n2\r\n3\r\n", change: { old: "1\n2", new: "x\ny" }, gives: "x\r\ny\r\n3\r\n" },
  {
    name: "one line in a file of CRLF",
    text: "1\r\n2\r\n",
    change: { old: "2", new: "x\ny" },
    gives: "1\r\nx\r\ny\r\n",
  },
  {
    name: "what is given with CRLF",
    text: "1\r\n2\r\n",
    change: { old: "1\r\n2", new: "x\r\ny" },
    gives: "x\r\ny\r\n",
  },
  {
    name: "exact text where line ends are mixed",
    text: "1\n2\r\n",
    change: { old: "1\n2", new: "a\nb" },
    gives: "a\nb\r\n",
  },
  {
    name: "CRLF where line ends are mixed",
    text: "0\n1\r\n2\r\n",
    change: { old: "1\n2", new: "a\nb" },
    gives: "0\na\r\nb\r\n",
  },
  { name: "a file with a mark at its beginning", text: "\ufeffa", change: { old: "a", new: "b" }, gives: "\ufeffb" },
];

for (const { name, text, change, gives } of rows) {
  Deno.test(`editText() replaces ${name} [§6 file-tools]`, () => {
    deepStrictEqual(editText(text, change), { kind: "edited", text: gives });
  });
}

const refused: readonly { name: string; text: string; change: Replacement; why: string }[] = [
  { name: "nothing to replace", text: "a", change: { old: "", new: "x" }, why: "the text to replace is empty" },
  { name: "what is not there", text: "a", change: { old: "b", new: "x" }, why: "the text to replace is not in it" },
  {
    name: "other line ends",
    text: "a\nb",
    change: { old: "a\r\nb", new: "x" },
    why: "the text to replace is not in it",
  },
  {
    name: "what is not there with CRLF",
    text: "a\r\n",
    change: { old: "b", new: "" },
    why: "the text to replace is not in it",
  },
  {
    name: "two places",
    text: "a a",
    change: { old: "a", new: "b" },
    why: "the text to replace is in it more than once: give more of what is around it, or replace all",
  },
  {
    name: "two places that overlap",
    text: "aaa",
    change: { old: "aa", new: "b" },
    why: "the text to replace is in it more than once: give more of what is around it, or replace all",
  },
  { name: "a change to the same", text: "a", change: { old: "a", new: "a" }, why: "it would stay as it is" },
];

for (const { name, text, change, why } of refused) {
  Deno.test(`editText() refuses ${name} [§6 file-tools]`, () => {
    deepStrictEqual(editText(text, change), { kind: "refused", why });
  });
}
