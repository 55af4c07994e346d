import { strictEqual } from "node:assert/strict";
import type { CallerName } from "@/protocol/ids.ts";
import type { TimeMs } from "@/time/clock.ts";
import { callerStanding } from "./caller_standing.ts";
import { parseCallers } from "./callers_file.ts";

const now = Date.parse("2026-10-08T12:00:00.000Z") as TimeMs;
const standing = (text: string | undefined, caller = "ann") => {
  const bytes = new TextEncoder().encode(text);
  const read = parseCallers(text === undefined ? { kind: "missing" } : { kind: "bytes", bytes }, "callers.json");
  return callerStanding(read, caller as CallerName, now);
};
const ann = { name: "ann", key: "k" };

const rows: readonly [string, string | undefined, string][] = [
  ["an entry", JSON.stringify([ann]), "active"],
  ["an entry whose time is to come", JSON.stringify([{ ...ann, expires: "2026-10-08T12:00:00.001Z" }]), "active"],
  ["an entry whose time is over", JSON.stringify([{ ...ann, expires: "2026-10-08T12:00:00Z" }]), "expired"],
  ["a bad entry", JSON.stringify([{ ...ann, access: "all" }]), "unknown"],
  ["entries of others", JSON.stringify([{ name: "bob", key: "k" }]), "removed"],
  ["no entries", "[]", "removed"],
  ["half a file", '[{"name": "bo', "unknown"],
  ["no file", undefined, "unknown"],
];

for (const [what, text, expected] of rows) {
  Deno.test(`callerStanding() is ${expected} with ${what} [SM6 held, SM6 gone]`, () => {
    strictEqual(standing(text), expected);
  });
}

Deno.test("callerStanding() knows a local caller by its workspace", () => {
  const text = JSON.stringify([{ name: "side", workspace: "other" }]);
  strictEqual(standing(text, "@other"), "active");
  strictEqual(standing(text, "side"), "removed");
});
