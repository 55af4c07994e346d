import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { createSeededRandom } from "@tests/fakes/seeded_random.ts";
import { findJsonExcess, type JsonExcess } from "./json_limits.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const list = (count: number, item = "1") => `[${Array(count).fill(item).join(",")}]`;
const parts = (count: number, key = `"parts"`) => `{"message":{${key}:${list(count, `{"text":"a"}`)}}}`;
const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

const rows: readonly { name: string; json: string; limit?: JsonExcess["limit"] }[] = [
  { name: "nothing", json: "" },
  { name: "an ordinary call", json: `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}` },
  { name: "64 levels", json: nested(64) },
  { name: "65 levels", json: nested(65), limit: "depth" },
  { name: "65 levels of objects", json: `{"a":`.repeat(64) + "{}" + "}".repeat(64), limit: "depth" },
  { name: "many shallow arrays", json: list(5000, "[[]]") },
  { name: "brackets in a string", json: `{"a":"${"[".repeat(200)}"}` },
  { name: "brackets behind an escaped quote", json: `{"a":"\\"${"[".repeat(200)}\\\\"}` },
  { name: "a string that ends in a backslash, then depth", json: `["\\\\",${nested(64)}]`, limit: "depth" },
  { name: "100,000 values", json: list(99_999) },
  { name: "100,001 values", json: list(100_000), limit: "values" },
  { name: "100,001 strings", json: list(100_000, `"a"`), limit: "values" },
  { name: "100,001 literals with white space", json: list(100_000, " null\n"), limit: "values" },
  { name: "100,001 members", json: `{${Array(100_000).fill(`"a":1`).join(",")}}`, limit: "values" },
  { name: "keys without values", json: `{${Array(100_002).fill(`"a"`).join(",")}`, limit: "values" },
  { name: "256 parts", json: parts(256) },
  { name: "257 parts", json: parts(257), limit: "parts" },
  { name: "257 parts under a name in escapes", json: parts(257, `"p\\u0061rts"`), limit: "parts" },
  {
    name: "257 parts under a name all in escapes",
    json: parts(257, `"\\u0070\\u0061\\u0072\\u0074\\u0073"`),
    limit: "parts",
  },
  { name: "257 parts behind a space before the colon", json: `{"parts" : ${list(257)}}`, limit: "parts" },
  { name: "257 elements of another name", json: `{"items":${list(300)}}` },
  { name: "257 parts as the last of two", json: `{"parts":[1],"parts":${list(257)}}`, limit: "parts" },
  { name: "parts as a value", json: `["parts",${list(300)}]` },
  { name: "an object with parts, then another list", json: `[{"parts":1},${list(300)},{"parts":[]},${list(300)}]` },
  { name: "parts as the name of a text, then another list", json: `{"parts":"x","y":${list(300)}}` },
  { name: "a caller's own parts inside a part", json: `{"parts":[{"data":{"parts":${list(300)}}}]}` },
  { name: "several messages of 200 parts", json: list(3, `{"parts":${list(200)}}`) },
  { name: "parts after a part that holds objects", json: `{"parts":[{"a":{}},${list(255).slice(1)}}` },
  { name: "garbage that closes too much", json: `]]]}}},,,"` },
  { name: "garbage that closes and then nests", json: `]]]${nested(65)}`, limit: "depth" },
  { name: "a string that never ends", json: `{"a":"${"x".repeat(1000)}` },
];
for (const { name, json, limit } of rows) {
  Deno.test(`findJsonExcess() ${limit === undefined ? "lets pass" : `stops at ${limit}:`} ${name} [§5.6 counted-before-parse]`, () => {
    strictEqual(findJsonExcess(bytes(json))?.limit, limit);
  });
}

Deno.test("findJsonExcess() names the limit", () => {
  deepStrictEqual(findJsonExcess(bytes("[[1]]"), { depthMax: 1, valuesMax: 9, partsMax: 9 }), {
    limit: "depth",
    max: 1,
  });
});

Deno.test("findJsonExcess() stops early in 24 MB with 2 million parts [§5.6 counted-before-parse]", () => {
  const part = `{"text":"a"},`;
  const body = new Uint8Array(26_000_000);
  const head = bytes(`{"message":{"parts":[`);
  body.set(head);
  const one = bytes(part);
  for (let at = head.length; at + one.length <= body.length; at += one.length) body.set(one, at);
  const before = performance.now();
  deepStrictEqual(findJsonExcess(body), { limit: "parts", max: 256 });
  ok(performance.now() - before < 1000);
});

const slow: readonly { name: string; body: string }[] = [
  { name: "one long text", body: `["${"A".repeat(8_000_000)}"]` },
  { name: "escaped quotes", body: `["${'\\"'.repeat(4_000_000)}"]` },
  { name: "backslashes", body: `["${"\\\\".repeat(4_000_000)}"]` },
  { name: "backslashes that never end", body: `["${"\\".repeat(8_000_000)}` },
  { name: "keys without values", body: `{${`"a",`.repeat(2_000_000)}` },
  { name: "separators", body: ",:".repeat(4_000_000) },
  { name: "closing brackets", body: "]}".repeat(4_000_000) },
];
for (const { name, body } of slow) {
  Deno.test(`findJsonExcess() takes linear time for ${name} [§5.6 counted-before-parse]`, () => {
    const before = performance.now();
    findJsonExcess(bytes(body));
    ok(performance.now() - before < 2000);
  });
}

/** Counts as the scanner should, from the built value. */
function countOf(value: unknown): { values: number; depth: number } {
  if (typeof value !== "object" || value === null) return { values: 1, depth: 0 };
  const inner = Object.values(value).map(countOf);
  return {
    values: 1 + inner.reduce((sum, { values }) => sum + values, 0),
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
  };
}

Deno.test("findJsonExcess() counts what JSON.parse builds, for 2,000 random values", () => {
  const random = createSeededRandom(6);
  const make = (depth: number): unknown => {
    const texts = ["", "parts", 'a"b', "\\", "[{", "ü\u2028😀", "\n"];
    if (depth === 0 || random.chance(0.4)) return random.pick<unknown>([1, -2.5e3, true, false, null, ...texts]);
    const items = Array.from({ length: random.below(5) }, () => make(depth - 1));
    return random.chance(0.5) ? items : Object.fromEntries(items.map((item, n) => [random.pick(texts) + n, item]));
  };
  for (let n = 0; n < 2000; n++) {
    const value = make(6);
    const { values, depth } = countOf(value);
    const text = bytes(JSON.stringify(value, null, random.below(3)));
    const limits = { depthMax: depth, valuesMax: values, partsMax: Infinity };
    strictEqual(findJsonExcess(text, limits), undefined);
    strictEqual(findJsonExcess(text, { ...limits, valuesMax: values - 1 })?.limit, "values");
    if (depth > 0) strictEqual(findJsonExcess(text, { ...limits, depthMax: depth - 1 })?.limit, "depth");
  }
});
