import { type FauxStep, fauxVocabulary, type FauxWord, streamBytesMax } from "./faux_vocabulary.ts";

/** What a message makes the faux engine do, in order. */
export interface FauxScript {
  readonly steps: readonly FauxStep[];
  /** The message says `silence`: no text is shown, from the first step on. */
  readonly silent: boolean;
}

/**
 * Reads a message as a script (docs/guides/faux.md).
 *
 * A line `word: rest`, or a word alone, that is in the vocabulary is a step. Other lines are text of the answer; blank
 * ones are left out. A bad argument becomes a line of the answer that says what is expected. A message without any word
 * of the vocabulary is the answer as it stands, blank lines and all. Pure; never throws.
 */
export function parseFauxScript(text: string): FauxScript {
  const lines = text.split(/\r?\n/);
  const found = lines.map((line) => findWord(line.trim()));
  if (found.every((word) => word === undefined)) {
    return { steps: text === "" ? [] : [{ kind: "say", text }], silent: false };
  }
  let bytesLeft = streamBytesMax;
  const steps: FauxStep[] = [];
  lines.forEach((line, index) => {
    const match = found[index];
    if (match === undefined) {
      if (line.trim() !== "") steps.push({ kind: "say", text: line });
      return;
    }
    let step = match.word.read(match.rest);
    if (step?.kind === "stream") {
      const bytes = step.chunks * step.bytes;
      if (bytes > bytesLeft) step = undefined;
      else bytesLeft -= bytes;
    }
    steps.push(step ?? { kind: "say", text: refusal(match.word, match.rest) });
  });
  return { steps, silent: steps.some(({ kind }) => kind === "silence") };
}

/**
 * The text of chunk `number` (from 1) of a `stream`: the number, then filler, `bytes` ASCII characters in all.
 *
 * `bytes` is at least one more than the digits of `number`; the last character is a space, so chunks read as words.
 */
export function streamChunk(number: number, bytes: number): string {
  return `${String(number).padEnd(bytes - 1, "abcdefghijklmnopqrstuvwxyz")} `;
}

const words: ReadonlyMap<string, FauxWord> = new Map(fauxVocabulary.map((row) => [row.word, row]));

function findWord(line: string): { readonly word: FauxWord; readonly rest: string } | undefined {
  const colon = line.indexOf(":");
  const word = words.get(colon === -1 ? line : line.slice(0, colon));
  return word && { word, rest: colon === -1 ? "" : line.slice(colon + 1).trim() };
}

function refusal({ word, expects }: FauxWord, rest: string): string {
  const got = rest === "" ? "nothing" : JSON.stringify(rest.length > 60 ? `${rest.slice(0, 60)}...` : rest);
  return `${word}: expected ${expects}, got ${got}`;
}
