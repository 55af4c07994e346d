import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { parseFauxScript, streamChunk } from "./faux_script.ts";
import { type FauxStep, fauxVocabulary } from "./faux_vocabulary.ts";

const examples: Readonly<Record<string, FauxStep>> = {
  say: { kind: "say", text: "ask: is text here" },
  stream: { kind: "stream", chunks: 3, bytes: 8 },
  message: { kind: "message" },
  think: { kind: "aside", of: "reasoning", text: "the caller wants a table" },
  notice: { kind: "aside", of: "notice", text: "the model is slow today" },
  tool: { kind: "tool", name: "search", summary: "three files match" },
  file: { kind: "file", name: "report.txt", content: "all is well" },
  send: { kind: "send", path: "notes/today.md" },
  read: { kind: "read", path: "notes/today.md" },
  list: { kind: "list", path: "notes" },
  write: { kind: "write", path: "notes/today.md", text: "all is well" },
  notify: { kind: "notify", text: "the order has come" },
  usage: { kind: "usage", inputTokens: 1200, outputTokens: 80 },
  wait: { kind: "wait", ms: 2000 },
  recall: { kind: "recall" },
  "show prompt": { kind: "show prompt" },
  silence: { kind: "silence" },
  truncated: { kind: "truncated" },
  ask: { kind: "ask", question: "Which colour?" },
  fail: { kind: "fail", text: "the model said no" },
  crash: { kind: "crash" },
  drop: { kind: "drop" },
  hang: { kind: "hang" },
  "ignore abort": { kind: "ignore abort" },
};

for (const { word, argument, example, expects } of fauxVocabulary) {
  Deno.test(`parseFauxScript() reads the example of "${word}" [§8 faux-vocabulary]`, () => {
    deepStrictEqual(parseFauxScript(example).steps, [examples[word]]);
  });

  Deno.test(`parseFauxScript() says what "${word}" expects [§8 faux-vocabulary]`, () => {
    const bad = argument === "" ? `${word}: more` : `${word}:`;
    const got = argument === "" ? '"more"' : "nothing";
    deepStrictEqual(parseFauxScript(bad).steps, [{ kind: "say", text: `${word}: expected ${expects}, got ${got}` }]);
  });
}

Deno.test("fauxVocabulary has each word once and an example of each kind of step", () => {
  deepStrictEqual(fauxVocabulary.map(({ word }) => word).toSorted(), Object.keys(examples).toSorted());
});

const texts: readonly { name: string; text: string; steps: readonly FauxStep[] }[] = [
  { name: "nothing", text: "", steps: [] },
  { name: "plain words", text: "hello\n\nworld ", steps: [{ kind: "say", text: "hello\n\nworld " }] },
  { name: "an unknown word", text: "remark: this", steps: [{ kind: "say", text: "remark: this" }] },
  { name: "a capital", text: "Ask: this", steps: [{ kind: "say", text: "Ask: this" }] },
  { name: "a word inside a line", text: "please ask: this", steps: [{ kind: "say", text: "please ask: this" }] },
  { name: "a property of objects", text: "constructor", steps: [{ kind: "say", text: "constructor" }] },
  {
    name: "text around a word, CRLF and blank lines",
    text: "  one\r\n\r\n  ask:  two \r\nthree\r\n",
    steps: [{ kind: "say", text: "  one" }, { kind: "ask", question: "two" }, { kind: "say", text: "three" }],
  },
  { name: "a chunk size left out", text: "stream: 10", steps: [{ kind: "stream", chunks: 10, bytes: 12 }] },
  { name: "the most chunks", text: "stream: 1000000 x 8", steps: [{ kind: "stream", chunks: 1_000_000, bytes: 8 }] },
  { name: "made bytes", text: "file: a.bin 20000 bytes", steps: [{ kind: "file", name: "a.bin", content: 20_000 }] },
  { name: "an empty file", text: "file: a.txt", steps: [{ kind: "file", name: "a.txt", content: "" }] },
  { name: "milliseconds", text: "wait: 1.5ms", steps: [{ kind: "wait", ms: 1.5 }] },
  { name: "minutes", text: "wait: 3 m", steps: [{ kind: "wait", ms: 180_000 }] },
  { name: "a day", text: "wait: 24h", steps: [{ kind: "wait", ms: 86_400_000 }] },
];

for (const { name, text, steps } of texts) {
  Deno.test(`parseFauxScript() reads ${name}`, () => deepStrictEqual(parseFauxScript(text).steps, steps));
}

const refused: readonly { name: string; text: string }[] = [
  { name: "no chunks", text: "stream: 0" },
  { name: "too many chunks", text: "stream: 1000001 x 8" },
  { name: "too many bytes", text: "stream: 1000000 x 12" },
  { name: "chunks too small for their number", text: "stream: 100 x 3" },
  { name: "a chunk size that is none", text: "stream: 10 x much" },
  { name: "a file over the limit", text: "file: a.bin 67108865 bytes" },
  { name: "a wait over a day", text: "wait: 25h" },
  { name: "a wait without a unit", text: "wait: 20" },
  { name: "a negative wait", text: "wait: -1s" },
  { name: "tokens that are no numbers", text: "usage: many few" },
  { name: "one number of tokens", text: "usage: 5" },
  { name: "a tool without a summary", text: "tool: search" },
];

for (const { name, text } of refused) {
  Deno.test(`parseFauxScript() refuses ${name}`, () => {
    const [step, ...more] = parseFauxScript(text).steps;
    ok(step?.kind === "say" && more.length === 0);
    match(step.text, /^\w+: expected .+, got ".+"$/);
  });
}

Deno.test("parseFauxScript() holds all streams of a message to 8 MiB", () => {
  const { steps } = parseFauxScript("stream: 8 x 1000000\nstream: 1 x 388608\nstream: 1 x 2");
  deepStrictEqual(steps.map(({ kind }) => kind), ["stream", "stream", "say"]);
});

Deno.test("parseFauxScript() sees silence before the first step", () => {
  strictEqual(parseFauxScript("say: a\nsilence").silent, true);
  strictEqual(parseFauxScript("say: silence").silent, false);
});

Deno.test("streamChunk() has its number and its length", () => {
  strictEqual(streamChunk(7, 12), "7abcdefghij ");
  strictEqual(streamChunk(1_000_000, 8), "1000000 ");
  strictEqual(streamChunk(12, 100).length, 100);
});
