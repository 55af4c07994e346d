import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { A2AError } from "./errors.ts";
import { parseJson } from "./json_body.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function valueOf(body: Uint8Array): unknown {
  const parsed = parseJson(body);
  if (parsed instanceof A2AError) throw parsed;
  return parsed.value;
}

const broken: readonly (readonly [name: string, body: Uint8Array])[] = [
  ["an unclosed brace", bytes(`{"jsonrpc":"2.0"`)],
  ["plain text", bytes("hello")],
  ["a truncated body", bytes(`{"jsonrpc":"2.0","id":1,"meth`)],
  ["nothing", bytes("")],
  ["two values", bytes("{} {}")],
  ["single quotes", bytes("{'a':1}")],
  ["bytes that are not UTF-8", new Uint8Array([0x22, 0xff, 0xfe, 0x22])],
  ["UTF-16", new Uint8Array([0xff, 0xfe, 0x31, 0x00])],
];
for (const [name, body] of broken) {
  Deno.test(`parseJson() answers PARSE_ERROR for ${name} [case 11]`, () => {
    const parsed = parseJson(body);
    ok(parsed instanceof A2AError);
    strictEqual(parsed.reason, "PARSE_ERROR");
  });
}

Deno.test("parseJson() gives the value and the text, a byte-order mark overlooked", () => {
  deepStrictEqual(parseJson(bytes(`\uFEFF{"a":[1,"ü"]}`)), {
    kind: "json",
    value: { a: [1, "ü"] },
    text: `{"a":[1,"ü"]}`,
  });
});

Deno.test("parseJson() answers INVALID_PARAMS naming the limit, even when the rest is no JSON [§5.6 counted-before-parse]", () => {
  const parsed = parseJson(bytes(`{"parts":[${"1,".repeat(300)}`));
  ok(parsed instanceof A2AError);
  deepStrictEqual([parsed.reason, parsed.message], [
    "INVALID_PARAMS",
    "Cannot read the body: a message has more than 256 parts; send less at once",
  ]);
});

const protoBodies: readonly string[] = [
  `{"__proto__":{"hops":9},"a":{"b":[{"__proto__":{"x":1}}]}}`,
  `{"__proto__":{"hops":9},"__proto__":{"hops":8},"a":{"b":[{"__proto__":null}]}}`,
  `{"\\u005f_proto__":{"hops":9},"a":{"b":[{"_\\u005Fproto__":1}]}}`,
];
for (const body of protoBodies) {
  Deno.test(`parseJson() leaves out __proto__ in ${body}`, () => {
    const value = valueOf(bytes(body)) as { a: { b: unknown[] } };
    deepStrictEqual(value, { a: { b: [{}] } });
    const copy = Object.assign({}, value) as Record<string, unknown>;
    deepStrictEqual([copy.hops, Object.getPrototypeOf(copy) === Object.prototype], [undefined, true]);
    strictEqual(({} as Record<string, unknown>).hops, undefined);
  });
}

Deno.test("parseJson() takes constructor, prototype and a text __proto__ as plain data", () => {
  const value = { constructor: { prototype: { x: 1 } }, text: "__proto__" };
  deepStrictEqual(valueOf(bytes(JSON.stringify(value))), value);
});
