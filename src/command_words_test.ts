import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { splitCommand } from "./command_words.ts";

const commands: readonly { readonly text: string; readonly words: readonly string[] | undefined }[] = [
  { text: "run", words: ["run"] },
  { text: "  run  --fast\t-x ", words: ["run", "--fast", "-x"] },
  { text: `run 'two words' "and \\" three" fo\\ ur`, words: ["run", "two words", 'and " three', "fo ur"] },
  { text: `run a'b'"c"d ''`, words: ["run", "abcd", ""] },
  { text: `run '$HOME | x' "$(y)"`, words: ["run", "$HOME | x", "$(y)"] },
  { text: `run 'a\\b' "a\\b"`, words: ["run", "a\\b", "a\\b"] },
  { text: "", words: undefined },
  { text: "  ", words: undefined },
  { text: "'' x", words: undefined },
  { text: "run 'open", words: undefined },
  { text: `run "open`, words: undefined },
  { text: "run \\", words: undefined },
  { text: "a | b", words: undefined },
  { text: "a; b", words: undefined },
  { text: "a > b", words: undefined },
  { text: "a $HOME", words: undefined },
  { text: "a `b`", words: undefined },
  { text: "a\0b", words: undefined },
];

for (const { text, words } of commands) {
  Deno.test(`splitCommand() splits ${JSON.stringify(text)} [§8 exec-words]`, () => {
    deepStrictEqual(splitCommand(text), words);
  });
}

Deno.test("splitCommand() takes a time linear in the text [§8 exec-words]", () => {
  strictEqual(splitCommand(`a "${"\\\\".repeat(200_000)}`), undefined);
});
