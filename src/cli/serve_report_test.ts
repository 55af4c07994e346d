import { deepStrictEqual } from "node:assert/strict";
import { type BoxReport, reportLines } from "./serve_report.ts";

Deno.test("reportLines() names who may change files of which workspace [§6 writers-named, §6 box-report]", () => {
  const lines = reportLines({
    address: { hostname: "127.0.0.1", port: 5099 },
    workspaces: [
      { name: "notes", folder: "/home/me/notes", callers: 3, writers: ["bob", "@team"], networkers: ["bob"] },
      { name: "plans", folder: "/home/me/plans", callers: 1, writers: [], networkers: [] },
    ],
    ...{ engine: "faux", box: { kind: "none", why: "it is a test" }, publicUrl: undefined, program: "volcanic-a2a" },
  });
  deepStrictEqual([...lines].filter((line) => /^(?:workspace|write|network|box)/.test(line)), [
    "workspace  notes: /home/me/notes, 3 callers",
    "write      bob, @team may change files of notes",
    "network    bob of notes may use the network from programs, this machine's own services too",
    "workspace  plans: /home/me/plans, 1 caller",
    "box        none (it is a test): callers get no bash, no acp, no exec",
  ]);
});

Deno.test("reportLines() warns at each start when programs have no box [§6 unsandboxed, §6 box-report]", () => {
  const report = {
    address: { hostname: "127.0.0.1", port: 5099 },
    workspaces: [],
    ...{ engine: "faux" as const, publicUrl: undefined, program: "volcanic-a2a" },
  };
  const boxLine = (box: BoxReport) => [...reportLines({ ...report, box })].find((line) => line.startsWith("box"));
  deepStrictEqual([boxLine({ kind: "unsandboxed" }), boxLine({ kind: "box", version: "bwrap 0.8.0" })], [
    "box        UNSANDBOXED: callers' programs have all rights of this process, its files and the network (Bash=unsandboxed)",
    "box        bwrap 0.8.0: callers may run programs",
  ]);
});
