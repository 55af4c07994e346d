import { strictEqual } from "node:assert/strict";
import { nameOfFolder, workspacesProblem } from "./workspace_names.ts";

const names = [
  { folder: "/home/eve/a2a-ws", name: "a2a-ws" },
  { folder: "/home/eve/My Notes (old)", name: "my-notes-old" },
  { folder: "/home/eve/Ümläut_und.so", name: "umlaut-und-so" },
  { folder: "/home/eve/.config", name: "config" },
  { folder: "/home/eve/日本", name: "workspace" },
  { folder: "/", name: "workspace" },
  { folder: `/${"a".repeat(39)}-bc`, name: "a".repeat(39) },
];

for (const { folder, name } of names) {
  Deno.test(`nameOfFolder() calls ${folder} ${name} [§3 workspace-names]`, () => {
    strictEqual(nameOfFolder(folder), name);
  });
}

const sets = [
  { of: [["a", "/w/a"], ["b", "/w/b"]], why: undefined, name: "two beside each other" },
  { of: [["a", "/w/a"], ["b", "/w/ab"]], why: undefined, name: "two whose paths begin alike" },
  { of: [["A", "/w/a"]], why: /name a workspace "A"/, name: "a name that does not fit" },
  { of: [["", "/w/a"]], why: /name a workspace ""/, name: "no name" },
  { of: [["a", "/w/a"], ["a", "/w/b"]], why: /two workspaces called "a"/, name: "two names alike" },
  { of: [["a", "/w/a"], ["b", "/w/a"]], why: /one lies in the other/, name: "one folder twice" },
  { of: [["a", "/w/a/in"], ["b", "/w/a"]], why: /one lies in the other/, name: "one in the other" },
  { of: [["a", "/"], ["b", "/w"]], why: /one lies in the other/, name: "one in the root" },
];

for (const { of, why, name } of sets) {
  Deno.test(`workspacesProblem() ${why === undefined ? "allows" : "refuses"} ${name} [§3 workspace-names]`, () => {
    const problem = workspacesProblem(of.map(([name, folder]) => ({ name: name!, folder: folder! })));
    strictEqual(why === undefined ? problem === undefined : why.test(problem ?? ""), true, problem);
  });
}
