import { strictEqual } from "node:assert/strict";
import { instantMs } from "./instant.ts";

const noon = Date.parse("2026-10-08T12:00:00.000Z");
const rows: readonly (readonly [text: string, at: number | undefined])[] = [
  ["2026-10-08T12:00:00.000Z", noon],
  ["2026-10-08T12:00:00Z", noon],
  ["2026-10-08t12:00:00z", noon],
  ["2026-10-08T12:00:00.5Z", noon + 500],
  ["2026-10-08T12:00:00.000000000Z", noon],
  ["2026-10-08T12:00:00.000000001Z", noon + 1],
  ["2026-10-08T11:59:59.9999Z", noon],
  ["2026-10-08T14:00:00+02:00", noon],
  ["2028-02-29T00:00:00Z", Date.parse("2028-02-29T00:00:00Z")],
  ["1969-12-31T23:59:59Z", -1000],
  ["2026-02-30T00:00:00Z", undefined],
  ["2026-13-01T00:00:00Z", undefined],
  ["2026-10-08T24:00:00Z", undefined],
  ["2026-10-08T12:00:60Z", undefined],
  ["2026-10-08T12:00:00", undefined],
  ["2026-10-08T12:00:00+99:00", undefined],
  ["2026-10-08", undefined],
  ["yesterday", undefined],
  ["1696680000", undefined],
  ["", undefined],
];
for (const [text, at] of rows) {
  Deno.test(`instantMs() ${at === undefined ? "refuses" : "reads"} "${text}"`, () => strictEqual(instantMs(text), at));
}
