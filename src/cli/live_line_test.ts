import { strictEqual } from "node:assert/strict";
import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { Activity } from "@/server/runs/run_activity.ts";
import { liveLine } from "./live_line.ts";
import { withoutControls } from "./output.ts";

const whose = { caller: "alice" as CallerName, taskId: "t" as TaskId, contextId: "c" };

const rows: readonly { readonly activity: Activity; readonly line: string }[] = [
  { activity: { ...whose, kind: "message", text: "Book three slots" }, line: "[alice] message: Book three slots" },
  { activity: { ...whose, kind: "tool", name: "search", text: "3 files" }, line: "[alice] tool search: 3 files" },
  {
    activity: { ...whose, kind: "end", state: "TASK_STATE_COMPLETED", text: "Done", ms: 12_345 },
    line: "[alice] completed (12.3 s): Done",
  },
  {
    activity: { ...whose, kind: "end", state: "TASK_STATE_CANCELED", text: "", ms: 125_000 },
    line: "[alice] canceled (2 min 5 s)",
  },
];

for (const { activity, line } of rows) {
  Deno.test(`liveLine() tells of ${line} [§11 live-lines]`, () => strictEqual(liveLine("alice", activity), line));
}

Deno.test("a live line cannot drive the terminal [§11 live-lines-scrubbed]", () => {
  const text = "a\u001b]52;c;aGk=\u0007b\u009b2Jc\u202ed";
  strictEqual(
    withoutControls(liveLine("alice", { ...whose, kind: "message", text })),
    "[alice] message: a]52;c;aGk=b2Jcd",
  );
});
