import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { parsePathPattern } from "@/path_pattern.ts";
import type { CallerName } from "@/protocol/ids.ts";
import { systemRandom } from "@/random.ts";
import { systemClock } from "@/time/clock.ts";
import { callerMap, confinementOf } from "./caller_map.ts";
import { controlNames } from "./control_paths.ts";
import { createDisk } from "./disk.ts";
import { workspacePaths } from "./workspace_paths.ts";

const disk = createDisk(systemClock);
const paths = workspacePaths("/workspace");
const hide = ["/private", "*.draft", "plans/**/budget.md"].map((text) => parsePathPattern(text)!);
const parts = { paths, caller: "alice" as CallerName, hide, otherStates: ["/other/.volcanic"] };
const reader = callerMap({ ...parts, access: "read" });
const writer = callerMap({ ...parts, access: "write" });

/** What a caller with access "read" and one with "write" may do with a path: `see`, `change`, or neither. */
const rows: readonly (readonly [path: string, read: "hidden" | "see" | "change", write?: "see" | "change"])[] = [
  ["README.md", "see", "change"],
  ["src/environment.ts", "see", "change"],
  ["docs/env.md", "see", "change"],
  ["keys.txt", "see", "change"],
  ["package.json", "see", "change"],
  ["Makefile", "see", "change"],
  [".gitignore", "see", "change"],
  ["src/skills/one.ts", "see", "change"],
  ["notes/inbox/bob/a.txt", "see", "change"],
  ["inbox", "see", "see"],
  ["work", "see", "see"],
  // Its own.
  ["inbox/alice/t/a.txt", "see", "see"],
  ["inbox/alice", "see", "see"],
  ["inbox/alice/t/own.pem", "see", "see"],
  ["work/alice/a.txt", "change", "change"],
  ["work/alice/.git/config", "change", "change"],
  ["work/alice/tls/own.pem", "change", "change"],
  ["work/alice/CLAUDE.md", "change", "change"],
  // Others'.
  ["inbox/bob/t/a.txt", "hidden"],
  ["inbox/a2a/t/a.txt", "hidden"],
  ["inbox/alice2/t/a.txt", "hidden"],
  ["inbox/stray.txt", "hidden"],
  ["work/bob", "hidden"],
  ["work/bob/a.txt", "hidden"],
  ["work/@alice/a.txt", "hidden"],
  ["work/Alice/a.txt", "hidden"],
  ["Work/alice/a.txt", "hidden"],
  ["INBOX/bob/a.txt", "hidden"],
  // State.
  [".volcanic", "hidden"],
  [".VOLCANIC/a2a/callers.json", "hidden"],
  [".vol\u200dcanic/a2a/callers.json", "hidden"],
  ["sub/.volcanic/a2a/callers.json", "hidden"],
  ["work/alice/.volcanic/a2a/x", "hidden"],
  // Secrets.
  [".env", "hidden"],
  [".ENV.production", "hidden"],
  ["app/.envrc", "hidden"],
  [".env.d/one", "hidden"],
  ["deploy/prod.env", "hidden"],
  ["tls/server.pem", "hidden"],
  ["tls/server.KEY", "hidden"],
  [".git/config", "hidden"],
  ["module/.git/config", "hidden"],
  [".git/modules/a/b/config", "hidden"],
  [".netrc", "hidden"],
  ["home/.netrc", "hidden"],
  ["home/.ssh/id_ed25519", "hidden"],
  [".npmrc", "hidden"],
  // What the owner hides.
  ["private/a.md", "hidden"],
  ["docs/private/a.md", "see", "change"],
  ["docs/one.draft", "hidden"],
  ["plans/2031/q1/budget.md", "hidden"],
  // Control paths.
  [".git/HEAD", "see", "see"],
  [".git/hooks/pre-commit", "see", "see"],
  [".GIT/hooks/pre-commit", "see", "see"],
  ["sub/.git", "see", "see"],
  ["HEAD", "see", "see"],
  [".claude/settings.json", "see", "see"],
  ["sub/.claude/settings.json", "see", "see"],
  [".mcp.json", "see", "see"],
  [".vscode/tasks.json", "see", "see"],
  [".idea/workspace.xml", "see", "see"],
  [".github/workflows/ci.yml", "see", "see"],
  [".husky/pre-commit", "see", "see"],
  [".cursor/rules/a.mdc", "see", "see"],
  [".cursorignore", "see", "see"],
  ["skills/one/SKILL.md", "see", "see"],
  [".agents/skills/one/SKILL.md", "see", "see"],
  ["AGENTS.md", "see", "see"],
  ["agents.md", "see", "see"],
  ["docs/AGENTS.md", "see", "see"],
  ["CLAUDE.md", "see", "see"],
  ["GEMINI.md", "see", "see"],
  ["PERSONA.md", "see", "see"],
  ["MEMORY.md", "see", "see"],
  ["SOUL.md", "see", "see"],
];

for (const [path, read, write = "hidden"] of rows) {
  const name = JSON.stringify(path);
  Deno.test(`callerMap() ${read === "hidden" ? "hides" : `lets a reader ${read}`} ${name} [§6 hidden]`, () => {
    strictEqual(reader.isHidden(path), read === "hidden");
    strictEqual(reader.mayChange(path), read === "change");
  });
  Deno.test(`callerMap() ${write === "hidden" ? "hides" : `lets a writer ${write}`} ${name} [§6 write-access]`, () => {
    strictEqual(writer.isHidden(path), write === "hidden");
    strictEqual(writer.mayChange(path), write === "change");
    if (write === "see") ok(writer.isControl(path));
  });
}

Deno.test("callerMap() names what a box needs: where to write, whose state, what to make mount points [§6 control-paths]", () => {
  deepStrictEqual(reader.writable, [paths.workOf(parts.caller)]);
  strictEqual(writer.inbox, "/workspace/inbox/alice");
  deepStrictEqual(writer.writable, [...reader.writable, "/workspace"]);
  deepStrictEqual(reader.states, ["/workspace/.volcanic", "/other/.volcanic"]);
  deepStrictEqual(confinementOf(reader, { disk, random: systemRandom }).hidden, reader.states);
  strictEqual(writer.controlPaths.length, controlNames.length);
  for (const path of ["/workspace/.git/", "/workspace/.mcp.json", "/workspace/skills/", "/workspace/MEMORY.md"]) {
    ok(writer.controlPaths.includes(path), path);
  }
  for (const name of controlNames) {
    strictEqual(writer.mayChange(name.replace(/\/$/, "")), false, name);
    strictEqual(writer.mayChange(`${name.replace(/\/$/, "")}/in/it`), false, name);
  }
});
