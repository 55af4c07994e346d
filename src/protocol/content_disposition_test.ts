import { ok, strictEqual } from "node:assert/strict";
import { createSeededRandom } from "@tests/fakes/seeded_random.ts";
import { dispositionFileName } from "./content_disposition.ts";

const rows: readonly (readonly [value: string | null, name: string | undefined])[] = [
  [null, undefined],
  ["", undefined],
  ["attachment", undefined],
  ["inline; filename=", undefined],
  ['attachment; filename=""', undefined],
  ["attachment; filename=report.pdf", "report.pdf"],
  ["ATTACHMENT;FILENAME = report.pdf ; x=1", "report.pdf"],
  ["attachment; filename=the report.pdf; x", "the report.pdf"],
  ['attachment; filename="the; report.pdf"', "the; report.pdf"],
  ['attachment; filename="a\\"b\\\\c.txt"', 'a"b\\c.txt'],
  ['attachment; x="filename=evil.txt"; filename=good.txt', "good.txt"],
  ["attachment; filename=first.txt; filename=second.txt", "first.txt"],
  ['attachment; filename="never closed', "never closed"],
  ['attachment; filename="ends in a backslash\\', "ends in a backslash\\"],
  ["attachment; filename; filename=good.txt", "good.txt"],
  ["; filename=no-type.txt", "no-type.txt"],
  ["attachment; filename=plain.txt; filename*=UTF-8''%e2%82%ac%20rates.txt", "\u20ac rates.txt"],
  ["attachment; filename*=utf-8'en'%E2%82%AC.txt; filename=plain.txt", "\u20ac.txt"],
  ["attachment; filename*=ISO-8859-1''na%efve.txt", "na\u00efve.txt"],
  ["attachment; filename*=UTF-8''; filename=plain.txt", "plain.txt"],
  ["attachment; filename*=UTF-8''%ff.txt; filename=plain.txt", "plain.txt"],
  ["attachment; filename*=UTF-8''%e.txt; filename=plain.txt", "plain.txt"],
  ["attachment; filename*=UTF-8''a b.txt; filename=plain.txt", "plain.txt"],
  ["attachment; filename*=koi8-r''%c1.txt; filename=plain.txt", "plain.txt"],
  ["attachment; filename*=%e2%82%ac.txt; filename=plain.txt", "plain.txt"],
  ["attachment; filename=100%25.txt", "100%25.txt"],
  ["attachment; filename=na\u00c3\u00afve.txt", "na\u00efve.txt"], // UTF-8, as a header gives it
  ["attachment; filename=na\u00efve.txt", "na\u00efve.txt"], // Latin-1
  ['attachment; filename="../../.ssh/id"', "../../.ssh/id"],
];

for (const [value, name] of rows) {
  Deno.test(`dispositionFileName() gives ${JSON.stringify(name)} for ${value} [§5.6 url-name]`, () => {
    strictEqual(dispositionFileName(value), name);
  });
}

Deno.test("dispositionFileName() gives a text or nothing for 20,000 random values, long ones at once", () => {
  const random = createSeededRandom(3);
  const pieces = [
    ...["attachment", "filename", "filename*", "=", ";", '"', "\\", "'", "''", "UTF-8", "iso-8859-1", "%", "%e2%82%ac"],
    ...[
      "; filename=",
      '; filename="',
      "; filename*=UTF-8''",
      "%ff",
      " ",
      "\t",
      "\u00e9",
      "\u0000",
      "a",
      "x.txt",
      "/",
      "..",
      "\u{1f600}",
      "__proto__",
    ],
  ];
  const seen = { name: 0, none: 0 };
  for (let n = 0; n < 20_000; n++) {
    const name = dispositionFileName(Array.from({ length: random.below(14) }, () => random.pick(pieces)).join(""));
    ok(name === undefined || (typeof name === "string" && name !== ""));
    seen[name === undefined ? "none" : "name"]++;
  }
  ok(seen.name > 200 && seen.none > 200, JSON.stringify(seen)); // else the values prove nothing
  for (const piece of pieces) {
    dispositionFileName(piece.repeat(100_000));
    dispositionFileName(`attachment; filename*=UTF-8''${piece.repeat(100_000)}`);
  }
});
