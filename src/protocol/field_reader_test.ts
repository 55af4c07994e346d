import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { A2AError, type FieldViolation } from "./errors.ts";
import { type FieldReader, readRequest } from "./field_reader.ts";

function read<T>(json: unknown, how: (fields: FieldReader) => T): T {
  const value = readRequest(json, how);
  if (value instanceof A2AError) throw value;
  return value as T;
}

function violations(json: unknown, how: (fields: FieldReader) => unknown): readonly FieldViolation[] {
  const error = readRequest(json, how);
  ok(error instanceof A2AError);
  strictEqual(error.reason, "INVALID_PARAMS");
  return error.fieldViolations;
}

const text = { charsMax: 10 };

Deno.test("FieldReader reads both spellings [§5.1 proto-json, P11]", () => {
  const both = [{ contextId: "c" }, { context_id: "c" }, { contextId: null, other: 1 }];
  deepStrictEqual(both.map((json) => read(json, (fields) => fields.text("contextId", text))), ["c", "c", undefined]);
  strictEqual(
    read({ task_push_notification_config: {} }, (fields) => fields.nested("taskPushNotificationConfig") !== undefined),
    true,
  );
});

Deno.test("FieldReader refuses both spellings at once, naming the field once [§5.1 proto-json]", () => {
  deepStrictEqual(
    violations({ a: { contextId: "c", context_id: "c" } }, (fields) => {
      const inner = fields.nested("a")!;
      return [inner.text("contextId", text), inner.text("contextId", text)];
    }),
    [{ field: "a.contextId", description: "is given twice, as contextId and as context_id" }],
  );
});

Deno.test("FieldReader reads own members only, whatever stands in the prototype", () => {
  const json = Object.create({ id: "x" });
  strictEqual(read(json, (fields) => fields.text("id", text)), undefined);
  strictEqual(read({}, (fields) => fields.value("constructor")), undefined);
});

const good: readonly { name: string; json: unknown; how: (fields: FieldReader) => unknown; gives: unknown }[] = [
  { name: "a text", json: { a: "x" }, how: (f) => f.text("a", text), gives: "x" },
  { name: "null as unset", json: { a: null }, how: (f) => f.text("a", text), gives: undefined },
  { name: "true", json: { a: true }, how: (f) => f.flag("a"), gives: true },
  { name: "a number", json: { a: 7 }, how: (f) => f.wholeNumber("a", { min: 0, max: 9 }), gives: 7 },
  { name: "a number in a string", json: { a: "7" }, how: (f) => f.wholeNumber("a", { min: 0, max: 9 }), gives: 7 },
  {
    name: "a whole number with a point",
    json: { a: "7.0" },
    how: (f) => f.wholeNumber("a", { min: 0, max: 9 }),
    gives: 7,
  },
  { name: "negative zero as zero", json: { a: -0 }, how: (f) => f.wholeNumber("a", { min: 0, max: 9 }), gives: 0 },
  { name: "an enum by name", json: { a: "ONE" }, how: (f) => f.enumName("a", ["NONE", "ONE"]), gives: "ONE" },
  { name: "an enum by number", json: { a: 1 }, how: (f) => f.enumName("a", ["NONE", "ONE"]), gives: "ONE" },
  {
    name: "the first of an enum as unset",
    json: { a: 0 },
    how: (f) => f.enumName("a", ["NONE", "ONE"]),
    gives: undefined,
  },
  { name: "texts", json: { a: ["x", "y"] }, how: (f) => f.texts("a", { ...text, itemsMax: 2 }), gives: ["x", "y"] },
  { name: "free JSON", json: { a: { b: [1] } }, how: (f) => f.struct("a", 100), gives: { b: [1] } },
  { name: "a time", json: { a: "1970-01-01T00:00:01Z" }, how: (f) => f.instantMs("a"), gives: 1000 },
];
for (const { name, json, how, gives } of good) {
  Deno.test(`FieldReader reads ${name}`, () => deepStrictEqual(read(json, how), gives));
}

const range = { min: 0, max: 9 };
const bad: readonly { json: unknown; how: (fields: FieldReader) => unknown; says: string; at?: string }[] = [
  { json: { a: 1 }, how: (f) => f.text("a", text), says: "must be a string, got a number" },
  { json: { a: "01234567890" }, how: (f) => f.text("a", text), says: "must be at most 10 characters" },
  { json: { a: "ää" }, how: (f) => f.text("a", { charsMax: 10, bytesMax: 3 }), says: "must be at most 3 bytes" },
  { json: { a: " \n" }, how: (f) => f.text("a", text), says: "must not be blank" },
  { json: { a: "x" }, how: (f) => f.text("a", { ...text, fits: () => false, expects: "y" }), says: "must be y" },
  { json: {}, how: (f) => f.requiredText("a", text), says: "is required" },
  { json: { a: null }, how: (f) => f.requiredText("a", text), says: "is required" },
  { json: { a: "false" }, how: (f) => f.flag("a"), says: "must be true or false, got a string" },
  { json: { a: 0 }, how: (f) => f.flag("a"), says: "must be true or false, got a number" },
  ...[-1, 10, 1.5, "", " 7", "0x1", "7a", "Infinity", true, [], {}].map((a) => ({
    json: { a },
    how: (f: FieldReader) => f.wholeNumber("a", range),
    says: "must be a whole number from 0 to 9",
  })),
  ...["TWO", "one", "1", "length", 2, -1, 0.5, true, ["ONE"]].map((a) => ({
    json: { a },
    how: (f: FieldReader) => f.enumName("a", ["NONE", "ONE"]),
    says: "must be one of ONE",
  })),
  { json: { a: "x" }, how: (f) => f.texts("a", { ...text, itemsMax: 2 }), says: "must be an array, got a string" },
  {
    json: { a: ["x", 1] },
    how: (f) => f.texts("a", { ...text, itemsMax: 2 }),
    says: "must be a string, got a number",
    at: "a[1]",
  },
  {
    json: { a: ["", "", ""] },
    how: (f) => f.texts("a", { ...text, itemsMax: 2 }),
    says: "has 3 elements, and 2 are allowed",
  },
  { json: { a: [1] }, how: (f) => f.struct("a", 100), says: "must be an object, got an array" },
  { json: { a: { b: "0123456789" } }, how: (f) => f.struct("a", 10), says: "must be at most 10 characters of JSON" },
  { json: { a: "x" }, how: (f) => f.nested("a"), says: "must be an object, got a string" },
  { json: { a: [null] }, how: (f) => f.nestedItems("a", 2), says: "must be an object, got nothing", at: "a[0]" },
  { json: { a: "soon" }, how: (f) => f.instantMs("a"), says: "must be a time like 2026-10-08T12:00:00.000Z" },
  { json: { a: 1000 }, how: (f) => f.instantMs("a"), says: "must be a time like 2026-10-08T12:00:00.000Z" },
];
for (const { json, how, says, at = "a" } of bad) {
  Deno.test(`FieldReader says of ${JSON.stringify(json)}: ${says}`, () => {
    deepStrictEqual(violations(json, how), [{ field: at, description: says }]);
  });
}

for (const json of [null, [], "x", 1, true, undefined]) {
  Deno.test(`readRequest() refuses ${JSON.stringify(json)}`, () =>
    strictEqual(violations(json, () => 1)[0]!.field, ""));
}

Deno.test("readRequest() tells all violations with their paths, and the first in its message", () => {
  const error = readRequest({ a: [{ b: 1 }, { b: "x" }, { b: 2 }], c: 3 }, (fields) => {
    fields.nestedItems("a", 9)?.map((item) => item.text("b", text));
    fields.text("c", text);
    fields.requiredText("d", text);
  });
  ok(error instanceof A2AError);
  deepStrictEqual(error.fieldViolations.map(({ field }) => field), ["a[0].b", "a[2].b", "c", "d"]);
  strictEqual(error.message, "Cannot read the request: a[0].b must be a string, got a number (and 3 more)");
});

Deno.test("readRequest() keeps 300 of very many violations, and never quotes a value", () => {
  const error = readRequest({ a: Array(1000).fill("secret-secret") }, (f) => f.texts("a", { ...text, itemsMax: 1000 }));
  ok(error instanceof A2AError);
  strictEqual(error.fieldViolations.length, 300);
  ok(error.message.endsWith("(and 999 more)"));
  ok(!JSON.stringify([error.message, error.fieldViolations]).includes("secret"));
});
