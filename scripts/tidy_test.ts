import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { checkTree } from "./tidy.ts";

const doc = "/** Says. */\n";

function check(files: Readonly<Record<string, string>>): readonly string[] {
  return checkTree(new Map(Object.entries(files)));
}

function longFunction(lines: number, head = "function f() {"): string {
  return `${head}\n${"  go();\n".repeat(lines - 2)}}\n`;
}

interface Row {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  /** Each fits one violation, in order. None: the tree is tidy. */
  readonly finds: readonly RegExp[];
}

const rows: readonly Row[] = [
  {
    name: "an allowed direction",
    files: { "src/workspace/a.ts": 'import { b } from "@/protocol/b.ts";\n', "src/protocol/b.ts": "" },
    finds: [],
  },
  {
    name: "a forbidden direction, of types too",
    files: { "src/protocol/a.ts": 'import type { B } from "@/workspace/b.ts";\n', "src/workspace/b.ts": "" },
    finds: [
      /^src\/protocol\/a\.ts:1: imports "@\/workspace\/b\.ts"; protocol may not import workspace; .*; pass it in/,
    ],
  },
  {
    name: "server and client that meet",
    files: {
      "src/server/runs/a.ts": 'import { b } from "@/client/watch/b.ts";\n',
      "src/client/watch/b.ts": 'import { c } from "@/server/tasks/c.ts";\n',
      "src/server/tasks/c.ts": "",
    },
    finds: [/client\/watch may not import server\/tasks/, /server\/runs may not import client\/watch/],
  },
  {
    name: "a dynamic import in a forbidden direction",
    files: { "src/time/a.ts": 'const b = await import("@/cli/b.ts");\n', "src/cli/b.ts": "" },
    finds: [/time may not import cli/],
  },
  {
    name: "an import over several lines",
    files: { "src/time/a.ts": 'import {\n  type B,\n  c,\n} from "@/cli/b.ts";\n', "src/cli/b.ts": "" },
    finds: [/^src\/time\/a\.ts:1: .*time may not import cli/],
  },
  {
    name: "app.ts that imports the command line, which may import it",
    files: {
      "src/app.ts": 'import { c } from "@/cli/c.ts";\nimport { d } from "@/engine/d.ts";\n',
      "src/cli/c.ts": "",
      "src/cli/e.ts": 'import { app } from "@/app.ts";\n',
      "src/engine/d.ts": "",
    },
    finds: [/^src\/app\.ts:1: .*app\.ts may not import cli/],
  },
  {
    name: "main.ts that does more than call the command line",
    files: { "main.ts": 'import { a } from "@/app.ts";\n', "src/app.ts": "" },
    finds: [/^main\.ts:1: .*nothing else/],
  },
  {
    name: "a program that imports a test's fake, which only its test may",
    files: {
      "src/time/a.ts": 'import { f } from "@tests/fakes/f.ts";\n',
      "src/time/a_test.ts": 'import { f } from "@tests/fakes/f.ts";\n',
      "tests/fakes/f.ts": "",
    },
    finds: [/^src\/time\/a\.ts:1: .*the program needs no test/],
  },
  {
    name: "a test of a part that builds a disk to stand on",
    files: {
      "src/engine/a.ts": "",
      "src/engine/a_test.ts": 'import { d } from "@/workspace/disk.ts";\n',
      "src/workspace/disk.ts": "",
    },
    finds: [],
  },
  {
    name: "a ring of three files",
    files: {
      "src/time/a.ts": 'import { b } from "./b.ts";\n',
      "src/time/b.ts": 'import { c } from "./c.ts";\n',
      "src/time/c.ts": 'import type { a } from "./a.ts";\n',
    },
    finds: [
      /^src\/time\/a\.ts: a cycle; .*: src\/time\/a\.ts -> src\/time\/b\.ts -> src\/time\/c\.ts -> src\/time\/a\.ts; /,
    ],
  },
  {
    name: "a path that climbs",
    files: { "src/server/tasks/a.ts": 'import { b } from "../../protocol/b.ts";\n', "src/protocol/b.ts": "" },
    finds: [/a path with \.\.\//],
  },
  {
    name: "the long way to a neighbour",
    files: { "src/time/a.ts": 'import { b } from "@/time/b.ts";\n', "src/time/b.ts": "" },
    finds: [/import "\.\/b\.ts"/],
  },
  {
    name: "a version written at an import",
    files: { "src/cli/a.ts": 'import { b } from "npm:b@1";\n' },
    finds: [/versions live in deno\.json/],
  },
  {
    name: "barrels, by name and by what they do",
    files: {
      "src/time/index.ts": 'export * from "./b.ts";\n',
      "src/time/b.ts": "",
      "src/cli/c.ts": 'import { b } from "@/time/index.ts";\nexport { d } from "./d.ts";\n',
      "src/cli/d.ts": "",
    },
    finds: [
      /imports "@\/time\/index\.ts"; a barrel/,
      /c\.ts:2: exports what/,
      /index\.ts: a barrel/,
      /index\.ts:1: exports/,
    ],
  },
  {
    name: "a private file taken from another folder",
    files: {
      "src/cli/a.ts": 'import { b } from "@/time/_b.ts";\n',
      "src/time/_b.ts": "",
      "src/time/c.ts": 'import { b } from "./_b.ts";\n',
    },
    finds: [/^src\/cli\/a\.ts:1: .*private to its folder/],
  },
  {
    name: "loose files and unknown folders",
    files: { "src/server/a.ts": "", "src/stuff/b.ts": "", "src/client/watch/c.ts": "" },
    finds: [/src\/server\/a\.ts: a loose file/, /src\/stuff\/b\.ts: a loose file/],
  },
  {
    name: "names that say nothing, or are spelled another way",
    files: {
      "src/time/string_utils.ts": "",
      "src/cli/helpers/a.ts": "",
      "src/cli/sendAction.ts": "",
      "src/cli/core_dump.ts": "",
    },
    finds: [/"helpers" names nothing/, /"sendAction" is not snake_case/, /"utils" names nothing/],
  },
  {
    name: "a test beside nothing, a test in a file that is not named so",
    files: {
      "src/time/a_test.ts": "",
      "src/time/b.ts": 'Deno.test("x", () => {});\n',
      "src/time/b_limits_test.ts": "",
      "tests/peer/c_test.ts": "",
    },
    finds: [/a_test\.ts: no source of that name/, /b\.ts: tests in a file that is not named so/],
  },
  { name: "a file of 400 lines", files: { "src/time/a.ts": "go();\n".repeat(400) }, finds: [] },
  { name: "a file of 401 lines", files: { "src/time/a.ts": "go();\n".repeat(401) }, finds: [/401 lines/] },
  { name: "a function of 60 lines", files: { "src/time/a.ts": longFunction(60) }, finds: [] },
  { name: "a function of 61 lines", files: { "src/time/a.ts": longFunction(61) }, finds: [/a\.ts:1: f has 61 lines/] },
  ...[
    { head: "const f = async (a: string): Promise<void> => {", name: /an arrow function has 61/ },
    {
      head: "async function* f<T extends { a: string }>(x: { a: T } = { a: 1 }): AsyncIterable<{ a: T }> {",
      name: /f has 61/,
    },
    { head: "function f(): { kind: 1 } | undefined {", name: /f has 61/ },
    { head: "function f(x: unknown): x is string {", name: /f has 61/ },
    { head: "function f(): readonly (() => void)[] {", name: /f has 61/ },
  ].map(({ head, name }) => ({
    name: `a long function that begins ${head}`,
    files: { "src/time/a.ts": longFunction(61, head) },
    finds: [name],
  })),
  {
    name: "long methods",
    files: {
      "src/time/a.ts": `class A {\n${longFunction(61, "#m(x: number): void {")}${
        longFunction(61, "[Symbol.dispose]() {")
      }}\n`,
    },
    finds: [/#m has 61/, /dispose\] has 61/],
  },
  {
    name: "long blocks that are no functions",
    files: {
      "src/time/a.ts": [
        longFunction(70, "if (a(b)) {"),
        longFunction(70, "for (const a of b(c)) {"),
        longFunction(70, "switch (f(x)) {"),
        longFunction(70, "const a = b ? c(d) : {").replace(/\}\n$/, "};\n"),
        longFunction(70, "interface A { b(): void; c(d: string): { e: string };"),
      ].join(""),
    },
    finds: [],
  },
  {
    name: "long tests, which are exempt, and a long function inside one, which is not",
    files: {
      "tests/a_test.ts": [
        longFunction(90, 'Deno.test("a", async () => {').replace(/\}\n$/, "});\n"),
        longFunction(90, 'Deno.test({ name: "b", async fn() {').replace(/\}\n$/, "}});\n"),
        longFunction(90, 'describe("c", () => {').replace(/\}\n$/, "});\n"),
        `Deno.test("d", () => {\n${longFunction(61)}});\n`,
      ].join(""),
    },
    finds: [/f has 61 lines/],
  },
  ...[
    ["src/workspace/a.ts", 'Deno.env.get("A");', /Deno\.env away from its home config\.ts/],
    ["src/workspace/a.ts", "console.log(1);", /console\. away/],
    ["src/workspace/a.ts", "Date.now();", /Date\.now away from its home time\/; take a Clock/],
    ["src/workspace/a.ts", "setTimeout(go, 1);", /setTimeout away/],
    ["src/workspace/a.ts", "setInterval(go, 1);", /setInterval away/],
    ["src/workspace/a.ts", "performance.now();", /performance\.now away/],
    ["src/workspace/a.ts", "AbortSignal.timeout(1);", /AbortSignal\.timeout away/],
    ["src/workspace/a.ts", "new Date();", /new Date\(\) away/],
    ["src/workspace/a.ts", "new Date;", /new Date away/],
    ["src/workspace/a.ts", "Date();", /Date away/],
    ["src/workspace/a.ts", "Math.random();", /Math\.random away from its home random\.ts/],
    ["src/workspace/a.ts", "crypto.randomUUID();", /crypto\.randomUUID away/],
    ["src/workspace/a.ts", "`${crypto.getRandomValues(x)}`;", /crypto\.getRandomValues away/],
    [
      "src/workspace/a.ts",
      "Deno.readTextFileSync(x);",
      /Deno\.readTextFileSync away from its home workspace\/disk\.ts/,
    ],
    ["src/workspace/a.ts", 'import fs from "node:fs";', /"node:fs" away/],
    ["src/workspace/a.ts", 'import { execFile } from "node:child_process";', /"node:child_process" away/],
    ["src/cli/a.ts", "Deno.exit(1);", /Deno\.exit away from its home cli\/cli\.ts/],
    ["src/workspace/a.ts", "self.close();", /self\.close away/],
    ["src/workspace/a.ts", 'new Deno.Command("ls");', /Deno\.Command away from its home cli\//],
  ].map(([path, text, finds]) => ({
    name: `a call away from home: ${text}`,
    files: { [path as string]: `${text}\n` },
    finds: [finds as RegExp],
  })),
  {
    name: "calls at home",
    files: {
      "src/outbound/a.ts": 'await fetch(url);\nDeno.startTls(await Deno.connect(a));\nDeno.resolveDns(b, "A");\n',
      "src/server/http/a.ts": "Deno.listen(a);\nDeno.serve(b);\n",
      "src/host/host_thread.ts": "const scope = self as unknown as Scope;\n",
      "src/config.ts": "Deno.env.toObject();\n",
      "src/cli/output.ts": "console.log(1);\n",
      "src/time/a.ts": "setTimeout(go, Date.now());\n",
      "src/random.ts": "Math.random();\n",
      "src/workspace/disk.ts": 'import fs from "node:fs";\nDeno.open(x);\n',
      "src/cli/cli.ts": 'new Deno.Command("ls");\nDeno.exit(1);\n',
    },
    finds: [],
  },
  {
    name: "what only looks like a call away from home",
    files: {
      "src/workspace/a.ts": [
        "// fetch(x) console.log Date.now()",
        "/* Deno.exit(1) */",
        'const a = "Math.random()" + \'setTimeout\' + `Deno.env ${b("`fetch(x)`")} console.`;',
        'const c = /setTimeout|"|fetch\\(/.test(d);',
        "const e = f / g; // setTimeout\nconst h = i / 2;",
        "app.fetch(request);",
        "new Date(at);",
        "Deno.exitCode = 1;",
        "const o = { fetch(request: Request): Response { return go(request); }, close() {} };",
        "Deno.errors.NotFound;",
        "const { NotFound } = Deno.errors;",
        "interface P { readonly fetch: Fetch; }",
        "const p = { port: 1, fetch: app.fetch };",
        'type W = App["WebSocket"];',
        "this.fetch(request);",
        "class A { async fetch(request: Request, info: Info = { a: { b: 1 } }): Promise<Response> { go(); } }",
        "Deno.upgradeWebSocket(request);",
        "logger.console.x;",
      ].join("\n"),
    },
    finds: [],
  },
  {
    name: "calls away from home in tests and scripts, which are exempt",
    files: {
      "src/time/a.ts": "",
      "src/time/a_test.ts": "console.log(Deno.env);\n",
      "tests/fakes/b.ts": "setTimeout(go, 1);\n",
      "scripts/c.ts": "Deno.readTextFile(x);\n",
    },
    finds: [],
  },
  {
    name: "exports without a docstring",
    files: {
      "src/time/a.ts": [
        "export function a() {}",
        "// not a docstring\nexport const b = 1;",
        "/* nor this */\nexport type C = 1;",
        `${doc}\nexport interface D {}`,
        "export abstract class E {}",
        "export async function* f() {}",
      ].join("\n"),
    },
    finds: [/: a has no/, /: b has no/, /: C has no/, /: D has no/, /: E has no/, /: f has no/],
  },
  {
    name: "exports with a docstring, overloads among them, and files that need none",
    files: {
      "src/time/a.ts":
        `${doc}export function a(x: string): void;\nexport function a(x: number): void;\nexport function a() {}\n${doc}// deno-lint-ignore x\nexport const b = 1;\n`,
      "src/time/a_test.ts": "export const c = 1;\n",
      "tests/fakes/d.ts": "export const d = 1;\n",
    },
    finds: [],
  },
];

for (const { name, files, finds } of rows) {
  Deno.test(`checkTree() ${finds.length === 0 ? "passes" : "finds"} ${name}`, () => {
    const found = check(files);
    if (found.length !== finds.length) deepStrictEqual(found, finds);
    for (const [index, expected] of finds.entries()) match(found[index]!, expected);
  });
}

Deno.test("checkTree() says what, why and cure in every violation", () => {
  const found = rows.flatMap(({ files }) => check(files));
  for (const violation of found) match(violation, /^[\w/.]+(?::\d+)?: [^;]+; [^;]+/);
});

Deno.test("checkTree() looks at .ts files of the program, its tests and its scripts only", () => {
  strictEqual(check({ "docs/utils.ts": "export * from 'x'", "src/time/utils.md": "" }).length, 0);
});
