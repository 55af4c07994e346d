import { deepStrictEqual, ok, strictEqual, throws } from "node:assert/strict";
import {
  encodeLine,
  type EndLine,
  lineBytesMax,
  parseLine,
  pieceCharsMax,
  scrubLine,
  shortText,
  splitEnd,
  splitTurn,
  type TranscriptLine,
  type TurnLine,
} from "./transcript_line.ts";

const at = "2026-10-08T12:00:00.000Z";
const turn: TurnLine = { kind: "turn", at, turn: 1, runId: "r1", from: "caller", text: "hi", files: [], hops: 0 };
const end: EndLine = { kind: "end", at, turn: 1, outcome: "answered", text: "ho" };

const lines: readonly TranscriptLine[] = [
  { kind: "open", v: 1, at, scope: "ws-owner", engine: "faux", fence: 7, hostVersion: "0.1.0" },
  turn,
  { kind: "entry", at, turn: 1, body: { role: "tool" } },
  { kind: "ask", at, turn: 1, question: "Which?" },
  end,
  { kind: "compact", at, upToTurn: 3, summary: "They talked." },
  { kind: "agent", at, sessionId: "s1", how: "resume" },
];

for (const line of lines) {
  Deno.test(`parseLine() reads a line of kind ${line.kind} back [DM7 lines]`, () => {
    deepStrictEqual(parseLine(encodeLine(line)), line);
  });
}

for (const bad of ["", "{", "null", "[]", "1", '"open"', "{}", '{"kind":"what"}', '{"kind":"turn","turn":"1"}']) {
  Deno.test(`parseLine() gives undefined for ${JSON.stringify(bad)} [DM7 lines]`, () =>
    strictEqual(parseLine(bad), undefined));
}

Deno.test("splitTurn() and splitEnd() leave short texts in one line [DM7 lines]", () => {
  deepStrictEqual(splitTurn(turn), [turn]);
  deepStrictEqual(splitEnd(end), [end]);
  deepStrictEqual(splitEnd({ ...end, outcome: "aborted", text: undefined }).length, 1);
});

Deno.test("splitTurn() puts the rest of a long text behind, splitEnd() all of it before [DM7 line-at-most-1-MiB]", () => {
  const text = "\u0001".repeat(pieceCharsMax * 2) + "x";
  const [first, ...rest] = splitTurn({ ...turn, text });
  ok(first?.kind === "turn" && first.text.length === pieceCharsMax);
  deepStrictEqual(rest.map((line) => line.kind === "entry" && line.part), ["prompt", "prompt"]);
  const answer = splitEnd({ ...end, text });
  deepStrictEqual(answer.map((line) => line.kind === "entry" ? line.part : line.kind), [
    "reply",
    "reply",
    "reply",
    "end",
  ]);
  strictEqual(answer.map((line) => line.kind === "entry" ? line.body : "").join(""), text);
  for (const line of [first, ...rest, ...answer]) ok(encodeLine(line).length < lineBytesMax);
});

Deno.test("encodeLine() refuses a line over 1 MiB in bytes, and takes one just under [DM7 line-at-most-1-MiB]", () => {
  const around = encodeLine({ kind: "entry", at, turn: 1, body: "" }).length;
  const body = "ä".repeat((lineBytesMax - around - 1) >> 1);
  ok(encodeLine({ kind: "entry", at, turn: 1, body }));
  throws(() => encodeLine({ kind: "entry", at, turn: 1, body: `${body}ä` }), RangeError);
});

Deno.test("shortText() cuts and says so [DM7 line-at-most-1-MiB]", () => {
  strictEqual(shortText("why"), "why");
  ok(shortText("x".repeat(70_000)).endsWith("x (cut)"));
});

Deno.test("scrubLine() scrubs what was said and leaves what we say [DM7 scrubbed]", () => {
  const scrub = (text: string) => text.replaceAll("key", "***");
  const said: readonly TranscriptLine[] = [
    { ...turn, text: "a key" },
    { kind: "ask", at, turn: 1, question: "a key?" },
    { ...end, text: "the key" },
    { kind: "compact", at, upToTurn: 1, summary: "a key" },
  ];
  for (const line of said) ok(!encodeLine(scrubLine(line, scrub)).includes("key"), line.kind);
  const ours: TranscriptLine = { kind: "open", v: 1, at, scope: "ws-key", engine: "faux", fence: 1, hostVersion: "1" };
  deepStrictEqual(scrubLine(ours, scrub), ours);
  const deep = scrubLine({ kind: "entry", at, turn: 1, body: { a: ["key", { b: "a key", n: 1, z: null }] } }, scrub);
  deepStrictEqual(deep, { kind: "entry", at, turn: 1, body: { a: ["***", { b: "a ***", n: 1, z: null }] } });
  deepStrictEqual(scrubLine({ ...end, text: undefined, reason: "key" }, scrub), {
    ...end,
    text: undefined,
    reason: "***",
  });
});
