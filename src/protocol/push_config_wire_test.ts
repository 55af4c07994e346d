import { deepStrictEqual, ok } from "node:assert/strict";
import { A2AError } from "./errors.ts";
import { readRequest } from "./field_reader.ts";
import { readPushConfig } from "./push_config_wire.ts";

const url = "https://hooks.example/a?b=c";

Deno.test("readPushConfig() keeps what is set", () => {
  const config = { url, id: "cfg-1", token: "t0ken", authentication: { scheme: "Bearer", credentials: "abc.def" } };
  deepStrictEqual(readRequest({ ...config, taskId: "t", tenant: "", other: 1 }, readPushConfig), config);
  deepStrictEqual(readRequest({ url, id: null, token: null, authentication: null }, readPushConfig), { url });
});

for (
  const good of ["http://127.0.0.1:8080/x", "HTTPS://hooks.example", "https://[::1]/", "https://example.com/a%20b"]
) {
  Deno.test(`readPushConfig() takes the form of ${good} [§5.7 url-form]`, () => {
    deepStrictEqual(readRequest({ url: good }, readPushConfig), { url: good });
  });
}

for (const id of ["~", ":a", "-", "_.~:-", "a".repeat(100)]) {
  Deno.test(`readPushConfig() takes the id ${id}`, () => {
    deepStrictEqual(readRequest({ url, id }, readPushConfig), { url, id });
  });
}

const urlForm = "must be an absolute http or https URL without a user, spaces or backslashes";
const plain = "must be plain ASCII without line breaks, and without spaces around it";
const scheme = "must be the name of an HTTP authentication scheme, such as Bearer";
const idForm = "must be of A-Z, a-z, 0-9 and . _ ~ : -, not starting with a dot";
const auth = (authentication: unknown) => ({ url, authentication });
const bad: readonly (readonly [id: string, config: unknown, field: string, description: string])[] = [
  ["S5", {}, "url", "is required"],
  ["S5", { url: "" }, "url", "must not be blank"],
  ["S5", { url: 1 }, "url", "must be a string, got a number"],
  ...[
    "hooks.example/a",
    "/a",
    "ftp://a/b",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "https://",
    "https://user@a/",
    "https://user:pw@a/",
    "https://a/b\r\nX: y",
    "https://a/\tb",
    " https://a/",
    "https://a/ b",
    "https:\\\\a",
    "https://a\\@b/",
    "https://exämple/",
    "https://a:99999/",
  ].map((value) => ["§5.7 url-form", { url: value }, "url", urlForm] as const),
  ["§5.7 url-form", { url: `https://a/${"a".repeat(2048)}` }, "url", "must be at most 2048 characters"],
  ["§5.7 no-cr-lf", { url, token: "a\r\nX-Evil: 1" }, "token", plain],
  ["§5.7 no-cr-lf", { url, token: "a\0" }, "token", plain],
  ["§5.7 no-cr-lf", { url, token: "é" }, "token", plain],
  ["§5.7 no-cr-lf", { url, token: " a" }, "token", plain],
  ["S5", { url, token: "" }, "token", "must not be blank"],
  ["S5", { url, token: "a".repeat(4097) }, "token", "must be at most 4096 characters"],
  ["case 32", auth({ scheme: "Bearer", credentials: "a\nb" }), "authentication.credentials", plain],
  ["case 32", auth({ scheme: "Be arer", credentials: "a" }), "authentication.scheme", scheme],
  ["case 32", auth({ scheme: "Bearer:", credentials: "a" }), "authentication.scheme", scheme],
  ["case 28", auth({ scheme: "Bearer" }), "authentication.credentials", "is required"],
  ["case 28", auth({ scheme: "Bearer", credentials: "" }), "authentication.credentials", "must not be blank"],
  ["case 28", auth({ credentials: "a" }), "authentication.scheme", "is required"],
  ["S5", auth("Bearer a"), "authentication", "must be an object, got a string"],
  ["S5", { url, id: "../x" }, "id", idForm],
  ["S5", { url, id: "a/b" }, "id", idForm],
  ["S5", { url, id: "a\nb" }, "id", idForm],
  ["S5", { url, id: "" }, "id", "must not be blank"],
  ["S5", { url, id: "a".repeat(101) }, "id", "must be at most 100 characters"],
];
for (const [id, config, field, description] of bad) {
  Deno.test(`readPushConfig() refuses ${JSON.stringify(config).slice(0, 90)} [${id}]`, () => {
    const error = readRequest(config, readPushConfig);
    ok(error instanceof A2AError);
    deepStrictEqual(error.fieldViolations, [{ field, description }]);
  });
}
