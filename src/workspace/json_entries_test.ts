import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { brokenRule, fieldOf, readDurationMs, readEntries, readMoment, text } from "./json_entries.ts";

const durations: readonly [unknown, number | undefined][] = [
  ["00:30:00", 1_800_000],
  ["1.00:00:00", 86_400_000],
  ["30m", 1_800_000],
  ["1d", 86_400_000],
  ["1.5h", 5_400_000],
  ["90", 90_000],
  [90, 90_000],
  [0, 0],
  ["250ms", 250],
  ["", undefined],
  ["-1", undefined],
  [-1, undefined],
  ["1w", undefined],
  ["24:00:00", undefined],
  ["00:60:00", undefined],
  [Number.NaN, undefined],
  [1e12, undefined],
  [true, undefined],
  [null, undefined],
];

for (const [value, ms] of durations) {
  Deno.test(`readDurationMs() reads ${JSON.stringify(value)} as ${ms} [§16]`, () =>
    strictEqual(readDurationMs(value), ms));
}

const moments: readonly [unknown, string | undefined][] = [
  ["2026-10-08T12:00:00.000Z", "2026-10-08T12:00:00.000Z"],
  ["2026-10-08T12:00:00Z", "2026-10-08T12:00:00.000Z"],
  ["2026-10-08T14:00:00+02:00", "2026-10-08T12:00:00.000Z"],
  ["2026-10-08T12:00:00.1234567+00:00", "2026-10-08T12:00:00.123Z"],
  ["2026-10-08T12:00:00", undefined],
  ["2026-10-08", undefined],
  ["Oct 8, 2026", undefined],
  ["2026-13-08T12:00:00Z", undefined],
  [1_700_000_000_000, undefined],
];

for (const [value, iso] of moments) {
  Deno.test(`readMoment() reads ${JSON.stringify(value)} as ${iso} [DM0 times]`, () => {
    const at = readMoment(value);
    strictEqual(at === undefined ? undefined : new Date(at).toISOString(), iso);
  });
}

Deno.test("readEntries() tells a missing, a malformed and a good file apart [DM0]", () => {
  const read = (content: string) => readEntries({ kind: "bytes", bytes: new TextEncoder().encode(content) }, 2);
  deepStrictEqual(readEntries({ kind: "missing" }, 2), { kind: "none" });
  deepStrictEqual(readEntries({ kind: "unusable", why: "it is odd" }, 2), { kind: "malformed", why: "it is odd" });
  deepStrictEqual(read(""), { kind: "malformed", why: "it is empty" });
  deepStrictEqual(read('[{"name":'), { kind: "malformed", why: "it is not JSON in UTF-8" });
  deepStrictEqual(read("{}"), { kind: "malformed", why: "expected an array, got an object" });
  deepStrictEqual(read("null"), { kind: "malformed", why: "expected an array, got null" });
  deepStrictEqual(read('"k_secret"'), { kind: "malformed", why: "expected an array, got a string" });
  deepStrictEqual(read("[1,2,3]"), { kind: "malformed", why: "it has 3 entries, and 2 are allowed" });
  deepStrictEqual(read("\ufeff[1, 2]\n"), { kind: "entries", entries: [1, 2] });
  deepStrictEqual(readEntries({ kind: "bytes", bytes: new Uint8Array([0x5b, 0xff, 0x5d]) }, 2).kind, "malformed");
});

Deno.test("brokenRule() names the field and not its value, takes null for absent and own fields only", () => {
  const rules = { name: { ...text(1, 3), required: true }, note: text(0, 3) };
  strictEqual(brokenRule({ name: "a", note: null, other: 1 }, rules), undefined);
  strictEqual(brokenRule({}, rules), '"name" must be a string of 1 to 3 characters');
  strictEqual(brokenRule({ name: "a", note: "k_secret" }, rules), '"note" must be a string of at most 3 characters');
  strictEqual(fieldOf({}, "toString"), undefined);
  strictEqual(fieldOf(JSON.parse('{"__proto__":{"name":"x"}}'), "name"), undefined);
});
