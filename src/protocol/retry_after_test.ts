import { strictEqual } from "node:assert/strict";
import { retryAfterMs } from "./retry_after.ts";

const nowMs = Date.parse("Sun, 06 Nov 1994 08:49:37 GMT");

const rows: readonly [string | null, number | undefined][] = [
  ["0", 0],
  ["120", 120_000],
  [" 3 ", 3000],
  ["Sun, 06 Nov 1994 08:50:37 GMT", 60_000],
  ["Sun, 06 Nov 1994 08:00:00 GMT", 0],
  [null, undefined],
  ["", undefined],
  ["-5", undefined],
  ["1.5", undefined],
  ["soon", undefined],
  ["9999999999", undefined],
  ["1994-11-06T08:50:37Z", undefined],
  ["Sun, 99 Xyz 1994 08:50:37 GMT", undefined],
];

for (const [value, expected] of rows) {
  Deno.test(`retryAfterMs() reads ${JSON.stringify(value)} as ${expected} [SM6 retry]`, () => {
    strictEqual(retryAfterMs(value, nowMs), expected);
  });
}
