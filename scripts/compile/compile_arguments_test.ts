import { ok, strictEqual } from "node:assert/strict";
import { compileArguments, isBaseUnreachable } from "./compile_arguments.ts";

Deno.test("the executable never prompts, keeps no code cache, and has no right that it does not need [§4 no-prompt, §4 no-code-cache]", () => {
  for (const flag of ["--no-prompt", "--no-code-cache", "--no-config"]) ok(compileArguments.includes(flag), flag);
  for (const flag of ["-A", "--allow-all", "--allow-sys", "--allow-ffi", "--allow-import"]) {
    strictEqual(compileArguments.includes(flag), false, flag);
  }
});

Deno.test("isBaseUnreachable() tells a base that cannot be downloaded from other failures", () => {
  const unreachable = [
    "error: Writing deno compile executable to temporary file 'bin/x.tmp-71b3e0f8417f88f6'",
    "Caused by:",
    "    0: Setting up base binary.",
    "    1: error sending request for url (https://dl.deno.land/release/v2.9.6/denort-x86_64-unknown-linux-gnu.zip)",
  ].join("\n");
  strictEqual(isBaseUnreachable(unreachable), true);
  for (const other of ["", 'error: Module not found "file:///dist/main.js"', "No space left on device (os error 28)"]) {
    strictEqual(isBaseUnreachable(other), false, other);
  }
});
