import { deepStrictEqual } from "node:assert/strict";
import type { FileContent } from "./cached_file.ts";
import { limitOf, OwnLimits } from "./caller_limits.ts";
import { parseCallers } from "./callers_file.ts";

const entry = (name: string, limits: unknown) => ({ name, key: `k_${name}`, limits });

function content(json: unknown): FileContent {
  const text = typeof json === "string" ? json : JSON.stringify(json);
  return { kind: "bytes", bytes: new TextEncoder().encode(text) };
}

Deno.test("OwnLimits gives what the entry says at each use; others have none [§7 own-limits]", () => {
  let read = parseCallers(content([entry("a", { contexts: 1 }), entry("b", {})]), "callers.json");
  const own = new OwnLimits({ read: () => read });
  deepStrictEqual([own.of("a"), own.of("b"), own.of("c")], [{ contexts: 1 }, {}, {}]);
  read = parseCallers(content([entry("b", { runTimeout: "1m" })]), "callers.json");
  deepStrictEqual([own.of("a"), own.of("b")], [{}, { runTimeoutMs: 60_000 }]);
});

Deno.test("OwnLimits are those of a local caller by its name with @", () => {
  const read = parseCallers(content([{ name: "x", workspace: "y", limits: { contexts: 2 } }]), "callers.json");
  deepStrictEqual(new OwnLimits({ read: () => read }).of("@y"), { contexts: 2 });
});

const unreadable: readonly { readonly name: string; readonly content: FileContent }[] = [
  { name: "missing", content: { kind: "missing" } },
  { name: "empty", content: content("") },
  { name: "half saved", content: content("[{ half") },
];

for (const { name, content: broken } of unreadable) {
  Deno.test(`OwnLimits stay as they were while the file is ${name} [§7 own-limits-kept]`, () => {
    let read = parseCallers(content([entry("a", { concurrentRuns: 1 })]), "callers.json");
    const own = new OwnLimits({ read: () => read });
    own.of("a");
    read = parseCallers(broken, "callers.json");
    deepStrictEqual(own.of("a"), { concurrentRuns: 1 });
    read = parseCallers(content([]), "callers.json");
    deepStrictEqual(own.of("a"), {});
  });
}

Deno.test("limitOf() takes the caller's own before the setting, and 0 as none [§7 own-limits, §7 zero-is-none]", () => {
  deepStrictEqual([limitOf(undefined, 5), limitOf(7, 5), limitOf(0, 5), limitOf(undefined, Infinity)], [
    5,
    7,
    Infinity,
    Infinity,
  ]);
});
