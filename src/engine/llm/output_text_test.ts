import { ok, strictEqual } from "node:assert/strict";
import { cutOutput, outputBytesMax, ProgramOutput } from "./output_text.ts";

Deno.test("cutOutput() leaves what fits and cuts the rest at a character, marked [§8 llm-output-cut]", () => {
  strictEqual(cutOutput("héllo", 6), "héllo");
  strictEqual(cutOutput("héllo", 5), "héll\n[cut: 1 more bytes]");
  strictEqual(cutOutput("aé€", 4), "aé\n[cut: 2 more bytes]");
  ok(cutOutput("x".repeat(outputBytesMax + 1)).endsWith("[cut: 1 more bytes]"));
  strictEqual(cutOutput("x".repeat(outputBytesMax)).length, outputBytesMax);
});

/** What is kept of `text` when it comes in pieces of `size` bytes. */
function kept(text: string, size: number, bytesMax: number): string {
  const output = new ProgramOutput(bytesMax);
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) output.add(bytes.subarray(at, at + size));
  return output.text;
}

Deno.test("ProgramOutput keeps head and tail, whatever the pieces it comes in [§8 llm-output-cut]", () => {
  for (let length = 0; length <= 40; length++) {
    const text = Array.from({ length }, (_, index) => String.fromCharCode(97 + index % 26)).join("");
    const expected = length <= 10
      ? text
      : `${text.slice(0, 5)}\n[cut: ${length - 10} bytes left out here]\n${text.slice(-5)}`;
    for (const size of [1, 2, 3, 4, 5, 7, 10, 11, 40]) {
      strictEqual(kept(text, size, 10), expected, `${length} by ${size}`);
    }
  }
});

Deno.test("ProgramOutput never shows half a character [§8 llm-output-cut]", () => {
  for (let pad = 0; pad < 6; pad++) {
    const shown = kept("x".repeat(pad) + "€".repeat(20), 7, 16);
    ok(!shown.includes("\ufffd"), shown);
    ok(shown.includes("[cut:"));
  }
  strictEqual(kept("€€", 1, 100), "€€");
});
