import { strictEqual } from "node:assert/strict";
import { createTestRandom } from "@tests/fakes/test_random.ts";
import type { CallerName } from "@/protocol/ids.ts";
import { systemClock } from "@/time/clock.ts";
import { callerView, callerWorkshop } from "./caller_view.ts";
import { createDisk } from "./disk.ts";
import { workspacePaths } from "./workspace_paths.ts";

const parts = {
  disk: createDisk(systemClock),
  random: createTestRandom(),
  paths: workspacePaths("/workspace"),
  caller: "alice" as CallerName,
};
const view = callerView(parts);

const rows: readonly (readonly [path: string, isHidden: boolean])[] = [
  ["README.md", false],
  ["src/environment.ts", false],
  ["docs/env.md", false],
  ["keys.txt", false],
  [".gitignore", false],
  [".git/HEAD", false],
  ["inbox/alice/t/a.txt", false],
  ["work/alice/a.txt", false],
  ["notes/inbox/bob/a.txt", false],
  ["inbox", false],
  [".volcanic", true],
  [".VOLCANIC/a2a/callers.json", true],
  ["sub/.volcanic/a2a/callers.json", true],
  [".volcanic/a2a/webhook.secret", true],
  [".env", true],
  [".ENV.production", true],
  ["app/.envrc", true],
  [".env.d/one", true],
  ["tls/server.pem", true],
  ["tls/server.KEY", true],
  [".git/config", true],
  ["module/.git/config", true],
  [".netrc", true],
  ["home/.netrc", true],
  ["inbox/bob/t/a.txt", true],
  ["inbox/a2a/t/a.txt", true],
  ["inbox/alice2/t/a.txt", true],
  ["inbox/stray.txt", true],
  ["work/bob/a.txt", true],
  ["work/@alice/a.txt", true],
];

for (const [path, isHidden] of rows) {
  Deno.test(`callerView() ${isHidden ? "hides" : "shows"} ${path}`, () => strictEqual(view.isHidden?.(path), isHidden));
}

Deno.test("callerView() hides our state by its path too; callerWorkshop() is the caller's folder alone", () => {
  strictEqual(view.hidden[0], "/workspace/.volcanic");
  strictEqual(view.root, "/workspace");
  strictEqual(callerWorkshop(parts).root, "/workspace/work/alice");
});
