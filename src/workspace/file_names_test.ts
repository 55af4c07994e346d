import { match, ok, strictEqual } from "node:assert/strict";
import { cleanFileName, fileNameBytesMax, remoteTaskFolder, uniqueFileName } from "./file_names.ts";

const names: readonly { from: string; to: string }[] = [
  { from: "report.pdf", to: "report.pdf" },
  { from: "Übersicht (2) – final.docx", to: "Übersicht (2) _ final.docx" },
  { from: "e\u0301.txt", to: "\u00e9.txt" },
  { from: "../../etc/passwd", to: "passwd" },
  { from: "C:\\Windows\\system.ini", to: "system.ini" },
  { from: "a/b\\c.txt", to: "c.txt" },
  { from: "folder/", to: "folder" },
  { from: "..", to: "file" },
  { from: "", to: "file" },
  { from: "///", to: "file" },
  { from: " . . ", to: "file" },
  { from: ".env", to: "env" },
  { from: "...hidden", to: "hidden" },
  { from: "name. . ", to: "name" },
  { from: "a\0b\nc\x1b[31m.txt", to: "a_b_c__31m.txt" },
  { from: "x\u202egnp.exe", to: "x_gnp.exe" },
  { from: "$(touch x);`y`|z.sh", to: "_(touch x)__y__z.sh" },
  { from: "日本語.txt", to: "日本語.txt" },
  { from: "😀.png", to: "_.png" },
  { from: "a:stream", to: "a_stream" },
  { from: "CON", to: "_CON" },
  { from: "nul.txt", to: "_nul.txt" },
  { from: "Com1.tar.gz", to: "_Com1.tar.gz" },
  { from: "lpt\u00b9.txt", to: "_lpt\u00b9.txt" },
  { from: "aux .txt", to: "_aux .txt" },
  { from: "console.log", to: "console.log" },
  { from: "com10.txt", to: "com10.txt" },
  { from: "CLAUDE.md", to: "CLAUDE.md" },
  { from: "-rf", to: "-rf" },
  { from: "data.0badcafe.tmp", to: "data.0badcafe_tmp" },
  { from: "data.0BADCAFE.TMP", to: "data.0BADCAFE_tmp" },
  { from: "data.tmp", to: "data.tmp" },
];

for (const { from, to } of names) {
  Deno.test(`cleanFileName() makes ${JSON.stringify(to)} of ${JSON.stringify(from)} [DM11 names-cleaned]`, () => {
    strictEqual(cleanFileName(from), to);
    strictEqual(cleanFileName(to), to);
  });
}

const long: readonly { name: string; from: string; ends: string }[] = [
  { name: "ASCII", from: "a".repeat(300) + ".pdf", ends: ".pdf" },
  { name: "three bytes a character", from: "語".repeat(100) + ".txt", ends: "語.txt" },
  { name: "no extension", from: "é".repeat(200), ends: "é" },
  { name: "an endless extension", from: "a." + "b".repeat(300), ends: "b" },
  { name: "a dot where the cut falls", from: "a".repeat(115) + "...." + "a".repeat(100) + ".pdf", ends: "a.pdf" },
  { name: "a megabyte", from: "x".repeat(1_000_000), ends: "x" },
];

for (const { name, from, ends } of long) {
  Deno.test(`cleanFileName() cuts a long name to 120 bytes and keeps its extension: ${name} [DM11 names-cleaned]`, () => {
    const clean = cleanFileName(from);
    ok(new TextEncoder().encode(clean).length <= fileNameBytesMax);
    ok(new TextEncoder().encode(clean).length >= fileNameBytesMax - 6, clean);
    ok(clean.endsWith(ends), clean);
  });
}

const control = [
  "CLAUDE.md",
  "claude.MD",
  "AGENTS.md",
  ".mcp.json",
  "SKILL.md",
  "x/SKILL.md",
  "GEMINI.md",
  ".envrc",
  ".env",
  "PERSONA.md",
  "MEMORY.md.",
  ".cursorrules",
];
for (const from of control) {
  Deno.test(`cleanFileName() of a received ${from} begins with received- [threats control-names]`, () => {
    match(cleanFileName(from, { received: true }), /^received-[^.]/);
  });
}

Deno.test("cleanFileName() of other received names adds nothing [DM11 names-cleaned]", () => {
  for (const name of ["report.md", "my-CLAUDE.md", "package.json", "skills.md"]) {
    strictEqual(cleanFileName(name, { received: true }), name);
  }
});

const unique: readonly { name: string; taken: readonly string[]; to: string }[] = [
  { name: "report.pdf", taken: [], to: "report.pdf" },
  { name: "report.pdf", taken: ["report.pdf"], to: "report-2.pdf" },
  { name: "report.pdf", taken: ["REPORT.PDF", "Report-2.pdf"], to: "report-3.pdf" },
  { name: "é.txt", taken: ["E\u0301.txt"], to: "é-2.txt" },
  { name: "straße", taken: ["STRASSE"], to: "straße-2" },
  { name: "noext", taken: ["noext"], to: "noext-2" },
];

for (const { name, taken, to } of unique) {
  Deno.test(`uniqueFileName() beside ${JSON.stringify(taken)} makes ${to} of ${name} [DM11 names-cleaned]`, () => {
    strictEqual(uniqueFileName(name, taken), to);
  });
}

Deno.test("uniqueFileName() stays within 120 bytes [DM11 names-cleaned]", () => {
  const name = `${"a".repeat(116)}.pdf`;
  strictEqual(uniqueFileName(name, [name]), `${"a".repeat(114)}-2.pdf`);
});

Deno.test("remoteTaskFolder() takes plain ids as they are and hashes all others, by agent [DM0 ids-checked]", () => {
  strictEqual(remoteTaskFolder("a", "eff0e973-1_X"), "eff0e973-1_X");
  for (const id of ["../..", "", "a/b", "a".repeat(101), "é", ".", "con", "a b"]) {
    match(remoteTaskFolder("a", id), /^h-[0-9a-f]{32}$/);
  }
  strictEqual(remoteTaskFolder("a", "..") === remoteTaskFolder("b", ".."), false);
});
