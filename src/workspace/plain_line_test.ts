import { strictEqual } from "node:assert/strict";
import { firstPlainLine, plainLine } from "./plain_line.ts";

const rows: readonly { name: string; text: string; line: string }[] = [
  { name: "a line as it is", text: "Kind.", line: "Kind." },
  { name: "several lines as one", text: " One\r\n  two\u2028three\u0085four ", line: "One two three four" },
  { name: "no control characters", text: "a\x1b]52;c;x\x07b\x9b\u202ec\u2066d", line: "a]52;c;xbcd" },
  { name: "as many characters as are allowed", text: "é".repeat(20), line: "é".repeat(20) },
  { name: "an ellipsis for what is cut", text: "x".repeat(21), line: `${"x".repeat(19)}…` },
  { name: "no half of a character", text: "😀".repeat(21), line: `${"😀".repeat(19)}…` },
  { name: "nothing of a blank text", text: " \n\x00\n", line: "" },
];

for (const { name, text, line } of rows) {
  Deno.test(`plainLine() gives ${name} [DM2 not-through-a-link]`, () => strictEqual(plainLine(text, 20), line));
}

Deno.test("firstPlainLine() gives the first line that is not blank", () => {
  strictEqual(firstPlainLine("\ufeff\r\n \t\n # Kind \r\nTwo"), "# Kind");
  strictEqual(firstPlainLine(" \n\x00\n"), undefined);
});
