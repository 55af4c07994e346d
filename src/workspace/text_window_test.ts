import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { systemClock } from "@/time/clock.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createDisk } from "./disk.ts";
import { cutLine, readTextWindow, textOf, type TextWindowOptions } from "./text_window.ts";

const disk = createDisk(systemClock);

async function read(content: string | Uint8Array, options: Partial<TextWindowOptions> = {}) {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/a`;
  await Deno.writeFile(path, typeof content === "string" ? new TextEncoder().encode(content) : content);
  using file = await disk.openRead(path);
  return await readTextWindow(file, { from: 1, count: 10, bytesMax: 10_000, lineCharsMax: 100, ...options });
}

const whole = (text: string, lines: number) => ({ kind: "window", text, lines, isCut: false });

const rows: readonly { name: string; content: string; options?: Partial<TextWindowOptions>; expected: unknown }[] = [
  { name: "an empty file", content: "", expected: whole("", 0) },
  { name: "one line without an end", content: "one", expected: whole("one", 1) },
  { name: "a line feed at the end as no further line", content: "one\ntwo\n", expected: whole("one\ntwo", 2) },
  { name: "blank lines", content: "\n\nx\n\n", expected: whole("\n\nx\n", 4) },
  { name: "CRLF as line ends", content: "one\r\n\r\ntwo\r\n", expected: whole("one\n\ntwo", 3) },
  { name: "a carriage return inside of a line", content: "a\rb\n", expected: whole("a\rb", 1) },
  { name: "a mark at the beginning as none", content: "\ufeffone\n", expected: whole("one", 1) },
  { name: "characters beyond Latin", content: "añ💥\nж\n", expected: whole("añ💥\nж", 2) },
  {
    name: "lines from the middle, and says that more follow",
    content: "1\n2\n3\n4\n",
    options: { from: 2, count: 2 },
    expected: { kind: "window", text: "2\n3", lines: 4, isCut: true },
  },
  { name: "the last lines", content: "1\n2\n3\n4\n", options: { from: 3, count: 9 }, expected: whole("3\n4", 4) },
  { name: "nothing behind the last line", content: "1\n", options: { from: 5 }, expected: whole("", 1) },
  {
    name: "as many bytes as it may, in whole lines",
    content: "aaaa\nbbbb\ncccc\n",
    options: { bytesMax: 10 },
    expected: { kind: "window", text: "aaaa\nbbbb", lines: 3, isCut: true },
  },
  {
    name: "one line at least, and none behind a line without room",
    content: "ä".repeat(20) + "\nb\nc\n",
    options: { bytesMax: 10 },
    expected: { kind: "window", text: "ä".repeat(20), lines: 3, isCut: true },
  },
  {
    name: "a long line cut and marked",
    content: `${"x".repeat(101)}\ny\n`,
    expected: { kind: "window", text: `${"x".repeat(100)}… (cut, 101 characters in all)\ny`, lines: 2, isCut: true },
  },
  {
    name: "a line of just the limit, CRLF behind it",
    content: `${"x".repeat(100)}\r\n`,
    expected: whole("x".repeat(100), 1),
  },
];

for (const { name, content, options, expected } of rows) {
  Deno.test(`readTextWindow() gives ${name} [§6 file-tools]`, async () => {
    deepStrictEqual(await read(content, options), expected);
  });
}

Deno.test("readTextWindow() puts together what a piece of the file cuts in two [§6 file-tools]", async () => {
  for (const lead of [65_535, 65_534, 65_533]) {
    const content = `${"a".repeat(lead)}💥\r\nend\n`;
    const found = await read(content, { from: 1, lineCharsMax: 70_000, bytesMax: 200_000 });
    deepStrictEqual(found, whole(`${"a".repeat(lead)}💥\nend`, 2));
  }
});

Deno.test("readTextWindow() keeps only what it gives of a line of 30 MB [§6 file-tools]", async () => {
  const found = await read(`${"x".repeat(30_000_000)}\nend`);
  ok(found !== "no text");
  strictEqual(found.text, `${"x".repeat(100)}… (cut, 30000000 characters in all)\nend`);
});

for (
  const [name, bytes] of Object.entries({ "a NUL": [97, 0], "Latin-1": [0xe9, 97], "half a character": [97, 0xc3] })
) {
  Deno.test(`readTextWindow() and textOf() say of ${name} that it is no text [§6 file-tools]`, async () => {
    strictEqual(await read(new Uint8Array(bytes)), "no text");
    strictEqual(textOf(new Uint8Array(bytes)), undefined);
  });
}

Deno.test("textOf() keeps a mark at the beginning; cutLine() leaves no half character [§6 file-tools]", () => {
  strictEqual(textOf(new TextEncoder().encode("\ufeffa\r\n")), "\ufeffa\r\n");
  strictEqual(cutLine("ab", 2), "ab");
  strictEqual(cutLine("a💥b", 2), "a… (cut, 4 characters in all)");
});
