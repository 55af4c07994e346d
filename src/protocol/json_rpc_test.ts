import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { A2AError } from "./errors.ts";
import { failure, type JsonRpcId, methodNotFound, nullId, parseEnvelope, success } from "./json_rpc.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const envelope = (text: string) => parseEnvelope(bytes(text));

Deno.test("parseEnvelope() gives method, parameters and id", () => {
  deepStrictEqual(envelope(`{"jsonrpc":"2.0","id":"a","method":"GetTask","params":{"id":"x"}}`), {
    kind: "call",
    id: `"a"`,
    method: "GetTask",
    params: { id: "x" },
  });
  deepStrictEqual(envelope(` {"method":"Nope","id":1,"jsonrpc":"2.0"} `), {
    kind: "call",
    id: "1",
    method: "Nope",
    params: undefined,
  });
});

const ids: readonly (readonly [sent: string, echoed?: string])[] = [
  ["1"],
  [`"1"`],
  ["9007199254740993"],
  ["-9007199254740993"],
  ["12345678901234567890123"],
  ["1.5"],
  ["0.1000000000000000055511151231257827"],
  ["1e999"],
  ["null"],
  ["0"],
  ["-0", "0"],
  ["1.0", "1"],
  [`""`],
  [`"ü\\u0000\\n"`],
  [`"\\u0061"`, `"a"`],
  [`"9007199254740993"`],
];
for (const [sent, echoed = sent] of ids) {
  Deno.test(`parseEnvelope() and success() echo the id ${sent} [case 12]`, () => {
    const parsed = envelope(
      `{"jsonrpc":"2.0","params":{"id":7,"x":[{"id":9007199254740999}]},"id": ${sent} ,"method":"GetTask"}`,
    );
    strictEqual(parsed.kind, "call");
    strictEqual(success(parsed.id, {}), `{"jsonrpc":"2.0","id":${echoed},"result":{}}`);
    ok(failure(parsed.id, new A2AError("TASK_NOT_FOUND")).startsWith(`{"jsonrpc":"2.0","id":${echoed},"error":{`));
  });
}

Deno.test("parseEnvelope() echoes its own id, not one that its parameters hold [case 12]", () => {
  const params = `"params":{"id":9007199254740995,"x":[{"id":9007199254740997}]}`;
  for (const members of [[`"id":9007199254740993`, params], [params, `"id":9007199254740993`]]) {
    strictEqual(envelope(`{"jsonrpc":"2.0","method":"GetTask",${members.join(",")}}`).id, "9007199254740993");
  }
});

Deno.test("parseEnvelope() tells a notification that it needs an id [case 12]", () => {
  const parsed = envelope(`{"jsonrpc":"2.0","method":"GetTask"}`);
  ok(parsed.kind === "refused");
  strictEqual(parsed.error.message, `Cannot read the call: "id" is required`);
});

Deno.test("parseEnvelope() echoes the last of several ids, as JSON.parse reads them [case 12]", () => {
  strictEqual(
    envelope(`{"jsonrpc":"2.0","id":9007199254740993,"method":"GetTask","id":9007199254740995}`).id,
    "9007199254740995",
  );
});

const refusals: readonly (readonly [id: string, name: string, body: string, code: number, echoed?: string])[] = [
  ["case 11", "an unclosed brace", `{"jsonrpc":"2.0","id":1`, -32700],
  ["case 11", "plain text", "hello", -32700],
  ["case 11", "an empty body", "", -32700],
  ["case 11", "an array", "[]", -32600],
  ["S3", "a batch", `[{"jsonrpc":"2.0","id":1,"method":"GetTask"}]`, -32600],
  ["case 11", "a number", "1", -32600],
  ["case 11", "null", "null", -32600],
  ["case 11", "a text", `"x"`, -32600],
  ["S3", "no jsonrpc", `{"id":1,"method":"GetTask"}`, -32600, "1"],
  ["S3", "another jsonrpc", `{"jsonrpc":"1.0","id":1,"method":"GetTask"}`, -32600, "1"],
  ["S3", "jsonrpc as a number", `{"jsonrpc":2.0,"id":"a","method":"GetTask"}`, -32600, `"a"`],
  ["S3", "no method", `{"jsonrpc":"2.0","id":1}`, -32600, "1"],
  ["S3", "method as a number", `{"jsonrpc":"2.0","id":1,"method":5}`, -32600, "1"],
  ["S3", "an object as id", `{"jsonrpc":"2.0","id":{},"method":"GetTask"}`, -32600],
  ["case 12", "an array as id", `{"jsonrpc":"2.0","id":[1],"method":"GetTask"}`, -32600],
  ["case 12", "true as id", `{"jsonrpc":"2.0","id":true,"method":"GetTask"}`, -32600],
  ["case 12", "no id", `{"jsonrpc":"2.0","method":"GetTask","params":{}}`, -32600],
  [
    "case 12",
    "an id of a thousand characters",
    `{"jsonrpc":"2.0","id":"${"a".repeat(999)}","method":"GetTask"}`,
    -32600,
  ],
  ["case 12", "an id of a thousand digits", `{"jsonrpc":"2.0","id":1${"0".repeat(1000)},"method":"GetTask"}`, -32600],
  [
    "§5.6 counted-before-parse",
    "257 parts",
    `{"jsonrpc":"2.0","id":1,"params":{"message":{"parts":[${Array(257).fill("{}")}]}}}`,
    -32602,
  ],
];
for (const [id, name, body, code, echoed = "null"] of refusals) {
  Deno.test(`parseEnvelope() answers ${code} with id ${echoed} to ${name} [${id}]`, () => {
    const parsed = envelope(body);
    ok(parsed.kind === "refused");
    const answer = JSON.parse(failure(parsed.id, parsed.error));
    deepStrictEqual([parsed.id, answer.error.code, answer.jsonrpc], [echoed, code, "2.0"]);
  });
}

Deno.test("parseEnvelope() hands parameters on unread, so that an unknown method comes first [S3]", () => {
  for (const params of ["null", "[1]", "5", `"x"`]) {
    const parsed = envelope(`{"jsonrpc":"2.0","id":1,"method":"Nope","params":${params}}`);
    ok(parsed.kind === "call");
    deepStrictEqual(parsed.params, JSON.parse(params));
  }
  strictEqual(methodNotFound("Nope").message, `Method "Nope" is not known`);
  ok(methodNotFound(`"\n${"x".repeat(1000)}`).message.length < 90);
  strictEqual(JSON.parse(failure(nullId, methodNotFound("x"))).error.code, -32601);
});

Deno.test("parseEnvelope() takes nothing from a prototype", () => {
  const parsed = envelope(`{"__proto__":{"jsonrpc":"2.0","method":"GetTask"},"id":1}`);
  strictEqual(parsed.kind, "refused");
});

Deno.test("success() and failure() are one line each, whatever they hold", () => {
  const text = 'a\r\n\u2028b"\\\ud800';
  const id = JSON.stringify(text) as JsonRpcId;
  for (const line of [success(id, { text }), failure(id, new A2AError("INTERNAL", { message: text }))]) {
    ok(!/[\r\n]/.test(line));
    strictEqual(JSON.parse(line).id, text);
  }
  strictEqual(success("1" as JsonRpcId, undefined), `{"jsonrpc":"2.0","id":1,"result":null}`);
});
