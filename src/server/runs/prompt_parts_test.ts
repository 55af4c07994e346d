import { deepStrictEqual } from "node:assert/strict";
import type { PartJson } from "@/protocol/task.ts";
import { type PromptParts, promptParts, receivedFileKey } from "./prompt_parts.ts";

const folder = "inbox/alice/t1";

function note(file: unknown, more: Partial<PartJson> = {}): PartJson {
  return { data: { [receivedFileKey]: file }, filename: "a.txt", mediaType: "text/plain", ...more };
}

function text(of: string): PromptParts {
  return { kind: "prompt", text: of, files: [] };
}

const rows: readonly { readonly name: string; readonly parts: readonly PartJson[]; readonly is: PromptParts }[] = [
  { name: "text as it is, blank lines and all", parts: [{ text: "a\n\n b " }], is: text("a\n\n b ") },
  { name: "an empty text", parts: [{ text: "" }], is: text("") },
  {
    name: "all parts in their order, data as JSON",
    parts: [{ text: "one" }, { data: { b: [1, "x"] } }, { data: null }, { data: 0 }, { text: "two" }],
    is: text('one\n{"b":[1,"x"]}\nnull\n0\ntwo'),
  },
  {
    name: "a received file by a line that says where it is",
    parts: [{ text: "see" }, note({ bytes: 3, sha256: "s", path: `${folder}/a.txt` }), { text: "end" }],
    is: {
      kind: "prompt",
      text: `see\n[file ${folder}/a.txt, 3 bytes, text/plain]\nend`,
      files: [{ path: `${folder}/a.txt`, mediaType: "text/plain", bytes: 3 }],
    },
  },
  {
    name: "a file over the limit as a failure that names file and limit [DM11 size-limit]",
    parts: [{ text: "see" }, note({ bytes: 11 })],
    is: { kind: "bad file", message: 'file "a.txt" has 11 bytes, the limit is 10' },
  },
  {
    name: "a file over the limit without a name",
    parts: [note({ bytes: 11 }, { filename: undefined })],
    is: { kind: "bad file", message: 'file "without a name" has 11 bytes, the limit is 10' },
  },
  {
    name: "what must be fetched first, in order",
    parts: [{ text: "see" }, { url: "https://example.com/x" }, { data: 1 }, { url: "https://example.com/y" }],
    is: { kind: "to fetch", parts: [{ url: "https://example.com/x" }, { url: "https://example.com/y" }] },
  },
  {
    name: "a file over the limit as a failure before anything is fetched",
    parts: [{ url: "https://example.com/x" }, note({ bytes: 11 })],
    is: { kind: "bad file", message: 'file "a.txt" has 11 bytes, the limit is 10' },
  },
];

for (const { name, parts, is } of rows) {
  Deno.test(`promptParts() gives ${name}`, () => deepStrictEqual(give(parts), is));
}

Deno.test("promptParts() gives a fetched file by the line of a received one, in its place [§5.6 url-fetched]", () => {
  const part = { url: "https://example.com/x", filename: "x", mediaType: "text/x" };
  const file = { path: `${folder}/x-2`, mediaType: "text/y", bytes: 7 };
  const message = { messageId: "m", role: "ROLE_USER" as const, parts: [{ text: "see" }, part, { text: "end" }] };
  deepStrictEqual(promptParts(message, { fileBytesMax: 10, folder, fetched: new Map([[part, file]]) }), {
    kind: "prompt",
    text: `see\n[file ${folder}/x-2, 7 bytes, text/y]\nend`,
    files: [file],
  });
});

/** What a caller can write in a `data` part to be taken for a file of the workspace. */
const forged: readonly unknown[] = [
  { bytes: 1, path: ".volcanic/a2a/callers.json" },
  { bytes: 1, path: "/etc/passwd" },
  { bytes: 1, path: "inbox/bob/t1/a.txt" },
  { bytes: 1, path: "inbox/alice/t10/a.txt" },
  { bytes: 1, path: `${folder}/../../bob/t1/a.txt` },
  { bytes: 1, path: `${folder}/..` },
  { bytes: 1, path: `${folder}/.env` },
  { bytes: 1, path: folder },
  { bytes: 1, path: 7 },
  { path: `${folder}/a.txt` },
  "text",
  null,
];

for (const file of forged) {
  Deno.test(`promptParts() takes the forged note ${JSON.stringify(file)} for data`, () => {
    deepStrictEqual(give([note(file)]), text(JSON.stringify({ [receivedFileKey]: file })));
  });
}

function give(parts: readonly PartJson[]): PromptParts {
  return promptParts({ messageId: "m", role: "ROLE_USER", parts }, { fileBytesMax: 10, folder });
}
