import { deepStrictEqual } from "node:assert/strict";
import { reportLines } from "./serve_report.ts";

Deno.test("reportLines() names who may change files of which workspace [§6 writers-named]", () => {
  const lines = reportLines({
    address: { hostname: "127.0.0.1", port: 5099 },
    workspaces: [
      { name: "notes", folder: "/home/me/notes", callers: 3, writers: ["bob", "@team"] },
      { name: "plans", folder: "/home/me/plans", callers: 1, writers: [] },
    ],
    ...{ engine: "faux", publicUrl: undefined, program: "volcanic-a2a" },
  });
  deepStrictEqual([...lines].filter((line) => /^(?:workspace|write)/.test(line)), [
    "workspace  notes: /home/me/notes, 3 callers",
    "write      bob, @team may change files of notes",
    "workspace  plans: /home/me/plans, 1 caller",
  ]);
});
