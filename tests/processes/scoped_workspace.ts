/**
 * A process of its own with rights for one folder only, as the host has them, that uses every file of a workspace:
 * `scoped_workspace.ts <folder>`. Prints `done`; anything else is a failure (product.md §4, permissions).
 */
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { type CallerName, parseTaskId } from "@/protocol/ids.ts";
import { systemRandom } from "@/random.ts";
import { systemClock } from "@/time/clock.ts";
import { addAgent } from "@/workspace/agents_editor.ts";
import { AgentsFile } from "@/workspace/agents_file.ts";
import { sweepTemporary } from "@/workspace/atomic_write.ts";
import { AuditFile } from "@/workspace/audit_file.ts";
import { addCaller, removeCaller, rotateCaller } from "@/workspace/callers_editor.ts";
import { CallersFile } from "@/workspace/callers_file.ts";
import { CardFile } from "@/workspace/card_file.ts";
import { openConfined, writeConfined } from "@/workspace/confined_files.ts";
import { createDisk } from "@/workspace/disk.ts";
import { holdHostLock } from "@/workspace/file_lock.ts";
import { beginEpoch, readHost } from "@/workspace/host_file.ts";
import { readFirstLine, readInstructions } from "@/workspace/instruction_files.ts";
import { readLines } from "@/workspace/line_reader.ts";
import { NotificationsFile } from "@/workspace/notifications_file.ts";
import { makeOwnedFolder } from "@/workspace/owned_folder.ts";
import { PendingFile } from "@/workspace/pending_file.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";

const paths = workspacePaths(Deno.args[0]!);
const clock = systemClock;
const random = systemRandom;
const disk = createDisk(clock);
const parts = { disk, clock, random };

await makeOwnedFolder(disk, paths.a2a);
strictEqual(await sweepTemporary(disk, paths.a2a), 0);
using lock = await holdHostLock(disk, paths.hostLock);
ok(lock?.holds());
strictEqual((await beginEpoch(disk, paths.hostFile, { random, now: clock.now(), pid: 1, version: "0" })).kind, "begun");
strictEqual((await readHost(disk, paths.hostFile)).kind, "host");

const callers = { ...parts, path: paths.callersFile, lock: paths.editLock };
strictEqual((await addCaller(callers, { name: "bot" })).kind, "made");
strictEqual((await rotateCaller(callers, "bot", { overlapMs: 1000 })).kind, "made");
strictEqual(new CallersFile({ disk, clock, path: paths.callersFile }).read().callers.length, 1);
strictEqual((await removeCaller(callers, "bot")).kind, "removed");
const agents = { ...parts, path: paths.agentsFile, lock: paths.editLock };
strictEqual((await addAgent(agents, { name: "bot", url: "https://x.example" })).kind, "added");
strictEqual(new AgentsFile({ disk, clock, path: paths.agentsFile }).read().agents.length, 1);
strictEqual(new CardFile({ disk, clock, path: paths.cardFile }).read().malformed, false);

const pending = new PendingFile({ ...parts, path: paths.pendingFile, lock: paths.pendingLock });
const watchId = random.uuid();
const watch = {
  watchId,
  target: "owner",
  agent: "bot",
  taskId: "t",
  contextId: null,
  pushToken: null,
  undelivered: null,
};
const put = () => ({ ...watch, startedAt: "2026-10-08T12:00:00.000Z", source: "poll" as const });
strictEqual((await pending.update(watchId, put)).kind, "updated");
strictEqual(pending.read().records.length, 1);

{
  await using notifications = new NotificationsFile({ ...parts, path: paths.notifications, bytesMax: 200 });
  for (let notice = 0; notice < 5; notice++) await notifications.append({ kind: "host", from: "host", text: "x" });
  await using audit = new AuditFile({ ...parts, path: paths.audit });
  audit.append({ op: "GetTask", binding: "rest", caller: null, outcome: "ok", ms: 1, in: 0, out: 0 });
}
strictEqual((await readLines(disk, paths.audit, { bytesMax: 1e6 })).values.length, 2);

const within = { disk, random, root: paths.root, hidden: [paths.volcanic] };
const bytes = new TextEncoder().encode("# Kind\n");
deepStrictEqual(await writeConfined(within, "PERSONA.md", bytes), { kind: "written", path: "PERSONA.md" });
deepStrictEqual(await writeConfined(within, "a/b.txt", bytes), { kind: "written", path: "a/b.txt" });
for (const path of ["a/b.txt", "PERSONA.md"]) {
  const opened = await openConfined(within, path);
  ok(opened.kind === "opened");
  using file = opened.file;
  deepStrictEqual(await file.read(), bytes);
}
for (const path of ["/etc/passwd", "../x", "out", "out/passwd", ".volcanic/a2a/agents.json", "in/a2a/agents.json"]) {
  strictEqual((await openConfined(within, path)).kind, "refused", path);
  strictEqual((await writeConfined(within, path, bytes)).kind, "refused", path);
}
strictEqual(await readFirstLine(within, "PERSONA.md"), "# Kind");
strictEqual(await readInstructions(within), "# PERSONA.md\n\n# Kind");
ok(paths.inboxOf("bot" as CallerName, parseTaskId(random.uuid())).startsWith(paths.root));
console.log("done");
