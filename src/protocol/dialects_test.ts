import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { restDialects, rpcDialects } from "./dialects.ts";
import { A2AError } from "./errors.ts";
import { legacyMethods, methods } from "./methods.ts";

const part = { kind: "text", text: "Hi" };
const message = { kind: "message", messageId: "m", role: "user", parts: [part] };

Deno.test("both dialects read the same request out of the same message [§5.8 legacy-requests]", () => {
  const legacy = rpcDialects["0.3"].read("message/send", { message });
  const current = { messageId: "m", role: "ROLE_USER", parts: [{ text: "Hi" }] };
  deepStrictEqual(legacy, rpcDialects["1.0"].read("SendMessage", { message: current }));
  const rest = restDialects["0.3"].read("SendMessage", {
    body: { message: { messageId: "m", role: "ROLE_USER", content: [{ text: "Hi" }] } },
  });
  deepStrictEqual(rest, restDialects["1.0"].read("SendMessage", { body: { message: current } }));
});

for (const [name, method] of legacyMethods) {
  Deno.test(`${name} is ${method} in 0.3 alone [§5.8 legacy-methods]`, () => {
    const params = {
      id: "x",
      taskId: "x",
      message,
      pushNotificationConfig: { url: "https://e" },
      pushNotificationConfigId: "p",
    };
    const read = rpcDialects["0.3"].read(name, params);
    ok(!(read instanceof A2AError));
    strictEqual(read.method, method);
    const other = rpcDialects["1.0"].read(name, params);
    ok(other instanceof A2AError);
    strictEqual(other.reason, "METHOD_NOT_FOUND");
  });
}

for (const name of [...methods, "tasks/list", "message/Send", "", "toString"]) {
  Deno.test(`${JSON.stringify(name)} is no method of 0.3 [§5.8 legacy-methods]`, () => {
    const read = rpcDialects["0.3"].read(name, {});
    ok(read instanceof A2AError);
    strictEqual(read.reason, "METHOD_NOT_FOUND");
  });
}

const reserved = { "volcanic.file": { path: "inbox/x" } };

const refused: readonly { name: string; part: unknown; field: string }[] = [
  { name: "a name that is ours", part: { kind: "data", data: reserved }, field: "message.parts[0].data" },
  {
    name: "a name that is ours, wrapped",
    part: { kind: "data", data: { value: reserved }, metadata: { data_part_compat: true } },
    field: "message.parts[0].data",
  },
  {
    name: "bytes that are no base64",
    part: { kind: "file", file: { bytes: "!!" } },
    field: "message.parts[0].file.bytes",
  },
  {
    name: "a URI that is relative",
    part: { kind: "file", file: { uri: "a" } },
    field: "message.parts[0].file.uri",
  },
  {
    name: "a file name that is a number",
    part: { kind: "file", file: { bytes: "", name: 1 } },
    field: "message.parts[0].file.name",
  },
  { name: "text that is a number", part: { kind: "text", text: 1 }, field: "message.parts[0].text" },
  {
    name: "metadata that is an array",
    part: { kind: "text", text: "", metadata: [] },
    field: "message.parts[0].metadata",
  },
];

for (const { name, part, field } of refused) {
  Deno.test(`0.3 refuses ${name}, as 1.0 does [§5.8 legacy-one-reader]`, () => {
    for (const method of ["message/send", "message/stream"]) {
      const read = rpcDialects["0.3"].read(method, { message: { ...message, parts: [part] } });
      ok(read instanceof A2AError);
      deepStrictEqual(read.fieldViolations.map(({ field }) => field), [field]);
      ok(read.message.startsWith(`Cannot read the request: ${field} must`), read.message);
    }
  });
}

Deno.test("0.3 over HTTP+JSON refuses a name that is ours, and has no list of tasks [§5.8 legacy-one-reader, §5.8 legacy-rest]", () => {
  const body = { message: { messageId: "m", role: "ROLE_USER", content: [{ data: { data: reserved } }] } };
  const read = restDialects["0.3"].read("SendMessage", { body });
  ok(read instanceof A2AError && read.reason === "INVALID_PARAMS");
  const list = restDialects["0.3"].read("ListTasks", {});
  ok(list instanceof A2AError && list.reason === "ROUTE_NOT_FOUND");
});

Deno.test("0.3 over HTTP+JSON refuses a webhook whose task is not that of the path [§5.8 legacy-rest]", () => {
  const body = { taskId: "other", pushNotificationConfig: { url: "https://e" } };
  const read = restDialects["0.3"].read("CreateTaskPushNotificationConfig", { path: { taskId: "x" }, body });
  ok(read instanceof A2AError);
  deepStrictEqual(read.fieldViolations.map(({ field }) => field), ["taskId"]);
});
