import { strictEqual } from "node:assert/strict";
import { inspect } from "node:util";
import { Secret } from "./secret.ts";

const value = "k_0123456789abcdef";
const secret = new Secret(value);
const entry = { name: "bot", key: secret, all: [secret] };

const prints: readonly { name: string; text: string }[] = [
  { name: "a template", text: `${secret}` },
  { name: "a sum", text: "" + secret },
  { name: "JSON", text: JSON.stringify(entry) },
  { name: "Deno.inspect", text: Deno.inspect(entry, { depth: 9, showHidden: true }) },
  { name: "node's inspect", text: inspect(entry, { depth: 9, showHidden: true }) },
  { name: "an error's message", text: String(new Error(`refused ${secret}`)) },
  { name: "its own fields", text: Object.entries(secret).join() + Object.getOwnPropertyNames(secret).join() },
];

for (const { name, text } of prints) {
  Deno.test(`Secret is not shown by ${name} [§16 secrets]`, () => {
    strictEqual(text.includes("0123456789"), false, text);
    strictEqual(text.includes("cdef"), false, text);
  });
}

Deno.test("Secret gives its value to who asks for it, and a hint from 12 characters on [DM1 fields]", () => {
  strictEqual(secret.reveal(), value);
  strictEqual(secret.hint(), "cdef");
  strictEqual(new Secret("12345678901").hint(), undefined);
});
