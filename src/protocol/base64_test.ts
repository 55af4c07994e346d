import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { createSeededRandom } from "@tests/fakes/seeded_random.ts";
import { normalizeBase64 } from "./base64.ts";

const forms: readonly (readonly [name: string, text: string, standard: string])[] = [
  ["standard", "+/+/", "+/+/"],
  ["URL-safe", "-_-_", "+/+/"],
  ["padded", "aGk=", "aGk="],
  ["unpadded", "aGk", "aGk="],
  ["unpadded with one byte over", "aA", "aA=="],
  ["URL-safe and padded", "-_8=", "+/8="],
  ["URL-safe and unpadded", "-_8", "+/8="],
  ["empty", "", ""],
  ["broken into lines", "aGVs\r\nbG8=\n", "aGVsbG8="],
];
for (const [name, text, standard] of forms) {
  Deno.test(`normalizeBase64() gives ${name} base64 in its standard form [§5.6 base64]`, () => {
    strictEqual(normalizeBase64(text), standard);
  });
}

const bad: readonly (readonly [name: string, text: string])[] = [
  ["another character", "aGk*"],
  ["both alphabets", "+_8="],
  ["a single last character", "aGkAA"],
  ["half of the padding", "aA="],
  ["too much padding", "aGk=="],
  ["padding alone", "="],
  ["padding in the middle", "aA==aA=="],
  ["bits behind the last byte", "aB=="],
  ["bits behind the last byte, unpadded", "aB"],
  ["a character over 255", "aGkĀ"],
  ["a data URL", "data:text/plain;base64,aGk="],
];
for (const [name, text] of bad) {
  Deno.test(`normalizeBase64() refuses ${name} [§5.6 base64]`, () => strictEqual(normalizeBase64(text), undefined));
}

Deno.test("normalizeBase64() keeps every byte, in all four forms, for 1,000 random contents [§5.6 base64]", () => {
  const random = createSeededRandom(4);
  for (let n = 0; n < 1000; n++) {
    const bytes = Uint8Array.fromHex(random.hex(random.below(70)));
    const standard = bytes.toBase64();
    const url = standard.replaceAll("+", "-").replaceAll("/", "_");
    for (const form of [standard, url, standard.replace(/=+$/, ""), url.replace(/=+$/, "")]) {
      deepStrictEqual(Uint8Array.fromBase64(normalizeBase64(form)!), bytes);
    }
  }
});
