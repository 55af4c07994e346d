import { ok, strictEqual, throws } from "node:assert/strict";
import { parseCallerName, parseTaskId } from "@/protocol/ids.ts";
import { workspacePaths } from "./workspace_paths.ts";

const paths = workspacePaths("/ws");
const taskId = parseTaskId("00000000-0000-4000-8000-000000000001");

Deno.test("workspacePaths() puts everything where data-model.md has it [DM0]", () => {
  strictEqual(paths.callersFile, "/ws/.volcanic/a2a/callers.json");
  strictEqual(paths.hostLock, "/ws/.volcanic/a2a/host.lock");
  strictEqual(paths.sessions, "/ws/.volcanic/sessions");
  strictEqual(paths.agentsInbox, "/ws/inbox/a2a");
  strictEqual(paths.inboxOf(parseCallerName("bot"), taskId), `/ws/inbox/bot/${taskId}`);
  strictEqual(paths.inboxOf(parseCallerName("bot")), "/ws/inbox/bot");
  strictEqual(paths.workOf(parseCallerName("bot")), "/ws/work/bot");
  const ours = Object.entries(paths).filter(([name, path]) =>
    typeof path === "string" && !["root", "inbox", "work", "agentsInbox"].includes(name)
  );
  for (const [name, path] of ours) ok(path.startsWith("/ws/.volcanic"), name);
});

Deno.test("workspacePaths() gives a local caller a folder that no other caller can have [DM11, §12]", () => {
  strictEqual(paths.workOf(parseCallerName("@bot")), "/ws/work/@bot");
  strictEqual(paths.inboxOf(parseCallerName("@a2a"), taskId), `/ws/inbox/@a2a/${taskId}`);
});

Deno.test("workspacePaths() makes no folder of what is no caller's name [threats other-callers' work]", () => {
  for (const name of ["..", "a2a", "", "@", "a/b", "@@x", "A"]) {
    throws(() => paths.workOf(name as ReturnType<typeof parseCallerName>), RangeError);
  }
});
