import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { readFrontMatter } from "./front_matter.ts";

const rows: readonly { name: string; text: string; fields: Readonly<Record<string, string>>; body: string }[] = [
  {
    name: "plain texts",
    text: "---\nname: pdf\ndescription: Reads PDFs.\n---\n# PDF\n",
    fields: { name: "pdf", description: "Reads PDFs." },
    body: "# PDF\n",
  },
  {
    name: "Windows' line ends and a byte-order mark",
    text: "\ufeff---\r\nname: pdf\r\n---\r\nBody",
    fields: { name: "pdf" },
    body: "Body",
  },
  {
    name: "quotes",
    text: `---\na: "x: \\"y\\" \\u00e9"\nb: 'it''s # here'\nc: "bad \\q"\n---\n`,
    fields: { a: 'x: "y" é', b: "it's # here", c: "bad \\q" },
    body: "",
  },
  {
    name: "a comment",
    text: "---\n# all\nname: pdf # short\nurl: a#b\nnone: # nothing\n---\n",
    fields: { name: "pdf", url: "a#b", none: "" },
    body: "",
  },
  {
    name: "blocks",
    text: "---\na: >-\n  One\n  two.\n\n  Three.\nb: |\n  x\n---\n",
    fields: { a: "One\ntwo.\n\nThree.", b: "x" },
    body: "",
  },
  {
    name: "a text over several lines",
    text: "---\na: One\n  two\nb:\n  three\n---\n",
    fields: { a: "One two", b: "three" },
    body: "",
  },
  {
    name: "no field of a field",
    text: "---\nmetadata:\n  name: inner\nname: outer\n---\n",
    fields: { metadata: "name: inner", name: "outer" },
    body: "",
  },
  { name: "the first of two", text: "---\nname: a\nname: b\n---\n", fields: { name: "a" }, body: "" },
  { name: "no body of a head without an end", text: "---\nname: a\n", fields: { name: "a" }, body: "" },
  { name: "the other end", text: "---\nname: a\n...\nBody", fields: { name: "a" }, body: "Body" },
  {
    name: "no fields of a plain text",
    text: "# Title\n---\nname: a\n---\n",
    fields: {},
    body: "# Title\n---\nname: a\n---\n",
  },
  { name: "nothing of nothing", text: "", fields: {}, body: "" },
];

for (const { name, text, fields, body } of rows) {
  Deno.test(`readFrontMatter() reads ${name} [§5.3 skills]`, () => {
    const read = readFrontMatter(text);
    deepStrictEqual([Object.fromEntries(read.fields), read.body], [fields, body]);
  });
}

Deno.test("readFrontMatter() knows no name but those that are there", () => {
  strictEqual(readFrontMatter("---\nname: a\n---\n").fields.get("constructor"), undefined);
});

const slow: readonly { name: string; text: string }[] = [
  { name: "white space", text: `---\na: x${" ".repeat(60_000)}\u2028x\n---\n` },
  { name: "marks", text: `---\na: ${"# ".repeat(30_000)}\u2028x\n---\n` },
  { name: "quotes", text: `---\na: "${'\\"'.repeat(30_000)}\n---\n` },
  { name: "fields", text: `---\n${Array.from({ length: 9000 }, (_, at) => `a${at}:`).join("\n")}\n---\n` },
];
for (const { name, text } of slow) {
  Deno.test(`readFrontMatter() reads 60 KB of ${name} in linear time`, () => {
    strictEqual(readFrontMatter(text).body, "");
  });
}
