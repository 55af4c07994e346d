import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import type { CallerName } from "@/protocol/ids.ts";
import { callerMap } from "@/workspace/caller_map.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";
import { boxCommand, type BoxPlan } from "./box_arguments.ts";

function planFor(access: "read" | "write", more: Partial<BoxPlan> = {}): BoxPlan {
  const paths = workspacePaths("/ws");
  return {
    system: {
      bwrap: "/b/bwrap",
      prlimit: "/b/prlimit",
      links: [{ path: "/bin", target: "usr/bin" }],
      folders: ["/lib"],
    },
    files: { empty: "/f/empty", passwd: "/f/passwd", group: "/f/group" },
    map: callerMap({ paths, caller: "bob" as CallerName, access, hide: [], otherStates: [] }),
    masks: {
      hiddenFolders: [".volcanic"],
      hiddenFiles: [".git/config"],
      fixed: [".git"],
      missingFolders: [".claude"],
      missingFiles: ["CLAUDE.md"],
    },
    network: false,
    limits: { memoryBytes: 1, processes: 2, fileBytes: 3, scratchBytes: 4 },
    command: ["bash", "-c", "x; y"],
    ...more,
  };
}

/** The mounts over the workspace, one a line. */
function workspaceMounts(plan: BoxPlan): readonly string[] {
  const text = boxCommand(plan).args.join(" ");
  return text.slice(text.indexOf("/ws /workspace") - 10, text.indexOf(" --remount-ro / ")).split(/ (?=--)/).map((
    line,
  ) => line.trim())
    .filter((line) => line.includes("workspace") || line.includes("session"));
}

Deno.test("boxCommand() mounts the workspace, then control paths, then what is hidden, then the caller's own [§6 box-arguments]", () => {
  const mounts = workspaceMounts(planFor("write", { keptFolder: "/kept" }));
  deepStrictEqual(mounts, [
    "--bind /ws /workspace",
    "--ro-bind /ws/.git /workspace/.git",
    "--tmpfs /workspace/.claude",
    "--remount-ro /workspace/.claude",
    "--tmpfs /workspace/.volcanic",
    "--remount-ro /workspace/.volcanic",
    "--ro-bind /f/empty /workspace/CLAUDE.md",
    "--ro-bind /f/empty /workspace/.git/config",
    "--tmpfs /workspace/work",
    `--bind ${join("/ws", "work/bob")} ${join("/workspace", "work/bob")}`,
    "--remount-ro /workspace/work",
    "--tmpfs /workspace/inbox",
    "--ro-bind /ws/inbox/bob /workspace/inbox/bob",
    "--remount-ro /workspace/inbox",
    "--bind /kept /session",
  ]);
  strictEqual(workspaceMounts(planFor("read"))[0], "--ro-bind /ws /workspace");
});

Deno.test("boxCommand() gives no network, no rights and its limits, and takes the command as it is [§6 box-arguments]", () => {
  const { program, args } = boxCommand(planFor("read"));
  strictEqual(program, "/b/prlimit");
  deepStrictEqual(args.slice(0, 6), ["--data=1", "--fsize=3", "--core=0", "--nofile=4096", "--", "/b/bwrap"]);
  for (
    const flag of [
      "--unshare-user",
      "--disable-userns",
      "--unshare-pid",
      "--unshare-net",
      "--die-with-parent",
      "--new-session",
    ]
  ) {
    ok(args.includes(flag), flag);
  }
  deepStrictEqual(args.slice(args.indexOf("--cap-drop")).slice(0, 2), ["--cap-drop", "ALL"]);
  deepStrictEqual(args.slice(-4), ["sh", "bash", "-c", "x; y"]);
  ok(args.join(" ").includes("--symlink usr/bin /bin --ro-bind /lib /lib"));
  strictEqual(boxCommand(planFor("read", { network: true })).args.includes("--unshare-net"), false);
});
