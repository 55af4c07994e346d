import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { TimeMs } from "@/time/clock.ts";
import { keyHints, secretHint } from "./callers_hints.ts";
import { curlLine } from "./curl_line.ts";

const caller = { name: "bot", workspace: "my folder", program: "volcanic-a2a" };
const given = { key: "k_1", address: "http://127.0.0.1:5099" };
const command = "volcanic-a2a callers secret bot --workspace 'my folder'";

const rows = [
  {
    name: "a new caller that pushes to it are signed",
    rotated: undefined,
    after: `Pushes to this caller's webhooks are signed; the secret: ${command}`,
  },
  {
    name: "a rotation without overlap that the signing secret changed as well",
    rotated: { overlapMs: 0 },
    after: `The secret that its pushes are signed with changed as well, at once; the new one: ${command}`,
  },
  {
    name: "a rotation with overlap that both sign",
    rotated: { overlapMs: 1 },
    after: `While both keys work pushes are signed with both secrets; the new one: ${command}`,
  },
];

for (const { name, rotated, after } of rows) {
  Deno.test(`keyHints() tells of ${name} [§3 callers-secret]`, () => {
    deepStrictEqual(keyHints(caller, { ...given, ...(rotated && { rotated }) }), {
      before: "This is the key, shown once and kept nowhere. Try it while a host serves the workspace:",
      try: curlLine(given.address, given.key),
      after,
    });
  });
}

Deno.test("secretHint() says how to verify, and until when the old secret signs too [§3 callers-secret]", () => {
  const how = "Verify pushes with it as standardwebhooks.com says: webhook-signature is base64 of HMAC-SHA256 over " +
    '"webhook-id.webhook-timestamp.body"';
  strictEqual(secretHint(undefined), how);
  const until = Date.parse("2026-10-08T12:00:00Z") as TimeMs;
  strictEqual(secretHint(until), `${how}; until 2026-10-08T12:00:00.000Z the secret of the old key signs too`);
});
