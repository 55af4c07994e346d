import { deepStrictEqual } from "node:assert/strict";
import { citationsIn } from "./citations.ts";

const known = new Set(["SM1 T1", "SM1 T2", "SM1 race cancel-end"]);

const rows: readonly { name: string; text: string; cites: readonly string[] }[] = [
  { name: "an id in a name", text: 'Deno.test("a() does b [§5.5 in-order]", f);', cites: ["§5.5 in-order"] },
  { name: "several ids", text: 'Deno.test("a [DM6 x, SM8 3, case 37]", f);', cites: ["DM6 x", "SM8 3", "case 37"] },
  { name: "an id with words", text: 'Deno.test("a [SM1 race cancel-end]", f);', cites: ["SM1 race cancel-end"] },
  {
    name: "ids in rows",
    text: 'const rows = [{ id: "SM1 T9", x: 1 }];\nDeno.test(`a [${row.id}]`, f);',
    cites: ["SM1 T9"],
  },
  {
    name: "ends of ids in rows",
    text: 'const rows = ["T1", "T3"];\nDeno.test(`a [SM1 ${row}]`, f);',
    cites: ["SM1 T1"],
  },
  { name: "no list, no access, no other brackets", text: 'a[0]; ["x"]; "[redacted]"; b[case1];', cites: [] },
];

for (const { name, text, cites } of rows) {
  Deno.test(`citationsIn() finds ${name}`, () => deepStrictEqual([...citationsIn(text, known)], cites));
}
