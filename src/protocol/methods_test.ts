import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { isMethod, legacyMethods, methods } from "./methods.ts";

Deno.test("methods are the eleven of A2A 1.0, and none of 0.3", () => {
  strictEqual(new Set(methods).size, 11);
  ok(methods.every((name) => isMethod(name) && !legacyMethods.has(name)));
  deepStrictEqual(["getTask", "gettask", "message/send", "constructor", "", "length"].filter(isMethod), []);
});
