import { callsAtHome, foreignHome } from "./homes.ts";
import { findFunctions } from "./source_functions.ts";
import { closingBracket, lineAt, scanSource, type SourceText } from "./source_text.ts";

/** Which folder of `src` may import which others, besides itself. The longest name that fits a file is its folder. */
export const mayImport: Readonly<Record<string, readonly string[] | "everything" | "everything but cli">> = {
  "protocol": [],
  "time": [],
  "random.ts": [],
  "counters.ts": [],
  "version.ts": [],
  "ip_address.ts": [],
  "address_range.ts": ["ip_address.ts"],
  "path_pattern.ts": [],
  "model_reference.ts": [],
  "command_words.ts": [],
  "setting_kinds.ts": ["command_words.ts", "address_range.ts", "model_reference.ts", "path_pattern.ts"],
  "box_settings.ts": ["setting_kinds.ts"],
  "config.ts": ["box_settings.ts", "setting_kinds.ts"],
  "log.ts": ["config.ts"],
  "outbound": ["time", "random.ts", "counters.ts", "ip_address.ts", "address_range.ts"],
  "configured_outbound.ts": ["config.ts", "outbound", "time", "version.ts"],
  "engine": ["time", "random.ts", "counters.ts", "model_reference.ts"],
  "workspace": ["protocol", "time", "random.ts", "counters.ts", "path_pattern.ts"],
  "sessions": ["engine", "workspace", "protocol", "time", "random.ts", "counters.ts"],
  "server/tasks": ["workspace", "protocol", "time", "random.ts", "counters.ts"],
  "server/runs": [
    ...["server/tasks", "sessions", "engine", "workspace", "outbound", "protocol"],
    ...["time", "random.ts", "counters.ts"],
  ],
  "server/push": ["server/tasks", "outbound", "protocol", "time", "random.ts", "counters.ts"],
  "server/operations": [
    ...["server/runs", "server/push", "server/tasks", "workspace", "protocol", "time", "random.ts", "counters.ts"],
  ],
  "server/http": [
    ...["server/operations", "workspace", "protocol", "time", "random.ts", "counters.ts"],
    ...["address_range.ts", "version.ts"],
  ],
  "client/remote": ["outbound", "workspace", "protocol", "time", "random.ts", "counters.ts", "version.ts"],
  "client/answers": ["client/remote", "workspace", "outbound", "protocol", "time", "random.ts", "counters.ts"],
  "client/watch": [
    ...["client/remote", "client/answers", "workspace", "protocol", "time", "random.ts", "counters.ts"],
  ],
  "client/tool": [
    ...["client/remote", "client/answers", "client/watch", "engine", "workspace", "protocol"],
    ...["time", "random.ts", "counters.ts"],
  ],
  "workspace_host.ts": "everything but cli",
  "app.ts": "everything but cli",
  "host": "everything but cli",
  "host_worker.ts": ["host"],
  "cli": "everything",
};

const linesMax = 400;
const functionLinesMax = 60;
const vagueNames = new Set(
  ["util", "utils", "helper", "helpers", "common", "shared", "core", "lib", "manager", "managers", "misc"],
);

/** A tree of files: path from the root of the project, with slashes, to text. */
export type Tree = ReadonlyMap<string, string>;

interface File extends SourceText {
  readonly path: string;
  readonly imports: readonly Import[];
}

interface Import {
  /** As it is written. */
  readonly specifier: string;
  /** The file of the project that it leads to. */
  readonly target?: string;
  readonly offset: number;
}

/**
 * Checks a tree against the house style and gives every violation as `path:line: what; why; cure`, in the order of paths.
 *
 * Pure: the files are given. Only `.ts` files below `src`, `tests` and `scripts` are looked at.
 */
export function checkTree(tree: Tree): readonly string[] {
  const files = [...tree].filter(([path]) => /^(?:src|tests|scripts)\/.*\.ts$|^main\.ts$/.test(path))
    .sort(([a], [b]) => a < b ? -1 : 1).map(([path, text]) => readFile(path, text));
  const each = files.flatMap((file) => [
    ...checkName(file, tree),
    ...checkSize(file),
    ...checkImports(file),
    ...checkCalls(file),
    ...checkExports(file),
  ]);
  return [...each, ...checkCycles(files)];
}

function readFile(path: string, text: string): File {
  const source = scanSource(text);
  return { ...source, path, imports: findImports(path, source) };
}

function findImports(path: string, { code, withStrings }: SourceText): readonly Import[] {
  const found: Import[] = [];
  const shape = /\b(?:import|export)\b(?:[^;"'()=]*?\bfrom)?\s*(["'])|\bimport\s*\(\s*(["'`])/g;
  for (const match of code.matchAll(shape)) {
    const from = match.index + match[0].length;
    const specifier = withStrings.slice(from, withStrings.indexOf(match[1] ?? match[2]!, from));
    found.push({ specifier, target: targetOf(path, specifier), offset: match.index });
  }
  return found;
}

function targetOf(path: string, specifier: string): string | undefined {
  if (specifier.startsWith("@/")) return `src/${specifier.slice(2)}`;
  if (specifier.startsWith("@tests/")) return `tests/${specifier.slice(7)}`;
  if (!specifier.startsWith(".")) return undefined;
  const parts = path.split("/").slice(0, -1);
  for (const part of specifier.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.join("/");
}

function at(file: File, offset: number, what: string): string {
  return `${file.path}:${lineAt(file.text, offset)}: ${what}`;
}

const isTest = (path: string) => path.endsWith("_test.ts");
const folderOf = (path: string) => path.slice(0, path.lastIndexOf("/") + 1);

function* checkName({ path, code }: File, tree: Tree): Generator<string> {
  const [name, ...folders] = path.replace(/\.ts$/, "").split("/").reverse() as [string, ...string[]];
  for (const part of [name, ...folders]) {
    if (!/^_?[a-z0-9]+(?:_[a-z0-9]+)*$/.test(part)) {
      yield `${path}: "${part}" is not snake_case; one way to spell names; rename it`;
    }
    const word = part.split("_").at(-1)!;
    if (vagueNames.has(word)) yield `${path}: "${word}" names nothing; it becomes a drawer; name what is in it`;
  }
  if (name === "mod" || name === "index") {
    yield `${path}: a barrel; it makes cycles and hides where things are; import the file that defines the thing`;
  }
  if (path.startsWith("src/") && folderNameOf(path) === undefined) {
    yield `${path}: a loose file, or an unknown folder; nothing says what it may import; move it, or add it to scripts/tidy.ts`;
  }
  if (/\bDeno\.test\b/.test(code) && !isTest(path) && !/^tests\/(fakes|suites)\//.test(path)) {
    yield `${path}: tests in a file that is not named so; they do not run; name it _test.ts`;
  }
  if (isTest(path) && !path.startsWith("tests/") && sourceOf(path, tree) === undefined) {
    yield `${path}: no source of that name beside it; move one and both move; rename it, or put it in tests/`;
  }
}

/** `run_queue.ts` for `run_queue_test.ts`, and for `run_queue_limits_test.ts`. */
function sourceOf(path: string, tree: Tree): string | undefined {
  const words = path.replace(/_test\.ts$/, "").split("_");
  for (; words.length > 0; words.pop()) if (tree.has(`${words.join("_")}.ts`)) return `${words.join("_")}.ts`;
  return undefined;
}

function* checkSize(file: File): Generator<string> {
  const lines = file.text.replace(/\n$/, "").split("\n").length;
  if (lines > linesMax) yield `${file.path}: ${lines} lines; over ${linesMax} nobody reads it whole; split it by noun`;
  for (const { name, line, lines, argumentOf } of findFunctions(file.code)) {
    if (lines <= functionLinesMax || /^(?:Deno\.test|describe|it)\b/.test(argumentOf ?? "")) continue;
    yield `${file.path}:${line}: ${name} has ${lines} lines; a function fits a screen (${functionLinesMax}); take a part out`;
  }
}

function* checkImports(file: File): Generator<string> {
  for (const { specifier, target, offset } of file.imports) {
    const say = (what: string) => at(file, offset, `imports "${specifier}"; ${what}`);
    if (/^\.\.|\/\.\.\//.test(specifier)) yield say("a path with ../ breaks when files move; use @/ or @tests/");
    if (/^(?:npm|jsr|https?):/.test(specifier)) yield say("versions live in deno.json; add it to its imports");
    if (target === undefined) continue;
    if (/(?:^|\/)(?:mod|index)(?:\.ts)?$/.test(target)) yield say("a barrel; import the file that defines the thing");
    if (/(?:^|\/)_[^/]*$/.test(target) && folderOf(target) !== folderOf(file.path)) {
      yield say("a name with _ is private to its folder; import what the folder shows");
    }
    if (/^src\/.*\//.test(file.path) && specifier.startsWith("@/") && folderOf(target) === folderOf(file.path)) {
      yield say(`it is in the same folder; import "./${target.slice(folderOf(target).length)}"`);
    }
    const why = directionProblem(file.path, target);
    if (why !== undefined) yield say(why);
  }
}

/** The row of `mayImport` for a file of `src`. */
function folderNameOf(path: string): string | undefined {
  const name = path.slice("src/".length);
  const source = name.replace(/_test\.ts$/, ".ts");
  return Object.keys(mayImport).filter((row) => row === source || name.startsWith(`${row}/`))
    .sort((a, b) => b.length - a.length)[0];
}

function directionProblem(path: string, target: string): string | undefined {
  if (path === "main.ts") return target === "src/cli/cli.ts" ? undefined : "main.ts calls cli/cli.ts and nothing else";
  if (!path.startsWith("src/")) return undefined;
  if (target.startsWith("tests/")) {
    return isTest(path) ? undefined : "the program needs no test; move what it needs to src/";
  }
  const [from, to] = [folderNameOf(path), folderNameOf(target)];
  if (from === undefined || to === undefined || from === to) return undefined;
  const allowed = mayImport[from]!;
  if (allowed === "everything" || (allowed === "everything but cli" && to !== "cli")) return undefined;
  if (Array.isArray(allowed) && allowed.includes(to)) return undefined;
  if (isTest(path) && testMayImport.has(to)) return undefined;
  return `${from} may not import ${to}; directions keep the parts apart; pass it in, or move the code`;
}

/** What the test of any part may import besides: what makes the world it stands in. */
const testMayImport = new Set(["workspace", "time", "random.ts", "counters.ts"]);

function* checkCalls(file: File): Generator<string> {
  if (!file.path.startsWith("src/") || isTest(file.path)) return;
  const isHome = (home: readonly string[]) =>
    home.some((place) => place.endsWith("/") ? file.path.startsWith(`src/${place}`) : file.path === `src/${place}`);
  for (const { call, home, cure } of callsAtHome) {
    if (isHome(home)) continue;
    for (const match of file.code.matchAll(call)) {
      if (isDeclared(file.code, match)) continue;
      yield at(file, match.index, `${match[0].replace(/\s*\($/, "")} ${awayFrom(home)}; ${cure}`);
    }
  }
  for (const { specifier, target, offset } of file.imports) {
    if (target !== undefined || /^(?:npm|jsr|https?):/.test(specifier)) continue;
    const row = foreignHome(specifier);
    if (row === undefined || isHome(row.home)) continue;
    yield at(file, offset, `imports "${specifier}" ${awayFrom(row.home)}; ${row.cure}`);
  }
  for (const { index } of file.code.matchAll(/(?<![\w$#.])import\s*\((?!\s*(?:"[^"]*"|'[^']*')\s*[,)])/g)) {
    yield at(file, index, "imports what is no literal, which has no home; nobody sees what it is; write its name");
  }
}

function awayFrom(home: readonly string[]): string {
  return home.length === 0 ? "which has no home" : `away from its home ${home.join(", ")}`;
}

/** True for a method, property, member or function of that name: it is ours, and not the runtime's. */
function isDeclared(code: string, match: RegExpExecArray): boolean {
  const before = code.slice(Math.max(0, match.index - 40), match.index);
  if (/(?<!\b(?:globalThis|window|self)\s*\??)\.\s*$|\bfunction\s*$/.test(before)) return true;
  const end = match.index + match[0].length;
  if (!match[0].endsWith("(")) return isKey(before, code.slice(end, end + 20));
  const after = code.slice(closingBracket(code, end - 1) + 1);
  return /^\s*(?:\{|:[^:?]*[;{])/.test(after.slice(0, 200)) && !/\?[^;:]*$/.test(before);
}

/** True for `{ fetch: mine }` and `readonly fetch: Fetch;`, and not for a branch of a condition. */
function isKey(before: string, after: string): boolean {
  return /(?:[{,;]|\breadonly)\s*$/.test(before) && /^\s*\??:/.test(after);
}

function* checkExports(file: File): Generator<string> {
  for (const match of file.code.matchAll(/^export\s+(?:type\s+)?(?:\*|\{[^}]*\}\s*from\b)/gm)) {
    yield at(file, match.index, "exports what another file defines; a barrel hides where things are; import that file");
  }
  if (!file.path.startsWith("src/") || isTest(file.path)) return;
  let last = "";
  const shape =
    /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(function\*?|class|interface|type|const|let|enum) ?([\w$]+)/gm;
  for (const match of file.code.matchAll(shape)) {
    const [, kind, name] = match as unknown as [string, string, string];
    const overload = kind === "function" && name === last; // the first of its signatures has the docstring
    last = name;
    if (overload || hasDocstring(file.text, match.index)) continue;
    yield at(
      file,
      match.index,
      `${name} has no docstring; every export says what it promises; write one directly above`,
    );
  }
}

function hasDocstring(text: string, offset: number): boolean {
  const above = text.slice(0, offset).replace(/(?:[ \t]*\/\/[^\n]*\n)+$/, "");
  return /\*\/[ \t]*\n$/.test(above) && above.slice(above.lastIndexOf("/*")).startsWith("/**");
}

/** Each ring of files that import each other is told once, by the way through it. */
function* checkCycles(files: readonly File[]): Generator<string> {
  const next = new Map(files.map(({ path, imports }) => [path, imports.flatMap(({ target }) => target ?? [])]));
  const done = new Set<string>();
  const told: string[] = [];
  const visit = (path: string, way: readonly string[]): void => {
    const start = way.indexOf(path);
    if (start !== -1) {
      told.push(
        `${path}: a cycle; no part of it can be read alone: ${[...way.slice(start), path].join(" -> ")}; break it`,
      );
    }
    if (start !== -1 || done.has(path)) return;
    for (const target of next.get(path) ?? []) visit(target, [...way, path]);
    done.add(path);
  };
  for (const { path } of files) visit(path, []);
  yield* told;
}

if (import.meta.main) {
  const { readTree } = await import("./source_tree.ts");
  const problems = checkTree(await readTree(["src", "tests", "scripts", "main.ts"], /\.ts$/));
  for (const problem of problems) console.error(problem);
  console.error(problems.length === 0 ? "tidy: ok" : `tidy: ${problems.length} to mend`);
  Deno.exitCode = problems.length === 0 ? 0 : 1;
}
