import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { cutSource } from "@tests/fakes/cut_source.ts";
import { type FieldList, framingOf, readHead } from "./response_head.ts";
import { ResponseWire } from "./response_wire.ts";

const read = (text: string) => readHead(new ResponseWire(cutSource(text)));
const ok200 = "HTTP/1.1 200 OK\r\n";

Deno.test("readHead() reads status and fields, names in lower case, values without the white space around them", async () => {
  deepStrictEqual(await read("HTTP/1.0 404 Not here\r\nContent-TYPE: \t a, b \t\r\nX:\r\nx: caf\u00e9\r\n\r\nbody"), {
    minorVersion: 0,
    status: 404,
    fields: [["content-type", "a, b"], ["x", ""], ["x", "caf\u00e9"]],
  });
  strictEqual((await read("HTTP/1.1 200\r\n\r\n")).status, 200);
  strictEqual((await read("HTTP/1.1 599 \r\n\r\n")).status, 599);
});

Deno.test("readHead() goes past interim responses, eight at most", async () => {
  const interim = "HTTP/1.1 103 Early\r\nLink: x\r\n\r\n";
  deepStrictEqual((await read(`${interim.repeat(8)}${ok200}A: b\r\n\r\n`)).fields, [["a", "b"]]);
  await rejects(read(`${interim.repeat(9)}${ok200}\r\n`), { code: "MALFORMED_RESPONSE" });
});

const malformed = [
  "HTTP/1.1 101 Switching\r\n\r\n",
  ...["HTTP/1.1 20 OK", "HTTP/1.1 abc OK", "HTTP/1.1 099 OK", "HTTP/1.1 600 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 200OK"],
  ...["HTTP/2.0 200 OK", "HTTP/1.2 200 OK", "ICY 200 OK", "http/1.1 200 OK", " HTTP/1.1 200 OK", "\r\nHTTP/1.1 200 OK"],
  ...["HTTP/1.1  200 OK", "HTTP/1.1\t200 OK", "HTTP/1.1 200 O\u0007K", "garbage", "HTTP/1.1 -20 OK"],
].map((line) => `${line}\r\n\r\n`).concat(
  ["A b: c", "A : b", " folded", "\tfolded", ": b", "no colon", "A\u007f: b", "A: b\u0001", "A: b\u007f", "\u00e4: b"]
    .map((line) => `${ok200}${line}\r\n\r\n`),
);

for (const text of malformed) {
  Deno.test(`readHead() refuses ${JSON.stringify(text)} [§13 narrow-reader]`, async () => {
    await rejects(read(text), { code: "MALFORMED_RESPONSE", phase: "head" });
  });
}

const tooLarge = {
  "a line of 16 KiB and one": `${ok200}A: ${"b".repeat(16 * 1024 - 2)}\r\n\r\n`,
  "a reason without end": `HTTP/1.1 200 ${"x".repeat(20_000)}`,
  "32 KiB in all": `${ok200}${`A: ${"b".repeat(8000)}\r\n`.repeat(5)}\r\n`,
  "32 KiB over interim responses": `HTTP/1.1 103 E\r\nA: ${"b".repeat(8000)}\r\n\r\n`.repeat(5),
  "101 fields": `${ok200}${"A: b\r\n".repeat(101)}\r\n`,
};

for (const [what, text] of Object.entries(tooLarge)) {
  Deno.test(`readHead() refuses ${what} [§13 narrow-reader]`, async () => {
    await rejects(read(text), { code: "HEAD_TOO_LARGE", phase: "head" });
  });
}

Deno.test("readHead() takes heads up to their bounds", async () => {
  strictEqual((await read(`${ok200}${"A: b\r\n".repeat(100)}\r\n`)).fields.length, 100);
  strictEqual((await read(`${ok200}A: ${"b".repeat(16 * 1024 - 3)}\r\n\r\n`)).fields[0]![1].length, 16 * 1024 - 3);
});

for (const text of ["", "HTTP/1.1 200 OK", ok200, `${ok200}A: b\r\n`, `HTTP/1.1 103 E\r\n\r\n`]) {
  Deno.test(`readHead() says that the connection was closed after ${JSON.stringify(text)}`, async () => {
    await rejects(read(text), { code: "CONNECTION_CLOSED", phase: "head" });
  });
}

Deno.test("readHead() takes time in proportion to a value of white space", async () => {
  ok(await read(`${ok200}A: ${" ".repeat(16_000)}b\r\n\r\n`));
});

const framing = (fields: FieldList, { status = 200, method = "GET", minorVersion = 1 as 0 | 1 } = {}) => {
  try {
    return framingOf({ status, minorVersion, fields }, method);
  } catch (error) {
    return (error as { code: string }).code;
  }
};
const length = (...values: readonly string[]): FieldList => values.map((value) => ["content-length", value]);
const coding = (...values: readonly string[]): FieldList => values.map((value) => ["transfer-encoding", value]);

Deno.test("framingOf() tells by what a body ends", () => {
  deepStrictEqual(framing(length("5")), { kind: "length", length: 5 });
  deepStrictEqual(framing(length("0")), { kind: "none" });
  deepStrictEqual(framing(coding("Chunked")), { kind: "chunked" });
  deepStrictEqual(framing([]), { kind: "until close" });
  for (const other of [{ method: "HEAD" }, { status: 204 }, { status: 304 }]) {
    deepStrictEqual(framing(length("5"), other), { kind: "none" });
  }
});

Deno.test("framingOf() takes the same length twice", () => {
  deepStrictEqual(framing(length("5", "5")), { kind: "length", length: 5 });
  deepStrictEqual(framing(length("5, 5")), { kind: "length", length: 5 });
});

const badFraming: readonly FieldList[] = [
  ...["-5", "+5", "0x5", "", "5 5", "5;", "1".repeat(16), "5.0", "5,", ",5", "5\u00a0"].map((value) => length(value)),
  ...[length("5", "6"), length("5, 6"), length("5", "")],
  ...["gzip, chunked", "identity", "xchunked", "chunked, chunked", "", "chunked;"].map((value) => coding(value)),
  ...[coding("chunked", "chunked"), [...coding("chunked"), ...length("5")]],
];

for (const fields of badFraming) {
  Deno.test(`framingOf() refuses ${JSON.stringify(fields)}, for HEAD too [§13 narrow-reader]`, () => {
    strictEqual(framing(fields), "MALFORMED_RESPONSE");
    strictEqual(framing(fields, { method: "HEAD" }), "MALFORMED_RESPONSE");
  });
}

Deno.test("framingOf() refuses chunks of HTTP/1.0 [§13 narrow-reader]", () => {
  strictEqual(framing(coding("chunked"), { minorVersion: 0 }), "MALFORMED_RESPONSE");
});
