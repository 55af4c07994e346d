import { closingBracket, lineAt } from "./source_text.ts";

/** A function with a body, as `tidy` measures it. */
export interface FoundFunction {
  /** Its name, or what it is when it has none. */
  readonly name: string;
  /** The line of its first word, from 1. */
  readonly line: number;
  /** Lines from there to the end of the body, both included. */
  readonly lines: number;
  /** The call that it is written inside, at most one object deep: `Deno.test` of `Deno.test("x", () => {})`. */
  readonly argumentOf?: string;
}

/**
 * Finds functions, methods and arrow functions in code without strings and comments (`SourceText.code`).
 *
 * It reads shapes, not a grammar: `name(...) {`, `function name(...): Type {`, `=> {` and `=> (`. That is enough for
 * formatted code; what it misses is missed by the check too, and nothing else.
 */
export function findFunctions(code: string): readonly FoundFunction[] {
  return [...arrows(code), ...named(code)].map(({ name, from, body }) => {
    const line = lineAt(code, from);
    const lines = lineAt(code, closingBracket(code, body)) - line + 1;
    return { name, line, lines, argumentOf: callAround(code, from) };
  });
}

interface Shape {
  readonly name: string;
  readonly from: number;
  readonly body: number;
}

function* arrows(code: string): Generator<Shape> {
  for (const match of code.matchAll(/=>\s*[{(]/g)) {
    yield { name: "an arrow function", from: match.index, body: match.index + match[0].length - 1 };
  }
}

const notNames = new Set(["if", "for", "while", "switch", "catch", "with", "return", "await", "typeof", "super", "of"]);

function* named(code: string): Generator<Shape> {
  for (const match of code.matchAll(/(\bfunction\b\s*\*?\s*)?(\[[\w$.]+\]|[\w$#]*)\s*(?=[<(])/g)) {
    const [text, keyword, name] = match;
    if (text === "" || notNames.has(name!) || /[.?]\s*$/.test(code.slice(Math.max(0, match.index - 20), match.index))) {
      continue;
    }
    const after = match.index + text.length;
    const parameters = code[after] === "<" ? angleEnd(code, after) + 1 : after;
    if (code[parameters] !== "(" || (keyword === undefined && name === "")) continue;
    const body = bodyBehind(code, closingBracket(code, parameters) + 1);
    if (body !== undefined) yield { name: name === "" ? "a function" : name!, from: match.index, body };
  }
}

/** The brace that opens a body behind the parameters that end at `at`, a return type skipped; undefined: no body. */
function bodyBehind(code: string, at: number): number | undefined {
  const begin = /\s*/y;
  begin.lastIndex = at;
  begin.test(code);
  if (code[begin.lastIndex] === "{") return begin.lastIndex;
  if (code[begin.lastIndex] !== ":") return undefined;
  let inType = true; // a brace here opens an object type, behind a complete type it opens the body
  for (let place = begin.lastIndex + 1; place < code.length; place++) {
    const letter = code[place]!;
    if (letter === "{" && !inType) return place;
    if ("([{".includes(letter)) place = closingBracket(code, place);
    else if (/[;,)\]}]/.test(letter)) return undefined;
    else if (letter === "=" && code[place + 1] !== ">") return undefined;
    if (/\S/.test(letter)) inType = /[:|&=<?]/.test(letter) || code.slice(place - 1, place + 1) === "=>";
    if (letter === "<") [place, inType] = [angleEnd(code, place), false];
  }
  return undefined;
}

function angleEnd(code: string, open: number): number {
  let depth = 0;
  for (let at = open; at < code.length; at++) {
    if (code[at] === "<") depth++;
    else if (code[at] === ">" && code[at - 1] !== "=" && --depth === 0) return at;
    else if (code[at] === ";") return at;
  }
  return code.length;
}

/** The name before the parenthesis that `from` is in, straight or within one object literal. */
function callAround(code: string, from: number): string | undefined {
  let depth = 0;
  let braces = 0;
  for (let at = from - 1; at >= 0; at--) {
    const letter = code[at]!;
    if (")]}".includes(letter)) depth++;
    if (!"([{".includes(letter) || depth-- > 0) continue;
    depth = 0;
    if (letter === "(") return /[\w$.]+$/.exec(code.slice(Math.max(0, at - 60), at))?.[0];
    const isObject = letter === "{" && /[(,]\s*$/.test(code.slice(Math.max(0, at - 60), at));
    if (!isObject || ++braces > 1) return undefined;
  }
  return undefined;
}
