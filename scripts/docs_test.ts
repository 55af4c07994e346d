import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { checkPages, madePieces, makeTable, putPiece } from "./docs.ts";

function check(pages: Readonly<Record<string, string>>, files: readonly string[] = []): readonly string[] {
  const all = { "README.md": "# Here\n", ...pages };
  return checkPages({ pages: new Map(Object.entries(all)), exists: (path) => path in all || files.includes(path) });
}

const rows: readonly { name: string; page: string; problems: readonly string[] }[] = [
  { name: "a link to a page beside it", page: "[a](./other.md) [b](other.md)", problems: [] },
  { name: "a link up", page: "[a](../README.md)", problems: [] },
  { name: "links elsewhere", page: "[a](https://example.com/x.md) [b](mailto:a@example.com)", problems: [] },
  {
    name: "a link to nothing",
    page: "[a](gone.md)",
    problems: ['docs/page.md: links to "gone.md", which is not there; mend the link'],
  },
  {
    name: "a link out of the project",
    page: "[a](../../x.md)",
    problems: ['docs/page.md: links to "../../x.md", which is not there; mend the link'],
  },
  { name: "a link to a heading", page: "## A `b`, c!\n\n[a](#a-b-c) [o](other.md#two-words)", problems: [] },
  {
    name: "a link to no heading",
    page: "[a](other.md#three)",
    problems: ['docs/page.md: links to "other.md#three", but docs/other.md has no such heading; mend the link'],
  },
  { name: "named paths, and patterns of paths", page: "`src/a.ts` `src/` `src/<name>.ts` `src/*.ts`", problems: [] },
  {
    name: "a named path that is gone",
    page: "`scripts/gone.ts`",
    problems: ['docs/page.md: names "scripts/gone.ts", which is not there; mend the path'],
  },
  { name: "what only stands in a fenced block", page: "```sh\n[a](gone.md) a.ts:12\n```", problems: [] },
  {
    name: "a drawing that names a file that is gone",
    page: "```text\nstep   src/gone.ts\nstep   src/a.ts\n```",
    problems: ['docs/page.md: names "src/gone.ts", which is not there; mend the path'],
  },
  {
    name: "a line number",
    page: "See a.ts:12.",
    problems: [
      'docs/page.md: "a.ts:12" has a line number, which is wrong after the next edit; name the file or the function',
    ],
  },
];

for (const { name, page, problems } of rows) {
  Deno.test(`checkPages() ${problems.length === 0 ? "passes" : "finds"} ${name}`, () => {
    deepStrictEqual(check({ "docs/page.md": page, "docs/other.md": "# Two words\n" }, ["src", "src/a.ts"]), problems);
  });
}

Deno.test("checkPages() finds a README that is missing or too long", () => {
  deepStrictEqual(checkPages({ pages: new Map(), exists: () => true }), ["README.md: missing; write it"]);
  strictEqual(check({ "README.md": "x\n".repeat(150) }).length, 0);
  deepStrictEqual(check({ "README.md": "x\n".repeat(151) }), [
    "README.md: 151 lines; keep it under 150, link to docs/",
  ]);
});

Deno.test("putPiece() replaces what is between its markers, and nothing else", () => {
  const page = "before\n\n<!-- made by deno task docs: a -->\nold\n<!-- end -->\n\nafter\n";
  const next = "before\n\n<!-- made by deno task docs: a -->\n\nnew\n\n<!-- end -->\n\nafter\n";
  strictEqual(putPiece(page, "a", "new\n"), next);
  strictEqual(putPiece(next, "a", "new"), next);
  strictEqual(putPiece(page, "b", "new"), undefined);
});

Deno.test("makeTable() escapes what would break a row", () => {
  strictEqual(makeTable(["a", "b"], [["x|y", "1\n2"]]), "| a | b |\n| --- | --- |\n| x\\|y | 1 2 |");
});

for (const { name, make } of madePieces) {
  Deno.test(`madePieces makes "${name}" from the code`, async () => {
    const made = await make();
    strictEqual(made === undefined || made.split("\n").length > 3, true);
  });
}
