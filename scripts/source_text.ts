/**
 * A TypeScript file as `tidy` looks at it: no parser, only a scanner that tells code from what is not.
 *
 * `code` and `withStrings` are as long as the text and have their line ends at the same places, so an offset means the
 * same in all three.
 */
export interface SourceText {
  readonly text: string;
  /** The text with comments, the insides of strings and templates, and regular expressions replaced by spaces. */
  readonly code: string;
  /** The text with comments replaced by spaces. */
  readonly withStrings: string;
}

/** Scans a file. Never throws: a text that is not TypeScript gives some result. */
export function scanSource(text: string): SourceText {
  const code = [...blank(text)];
  const withStrings = [...blank(text)];
  for (const { kind, from, to } of pieces(text)) {
    if (kind === "comment") continue;
    for (let at = from; at < to; at++) {
      withStrings[at] = text[at]!;
      if (kind === "code" || at === from || at === to - 1) code[at] = text[at]!;
    }
  }
  return { text, code: code.join(""), withStrings: withStrings.join("") };
}

/** The number of the line that holds `offset`, from 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

/** The offset of the bracket that closes the one at `open`, or the end of the text. `code` holds no strings. */
export function closingBracket(code: string, open: number): number {
  let depth = 0;
  for (let at = open; at < code.length; at++) {
    const letter = code[at]!;
    if ("([{".includes(letter)) depth++;
    else if (")]}".includes(letter) && --depth === 0) return at;
  }
  return code.length;
}

interface Piece {
  readonly kind: "code" | "comment" | "string";
  readonly from: number;
  readonly to: number;
}

/** Where the code before a slash begins, and whether a string ended there. */
interface Before {
  readonly codeFrom: number;
  readonly behindValue: boolean;
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}

function* pieces(text: string): Generator<Piece> {
  /** For each template that is open: how many braces are open in its `${`. */
  const templates: number[] = [];
  let codeFrom = 0;
  let behindValue = false;
  let at = 0;
  while (at < text.length) {
    const end: number | undefined = templates.length > 0 && text[at] === "}" && templates.at(-1) === 0
      ? templatePart(text, at + 1)
      : notCode(text, at, { codeFrom, behindValue });
    if (end === undefined) {
      if (templates.length > 0 && text[at] === "{") templates[templates.length - 1]!++;
      if (templates.length > 0 && text[at] === "}") templates[templates.length - 1]!--;
      at++;
      continue;
    }
    const closes = text[at] === "}";
    yield { kind: "code", from: codeFrom, to: at };
    const kind = /^\/[/*]/.test(text.slice(at, at + 2)) ? "comment" : "string";
    yield { kind, from: at, to: end };
    if (kind === "string") behindValue = text[end - 1] !== "{";
    if (text[at] === "`" && text[end - 1] === "{") templates.push(0);
    if (closes && text[end - 1] !== "{") templates.pop();
    at = codeFrom = end;
  }
  yield { kind: "code", from: codeFrom, to: text.length };
}

/** Where the comment, string, template or regular expression at `at` ends; undefined when there is none. */
function notCode(text: string, at: number, before: Before): number | undefined {
  const letter = text[at]!;
  if (letter === '"' || letter === "'") return stringEnd(text, at, letter);
  if (letter === "`") return templatePart(text, at + 1);
  if (letter !== "/") return undefined;
  if (text[at + 1] === "/") return indexOrEnd(text, "\n", at);
  if (text[at + 1] === "*") return Math.min(text.length, indexOrEnd(text, "*/", at + 2) + 2);
  if (!mayBeginRegex(text, at, before)) return undefined;
  const regex = /\/(?:\\[^\n]|\[(?:\\[^\n]|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y;
  regex.lastIndex = at;
  return regex.test(text) ? regex.lastIndex : undefined;
}

function stringEnd(text: string, at: number, quote: string): number {
  for (let end = at + 1; end < text.length; end++) {
    if (text[end] === "\\") end++;
    else if (text[end] === quote) return end + 1;
    else if (text[end] === "\n") return end;
  }
  return text.length;
}

/** Where the text of a template ends that goes on at `at`: behind its last back-tick, or behind the next `${`. */
function templatePart(text: string, at: number): number {
  for (let end = at; end < text.length; end++) {
    if (text[end] === "\\") end++;
    else if (text[end] === "`") return end + 1;
    else if (text[end] === "$" && text[end + 1] === "{") return end + 2;
  }
  return text.length;
}

function indexOrEnd(text: string, part: string, from: number): number {
  const at = text.indexOf(part, from);
  return at === -1 ? text.length : at;
}

/** A slash divides behind a value, and begins a regular expression elsewhere. */
function mayBeginRegex(text: string, at: number, { codeFrom, behindValue }: Before): boolean {
  const code = text.slice(Math.max(codeFrom, at - 200), at).trimEnd();
  if (code === "") return !behindValue;
  if (/(?:^|[^\w$.])(?:return|typeof|case|in|of|void|delete|yield|await|throw|else|do)$/.test(code)) return true;
  return !/[\w$)\]]$/.test(code);
}
