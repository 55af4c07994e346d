import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { A2AError, type FieldViolation } from "./errors.ts";
import { readRequest } from "./field_reader.ts";
import { type IncomingMessage, messageLimits, readMessage } from "./message_wire.ts";

const minimal = { messageId: "m1", role: "ROLE_USER", parts: [{ text: "hi" }] };

function parse(message: unknown): IncomingMessage {
  const value = readRequest(message, readMessage);
  if (value instanceof A2AError) throw value;
  return value;
}

function violations(message: unknown): readonly FieldViolation[] {
  const error = readRequest(message, readMessage);
  ok(error instanceof A2AError, JSON.stringify(error));
  strictEqual(error.reason, "INVALID_PARAMS");
  return error.fieldViolations;
}

const partOf = (part: unknown) => parse({ ...minimal, parts: [part] }).parts[0];

Deno.test("readMessage() keeps what is set in camelCase, and nothing else", () => {
  const message = {
    messageId: "m1",
    role: "ROLE_USER",
    parts: [
      { text: "hi", metadata: { a: [1, null] } },
      { data: { any: ["json", 1.5, null] }, mediaType: "application/json" },
      { raw: "aGk=", filename: "a.txt", mediaType: "text/plain" },
      { url: "https://example.com/a.txt", filename: "a.txt" },
    ],
    contextId: "c-1",
    taskId: "0a6e7e0c-7c38-4f25-8a6b-3a1c2b0d9e11",
    referenceTaskIds: ["t1"],
    extensions: ["https://example.com/ext/v1"],
    metadata: { "https://example.com/ext/v1": { on: true }, "volcanic.hops": 1 },
  };
  deepStrictEqual(parse(message), message);
  deepStrictEqual(parse({ ...minimal, kind: "message", final: true, context_id: null, metadata: null }), minimal);
});

Deno.test("readMessage() reads snake_case names and enum numbers [§5.1 proto-json]", () => {
  const message = {
    message_id: "m1",
    role: 1,
    parts: [{ raw: "aGk", media_type: "text/plain" }],
    context_id: "c",
    task_id: "t",
    reference_task_ids: ["x"],
  };
  deepStrictEqual(parse(message), {
    messageId: "m1",
    role: "ROLE_USER",
    parts: [{ raw: "aGk=", mediaType: "text/plain" }],
    contextId: "c",
    taskId: "t",
    referenceTaskIds: ["x"],
  });
});

Deno.test("readMessage() keeps a taskId that is no id of ours, for the operation to not find [case 39]", () => {
  for (const taskId of ["no-uuid", "../../callers", "0A6E7E0C-7C38-4F25-8A6B-3A1C2B0D9E11", "é"]) {
    strictEqual(parse({ ...minimal, taskId }).taskId, taskId);
  }
});

const parts: readonly (readonly [name: string, part: unknown, gives: unknown])[] = [
  ["an empty text", { text: "" }, { text: "" }],
  ["no bytes", { raw: "" }, { raw: "" }],
  ["data that is null", { data: null }, { data: null }],
  ["data that is false", { data: false }, { data: false }],
  ["a text beside nulls", { text: "a", raw: null, url: null, data: null }, { text: "a" }],
  ["URL-safe base64", { raw: "-_8" }, { raw: "+/8=" }],
  ["a data: URL", { url: "data:text/plain;base64,aGk", filename: "a" }, {
    raw: "aGk=",
    mediaType: "text/plain",
    filename: "a",
  }],
  ["a data: URL with the part's own type", { url: "data:,hi", mediaType: "text/csv" }, {
    raw: "aGk=",
    mediaType: "text/csv",
  }],
  ["an empty filename as none", { text: "a", filename: "", mediaType: "" }, { text: "a" }],
  ["data that has parts of its own", { data: { parts: Array(300).fill(1) } }, { data: { parts: Array(300).fill(1) } }],
];
for (const [name, part, gives] of parts) {
  Deno.test(`readMessage() takes ${name} [§5.6 base64, §5.6 data-urls]`, () => deepStrictEqual(partOf(part), gives));
}

const oneOf = "must have exactly one of text, raw, url, data, and has";
const badParts: readonly (readonly [id: string, part: unknown, field: string, description: string])[] = [
  ["S5", {}, "parts[0]", `${oneOf} none`],
  ["S5", { text: null }, "parts[0]", `${oneOf} none`],
  ["S5", { kind: "text", filename: "x" }, "parts[0]", `${oneOf} none`],
  ["S5", { text: "a", raw: "aGk=" }, "parts[0]", `${oneOf} text and raw`],
  ["S5", { text: "a", data: 0 }, "parts[0]", `${oneOf} text and data`],
  ["S5", { url: "https://a", raw: "" }, "parts[0]", `${oneOf} raw and url`],
  ["S5", null, "parts[0]", "must be an object, got nothing"],
  ["S5", "hi", "parts[0]", "must be an object, got a string"],
  ["S5", { text: 1 }, "parts[0].text", "must be a string, got a number"],
  ["§5.6 base64", { raw: "a*b" }, "parts[0].raw", "must be base64, standard or URL-safe"],
  ["§5.6 base64", { raw: [1, 2] }, "parts[0].raw", "must be a string, got an array"],
  ["§5.6 data-urls", { url: "data:;base64,*" }, "parts[0].url", "must be a data: URL that can be decoded"],
  ["S5", { url: "example.com/a" }, "parts[0].url", "must be an absolute URL"],
  ["S5", { url: "" }, "parts[0].url", "must not be blank"],
  ["S5", { url: `https://a/${"a".repeat(9000)}` }, "parts[0].url", "must be at most 8192 characters"],
  ["S5", { text: "a", filename: "a\nb" }, "parts[0].filename", "must be without control characters"],
  ["S5", { text: "a", media_type: 1 }, "parts[0].mediaType", "must be a string, got a number"],
  [
    "S5",
    { text: "a", mediaType: "x", media_type: "x" },
    "parts[0].mediaType",
    "is given twice, as mediaType and as media_type",
  ],
  ["S5", { text: "a", metadata: [1] }, "parts[0].metadata", "must be an object, got an array"],
  [
    "S5",
    { text: "a", metadata: { a: "x".repeat(65536) } },
    "parts[0].metadata",
    "must be at most 65536 characters of JSON",
  ],
  ["S5", { data: "x".repeat(1024 * 1024) }, "parts[0].data", "must be at most 1048576 characters of JSON"],
  [
    "S5",
    { data: { "volcanic.file": { path: ".volcanic/a2a/callers.json", bytes: 1 } } },
    "parts[0].data",
    `must not have a member "volcanic.file": the name is the server's own`,
  ],
];
for (const [id, part, field, description] of badParts) {
  Deno.test(`readMessage() refuses a part like ${JSON.stringify(part).slice(0, 70)} [${id}]`, () => {
    deepStrictEqual(violations({ ...minimal, parts: [part] }), [{ field, description }]);
  });
}

const context = "must be 1 to 100 of A-Z, a-z, 0-9, _ and -";
const bad: readonly (readonly [change: Record<string, unknown>, field: string, description: string])[] = [
  [{ messageId: undefined }, "messageId", "is required"],
  [{ messageId: " " }, "messageId", "must not be blank"],
  [{ messageId: 5 }, "messageId", "must be a string, got a number"],
  [{ messageId: "m".repeat(257) }, "messageId", "must be at most 256 characters"],
  [{ role: undefined }, "role", "is required"],
  [{ role: "ROLE_UNSPECIFIED" }, "role", "is required"],
  [{ role: 0 }, "role", "is required"],
  [{ role: "ROLE_AGENT" }, "role", "must be one of ROLE_USER"],
  [{ role: 2 }, "role", "must be one of ROLE_USER"],
  [{ role: "user" }, "role", "must be one of ROLE_USER"],
  [{ parts: undefined }, "parts", "is required"],
  [{ parts: null }, "parts", "is required"],
  [{ parts: [] }, "parts", "must have at least one part"],
  [{ parts: "x" }, "parts", "must be an array, got a string"],
  [{ parts: {} }, "parts", "must be an array, got an object"],
  [{ parts: Array(257).fill({ text: "a" }) }, "parts", "has 257 elements, and 256 are allowed"],
  [{ contextId: "" }, "contextId", context],
  [{ contextId: "a/b" }, "contextId", context],
  [{ contextId: "a".repeat(101) }, "contextId", "must be at most 100 characters"],
  [{ taskId: "" }, "taskId", "must not be blank"],
  [{ taskId: "  " }, "taskId", "must not be blank"],
  [{ taskId: 7 }, "taskId", "must be a string, got a number"],
  [{ referenceTaskIds: "x" }, "referenceTaskIds", "must be an array, got a string"],
  [{ referenceTaskIds: ["x", ""] }, "referenceTaskIds[1]", "must not be blank"],
  [{ referenceTaskIds: Array(65).fill("x") }, "referenceTaskIds", "has 65 elements, and 64 are allowed"],
  [{ extensions: [1] }, "extensions[0]", "must be a string, got a number"],
  [{ metadata: [1] }, "metadata", "must be an object, got an array"],
  [{ metadata: "x" }, "metadata", "must be an object, got a string"],
];
for (const [change, field, description] of bad) {
  Deno.test(`readMessage() refuses ${JSON.stringify(change).slice(0, 60)} (${field} ${description}) [S5, case 39]`, () => {
    deepStrictEqual(violations({ ...minimal, ...change }), [{ field, description }]);
  });
}

Deno.test("readMessage() tells all that is wrong at once", () => {
  const fields = violations({ role: "user", parts: [{ text: "a" }, {}, { raw: "*" }], contextId: "?" });
  deepStrictEqual(fields.map(({ field }) => field), ["messageId", "role", "contextId", "parts[1]", "parts[2].raw"]);
});

Deno.test("readMessage() takes a text of 1 MiB and refuses one byte more, counted in UTF-8", () => {
  const { textBytes } = messageLimits;
  for (
    const [text, fits] of [["a".repeat(textBytes), true], ["a".repeat(textBytes + 1), false], [
      "é".repeat(textBytes / 2),
      true,
    ]] as const
  ) {
    strictEqual(readRequest({ ...minimal, parts: [{ text }] }, readMessage) instanceof A2AError, !fits);
  }
  deepStrictEqual(violations({ ...minimal, parts: [{ text: "é".repeat(textBytes / 2 + 1) }] }), [
    { field: "parts[0].text", description: "must be at most 1048576 bytes" },
  ]);
});

Deno.test("readMessage() keeps the parts in their order", () => {
  const texts = Array.from({ length: 256 }, (_, n) => ({ text: `${n}` }));
  deepStrictEqual(parse({ ...minimal, parts: texts }).parts, texts);
});
