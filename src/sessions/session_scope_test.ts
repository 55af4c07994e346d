import { deepStrictEqual, notStrictEqual, strictEqual, throws } from "node:assert/strict";
import { type CallerName, parseCallerName } from "@/protocol/ids.ts";
import { sha256Hex } from "@/workspace/sha256.ts";
import {
  callerScope,
  olderTranscriptPath,
  ownerScope,
  scopeOwner,
  transcriptName,
  transcriptPath,
} from "./session_scope.ts";

const alice = parseCallerName("alice");

Deno.test("callerScope() joins caller and context behind a constant prefix [DM7 scope]", () => {
  strictEqual(callerScope(alice, "ctx-1_a"), "ws-a2a-alice_ctx-1_a");
  strictEqual(ownerScope, "ws-owner");
});

Deno.test("callerScope() tells contexts apart that differ in case alone [DM7 scope]", () => {
  strictEqual(callerScope(alice, "Ctx"), `ws-a2a-alice_Ctx~${sha256Hex("Ctx").slice(0, 8)}`);
  const names = ["ctx", "Ctx", "cTx", "CTX"].map((id) => callerScope(alice, id).toLowerCase());
  strictEqual(new Set(names).size, 4);
});

Deno.test("callerScope() keeps a local caller apart from a key holder of the same name [DM7 scope]", () => {
  strictEqual(callerScope(parseCallerName("@alice"), "c"), "ws-a2a-@alice_c");
  notStrictEqual(callerScope(parseCallerName("@alice"), "c"), callerScope(alice, "c"));
});

Deno.test("callerScope() never gives two pairs one scope [§5.4]", () => {
  const callers = ["a", "a-b", "b", "@a", "@a-b", "owner"].map(parseCallerName);
  const contexts = ["b", "_b", "b_b", "-b_", "B", "a2a-a_b"];
  const scopes = callers.flatMap((caller) => contexts.map((context) => callerScope(caller, context)));
  strictEqual(new Set(scopes).size, callers.length * contexts.length);
});

Deno.test("scopeOwner() gives back what callerScope() was made of, and nothing for other names [DM7 scope]", () => {
  for (const caller of ["alice", "@alice", "a-b"].map(parseCallerName)) {
    for (const contextId of ["c", "_c_", "a-B", "A".repeat(100)]) {
      deepStrictEqual(scopeOwner(callerScope(caller, contextId)), { caller, contextId });
    }
  }
  const hash = sha256Hex("Ctx").slice(0, 8);
  const others = [ownerScope, "alice_c", "ws-a2a-alice", "ws-a2a-_c", "ws-a2a-Alice_c", "ws-a2a-alice_Ctx", ""];
  for (const scope of [...others, `ws-a2a-alice_ctx~${hash}`, "ws-a2a-alice_Ctx~00000000"]) {
    strictEqual(scopeOwner(scope), undefined, scope);
  }
});

Deno.test("transcriptName() reads the names of a scope's files, and no other [DM7 file-at-most-64-MiB]", () => {
  deepStrictEqual(transcriptName("ws-a2a-@alice_c.jsonl"), { scope: "ws-a2a-@alice_c", part: 0 });
  deepStrictEqual(transcriptName("ws-owner.12.jsonl"), { scope: "ws-owner", part: 12 });
  for (const name of ["a.jsonl.bad", "a.json", ".jsonl", "a.x.jsonl", "a.1.2.jsonl", "a.jsonl.0123abcd.tmp"]) {
    strictEqual(transcriptName(name), undefined, name);
  }
});

for (const bad of ["", "a/b", "..", "a".repeat(101), "a b", "a~b", "a\n", "ä"]) {
  Deno.test(`callerScope() refuses ${JSON.stringify(bad)} as a context [§4]`, () => {
    throws(() => callerScope(alice, bad), TypeError);
  });
}

Deno.test("callerScope() fits into a file name at its longest [DM7 scope]", () => {
  const scope = callerScope(`@${"a".repeat(40)}` as CallerName, "A".repeat(100));
  strictEqual(scope.length, 158);
  strictEqual(transcriptPath("/w/sessions", scope), `/w/sessions/${scope}.jsonl`);
  strictEqual(olderTranscriptPath("/w/sessions", scope, 2), `/w/sessions/${scope}.2.jsonl`);
});
