import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { keys, startWireHost } from "@tests/fakes/wire_host.ts";
import { bindings, wireRequest } from "@tests/fakes/wire_request.ts";
import { readReply } from "@tests/fakes/wire_reply.ts";
import { methods } from "@/protocol/methods.ts";

const id = "00000000-0000-4000-8000-0000000000aa";
const hi = { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }] } };
const call = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: hi };
const text = (changes: Readonly<Record<string, unknown>>) => JSON.stringify({ ...call, ...changes });

const envelopes: readonly {
  readonly name: string;
  readonly body: BodyInit;
  readonly code: number;
  readonly id?: unknown;
}[] = [
  { name: "an unclosed brace", body: text({}).slice(0, -1), code: -32700 },
  { name: "a body cut in a string", body: text({}).slice(0, 60), code: -32700 },
  { name: "plain text", body: "SendMessage please", code: -32700 },
  { name: "nothing", body: "", code: -32700 },
  { name: "bytes that are no UTF-8", body: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]), code: -32700 },
  { name: "two calls in a row", body: text({}) + text({}), code: -32700 },
  { name: "NaN", body: text({}).replace('"id":1', '"id":NaN'), code: -32700 },
  ...["null", "1", '"x"', "true", "[]", `[${text({})}]`].map((body) => ({
    name: body.slice(0, 20),
    body,
    code: -32600,
  })),
  { name: "an empty object", body: "{}", code: -32600 },
  { name: "no version of JSON-RPC", body: text({ jsonrpc: undefined }), code: -32600, id: 1 },
  { name: "JSON-RPC 1.0", body: text({ jsonrpc: "1.0" }), code: -32600, id: 1 },
  { name: "the number 2", body: text({ jsonrpc: 2 }), code: -32600, id: 1 },
  { name: "no method", body: text({ method: undefined }), code: -32600, id: 1 },
  { name: "a number as method", body: text({ method: 1 }), code: -32600, id: 1 },
  { name: "an object as id", body: text({ id: {} }), code: -32600 },
  { name: "an array as id", body: text({ id: [1] }), code: -32600 },
  { name: "true as id", body: text({ id: true }), code: -32600 },
  { name: "a notification", body: text({ id: undefined }), code: -32600 },
  ...["", "sendMessage", "SendMessage ", "message/send", "toString", "__proto__", "rpc.discover"].flatMap((method) => [
    { name: `the method "${method}"`, body: text({ method }), code: -32601, id: 1 },
    { name: `the method "${method}" without params`, body: text({ method, params: undefined }), code: -32601, id: 1 },
  ]),
  ...["x", 1, [hi], true].map((params) => ({
    name: `params ${JSON.stringify(params).slice(0, 10)}`,
    body: text({ params }),
    code: -32602,
    id: 1,
  })),
];
for (const { name, body, code, id = null } of envelopes) {
  Deno.test(`JSON-RPC answers ${code} with id ${id} to ${name}, and nothing happens [case 11, §5.10 json-rpc-codes]`, async () => {
    await using host = await startWireHost();
    const before = host.disk.bytesWritten;
    const answer = await host.open("JSONRPC", "SendMessage", hi, { body });
    const json = await answer.clone().json();
    deepStrictEqual([json.id, json.error.code, answer.status], [id, code, 200]);
    strictEqual((await readReply(answer)).kind, "error");
    strictEqual(host.disk.bytesWritten, before);
  });
}

const broken: readonly (readonly [name: string, body: BodyInit, reason: string])[] = [
  ["an unclosed brace", JSON.stringify(hi).slice(0, -1), "PARSE_ERROR"],
  ["plain text", "hi", "PARSE_ERROR"],
  ["bytes that are no UTF-8", new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]), "PARSE_ERROR"],
  ["an array", "[]", "INVALID_PARAMS"],
  ["a number", "1", "INVALID_PARAMS"],
  ["nothing", "", "INVALID_PARAMS"],
  ["null", "null", "INVALID_PARAMS"],
];
for (const [name, body, reason] of broken) {
  for (const method of ["SendMessage", "SendStreamingMessage"] as const) {
    Deno.test(`HTTP+JSON answers ${reason} to ${name} as ${method}, and nothing happens [case 11]`, async () => {
      await using host = await startWireHost();
      const before = host.disk.bytesWritten;
      const reply = await host.call("HTTP+JSON", method, hi, { body });
      ok(reply.kind === "error");
      deepStrictEqual([reply.reason, reply.http], [reason, 400]);
      strictEqual(host.disk.bytesWritten, before);
    });
  }
}

Deno.test("HTTP+JSON takes a cancel with no body, null and {} [§5.1 empty-bodies]", async () => {
  await using host = await startWireHost();
  for (const body of ["", "null", "{}", undefined]) {
    const reply = await host.call("HTTP+JSON", "CancelTask", { id }, body === undefined ? {} : { body });
    ok(reply.kind === "error" && reply.reason === "TASK_NOT_FOUND", body);
  }
});

Deno.test("JSON-RPC takes absent and null params where a method needs none", async () => {
  await using host = await startWireHost();
  for (const method of ["ListTasks", "GetExtendedAgentCard"] as const) {
    for (const params of [undefined, null, {}]) {
      const reply = await host.call("JSONRPC", method, hi, { body: text({ method, params }) });
      strictEqual(reply.kind, "result");
    }
  }
});

const ids = ["1", '"1"', "0", "-1", "9007199254740993", "-9007199254740993", '""', '"\u00e9\\n\\""', "null", "1.5"];
for (const sent of ids) {
  Deno.test(`JSON-RPC echoes the id ${sent} as it was sent, in answers and errors [case 12]`, async () => {
    await using host = await startWireHost();
    for (const [method, member] of [["ListTasks", "result"], ["GetTask", "error"]] as const) {
      const body = `{"jsonrpc":"2.0","method":"${method}","id":${sent}}`;
      const answer = await host.open("JSONRPC", method, {}, { body });
      const shown = await answer.text();
      ok(shown.startsWith(`{"jsonrpc":"2.0","id":${sent},"${member}":`), shown.slice(0, 80));
    }
  });
}

const versions: readonly {
  readonly header?: string;
  readonly query?: string;
  readonly strict?: boolean;
  readonly ok: boolean;
}[] = [
  { ok: true },
  { header: "1.0", ok: true },
  { header: "1.0.0", ok: true },
  { header: "1.0.3", ok: true },
  { header: " 1.0 ", ok: true },
  { header: "2.0", ok: false },
  { header: "1.1", ok: false },
  { header: "1", ok: false },
  { header: "1.0.x", ok: false },
  { header: "v1.0", ok: false },
  { header: "1.0, 1.0", ok: false },
  { query: "?A2A-Version=1.0", ok: true },
  { query: "?A2A-Version=", ok: true },
  { query: "?A2A-Version=2.0", ok: false },
  { header: "1.0", query: "?A2A-Version=2.0", ok: true },
  { header: "2.0", query: "?A2A-Version=1.0", ok: false },
  { strict: true, ok: false },
  { strict: true, query: "?A2A-Version=", ok: false },
  { strict: true, query: "?A2A-Version=1.0", ok: true },
  { strict: true, header: "1.0", ok: true },
];
for (const { header = "", query, strict, ok: isOk } of versions) {
  const asked = [`header "${header}"`, ...(query === undefined ? [] : [query]), ...(strict ? ["strictly"] : [])];
  Deno.test(`both bindings ${isOk ? "take" : "refuse"} version ${asked.join(", ")} [case 17, §5.8 versions]`, async () => {
    await using host = await startWireHost({ strictVersion: strict });
    for (const binding of bindings) {
      const before = host.disk.bytesWritten;
      const reply = await host.call(binding, "SendMessage", hi, { headers: { "A2A-Version": header }, query });
      if (isOk) {
        strictEqual(reply.kind, "result");
        continue;
      }
      ok(reply.kind === "error");
      deepStrictEqual([reply.reason, reply.code, reply.http], ["VERSION_NOT_SUPPORTED", -32009, 400]);
      deepStrictEqual(reply.details[0]!.metadata, { supportedVersions: "1.0,0.3" });
      strictEqual(host.disk.bytesWritten, before);
    }
  });
}

for (const method of methods) {
  Deno.test(`${method} refuses version 9.9 over both bindings, before it looks at anything else [case 18, §5.8 every-method]`, async () => {
    await using host = await startWireHost();
    for (const binding of bindings) {
      const made = wireRequest(binding, { method, params: { id: "x", taskId: "y" } }, {
        key: keys.alice,
        headers: { "A2A-Version": "9.9" },
      });
      const reply = await readReply(await host.fetch(made));
      ok(reply.kind === "error" && reply.reason === "VERSION_NOT_SUPPORTED", JSON.stringify(reply));
    }
  });
}
