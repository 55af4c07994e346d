import { readTree } from "./source_tree.ts";

/** A piece of a page that the code makes, between two markers. */
export interface MadePiece {
  /** The page it stands on. */
  readonly path: string;
  /** Its name in the marker. */
  readonly name: string;
  /** Its Markdown; undefined while the code that makes it is not there. */
  make(): Promise<string | undefined>;
}

/** All pieces that `deno task docs` makes. A page may hold several, with prose around them. */
export const madePieces: readonly MadePiece[] = [
  { path: "docs/reference/configuration.md", name: "settings", make: makeSettings },
  { path: "docs/guides/faux.md", name: "faux words", make: makeFauxWords },
  { path: "docs/operating/pushes.md", name: "receiver", make: () => makeCode("docs/examples/receiver.ts") },
];

const readmeLinesMax = 150;

/** Pages by path, and what else there is in the project. */
export interface DocsTree {
  readonly pages: ReadonlyMap<string, string>;
  /** Says whether there is a file or a folder at a path from the root. */
  exists(path: string): boolean;
}

/** Checks links, paths and sizes of the pages. Gives every problem as `path: what; cure`. Pure. */
export function checkPages({ pages, exists }: DocsTree): readonly string[] {
  const readme = pages.get("README.md");
  const lines = readme?.trimEnd().split("\n").length ?? 0;
  return [
    ...(readme === undefined ? ["README.md: missing; write it"] : []),
    ...(lines > readmeLinesMax ? [`README.md: ${lines} lines; keep it under ${readmeLinesMax}, link to docs/`] : []),
    ...[...pages].flatMap(([path, text]) => [...checkPage(path, text, { pages, exists })]),
  ];
}

const isSource = /^(?:src|tests|scripts)\/[\w/-]+\.(?:ts|mjs)$/;

function* checkPage(path: string, text: string, { pages, exists }: DocsTree): Generator<string> {
  const prose = text.replace(/^(`{3,}|~{3,})[^\n]*\n[^]*?^\1[^\n]*$/gm, "");
  for (const [, target] of prose.matchAll(/(?<!`[^`\n]*)\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)) {
    if (/^(?:[a-z][a-z+.-]*:|\/\/)/i.test(target!)) continue;
    const [file, anchor] = target!.split("#") as [string, string?];
    const there = file === "" ? path : resolve(path, decodeURI(file));
    if (there === undefined || !(pages.has(there) || exists(there))) {
      yield `${path}: links to "${target}", which is not there; mend the link`;
    } else if (anchor !== undefined && pages.has(there) && !anchorsOf(pages.get(there)!).has(anchor)) {
      yield `${path}: links to "${target}", but ${there} has no such heading; mend the link`;
    }
  }
  for (const [, named] of prose.matchAll(/`((?:src|tests|scripts|docs)\/[^`\s]*)`/g)) {
    if (/[*<>{}…$]|\.\.\./.test(named!) || exists(named!.replace(/\/$/, "")) || isSource.test(named!)) continue;
    yield `${path}: names "${named}", which is not there; mend the path`;
  }
  // A drawing stands in a fence: the file of each step is named there, and must exist like any other.
  for (const [named] of text.matchAll(/(?<![\w./-])(?:src|tests|scripts)\/[\w/-]+\.(?:ts|mjs)\b/g)) {
    if (!exists(named)) yield `${path}: names "${named}", which is not there; mend the path`;
  }
  for (const [found] of prose.matchAll(/[\w/.-]+\.(?:ts|md|json|jsonl):\d+/g)) {
    yield `${path}: "${found}" has a line number, which is wrong after the next edit; name the file or the function`;
  }
}

/** A path from the root of the project; undefined when it leads out. */
function resolve(page: string, target: string): string | undefined {
  const parts = target.startsWith("/") ? [] : page.split("/").slice(0, -1);
  for (const part of target.split("/")) {
    if (part === ".." && parts.pop() === undefined) return undefined;
    if (part !== ".." && part !== "." && part !== "") parts.push(part);
  }
  return parts.join("/");
}

/** The anchors of a page's headings, as the forges make them. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = text.replace(/^```[^]*?^```/gm, "").matchAll(/^#{1,6} +(.+?) *#*$/gm);
  const anchors = new Set<string>();
  for (const [, heading] of headings) {
    const words = heading!.toLowerCase().replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[^\p{L}\p{N}\s_-]/gu, "");
    const anchor = words.trim().replace(/\s/g, "-");
    let again = anchor;
    for (let count = 1; anchors.has(again); count++) again = `${anchor}-${count}`;
    anchors.add(again);
  }
  return anchors;
}

/** Puts a made piece between its markers; undefined when the page has no such markers. Pure. */
export function putPiece(page: string, name: string, made: string): string | undefined {
  const [begin, end] = [`<!-- made by deno task docs: ${name} -->`, "<!-- end -->"];
  const from = page.indexOf(begin);
  const to = page.indexOf(end, from);
  if (from === -1 || to === -1) return undefined;
  return `${page.slice(0, from)}${begin}\n\n${made.trim()}\n\n${page.slice(to)}`;
}

/** A Markdown table. Bars in cells are escaped, line ends become spaces. */
export function makeTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replace(/\n/g, " ").replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

async function makeSettings(): Promise<string> {
  const { settings } = await import("@/config.ts");
  const rows = Object.values(settings).map((setting) => [
    code(setting.env),
    code(`--${setting.flag}`),
    setting.default === undefined ? "" : code(setting.default),
    setting.expects,
    `${setting.doc}.`,
  ]);
  return makeTable(["Variable", "Flag", "Default", "Value", "Meaning"], rows);
}

async function makeFauxWords(): Promise<string | undefined> {
  const source = new URL("../src/engine/faux_vocabulary.ts", import.meta.url);
  if (!await Deno.stat(source).catch(() => undefined)) return undefined;
  const { fauxVocabulary } = await import("@/engine/faux_vocabulary.ts");
  const rows = fauxVocabulary.map(({ word, argument, does, example }) => [
    code(argument === "" ? word : `${word}: ${argument}`),
    `${does}.`,
    code(example),
  ]);
  return makeTable(["Line", "What it does", "Example"], rows);
}

/** A file as it is, to be read on a page; that it runs, a test of its own shows. */
async function makeCode(path: string): Promise<string> {
  const text = await Deno.readTextFile(new URL(`../${path}`, import.meta.url));
  return `\`\`\`ts\n${text.trimEnd()}\n\`\`\``;
}

function code(text: string): string {
  return text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``;
}

/** As `deno fmt` would leave the page, so that the two do not undo each other. */
async function format(page: string): Promise<string> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["fmt", "--quiet", "--ext", "md", "-"],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  });
  await using child = command.spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(page));
  await writer.close();
  const { code, stdout } = await child.output();
  if (code !== 0) throw new Error("Cannot format a made page: deno fmt refused it");
  return new TextDecoder().decode(stdout);
}

/** Makes all pieces. With `check` it writes nothing and gives a problem for each page that would change. */
async function makePages(pages: Map<string, string>, check: boolean): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { path, name, make } of madePieces) {
    const made = await make();
    const page = pages.get(path);
    if (made === undefined) {
      console.error(`docs: "${name}" for ${path} is not made: its code is not there yet`);
    } else if (page === undefined) {
      problems.push(`${path}: missing; write it, with the markers of "${name}"`);
    } else {
      const put = putPiece(page, name, made);
      const next = put === undefined ? undefined : await format(put);
      if (next === undefined) problems.push(`${path}: has no markers of "${name}"; add them where the table belongs`);
      else if (next !== page && check) problems.push(`${path}: "${name}" is out of date; run deno task docs`);
      else if (next !== page) await Deno.writeTextFile(path, next);
      if (next !== undefined) pages.set(path, next);
    }
  }
  return problems;
}

if (import.meta.main) {
  const check = Deno.args.includes("--check");
  const pages = await readTree(["README.md", "docs"], /\.md$/);
  const stale = await makePages(pages, check);
  const exists = (path: string) => {
    try {
      return Deno.statSync(path) !== undefined;
    } catch {
      return false;
    }
  };
  const problems = [...stale, ...checkPages({ pages, exists })];
  for (const problem of problems) console.error(problem);
  console.error(problems.length === 0 ? "docs: ok" : `docs: ${problems.length} to mend`);
  Deno.exitCode = problems.length === 0 ? 0 : 1;
}
