import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { createFauxEngine } from "./faux_engine.ts";
import { fauxVocabulary } from "./faux_vocabulary.ts";

const guide = await Deno.readTextFile(new URL("../../docs/guides/faux.md", import.meta.url));

Deno.test("docs/guides/faux.md has the vocabulary's table [§8 faux-vocabulary]", () => {
  const cell = (text: string) => text.replaceAll("|", "\\|");
  const rows = fauxVocabulary.map(({ word, argument, does, example }) =>
    [argument === "" ? `\`${word}\`` : `\`${word}: ${argument}\``, `${does}.`, `\`${example}\``].map(cell)
  );
  const section = guide.slice(guide.indexOf("## The vocabulary"), guide.indexOf("## Examples"));
  const found = section.split("\n").filter((line) => line.startsWith("|")).slice(2)
    .map((line) => line.split(/(?<!\\)\|/).slice(1, -1).map((text) => text.trim()));
  deepStrictEqual(found, rows);
});

const blocks = [
  ...guide.slice(guide.indexOf("## Examples"), guide.indexOf("## Recipes")).matchAll(/```text\n(.*?)\n```/gs),
]
  .map(([, text]) => text!);
ok(blocks.length >= 8 && blocks.length % 2 === 0);

for (let index = 0; index < blocks.length; index += 2) {
  Deno.test(`docs/guides/faux.md example ${index / 2 + 1} is answered as shown [§8 faux-vocabulary]`, async () => {
    const engine = createFauxEngine({ clock: createTestClock() });
    const conversation = { turns: [], note: () => Promise.resolve(), compact: () => Promise.resolve() };
    const session = await engine.open({ scope: "ws-owner", trust: "owner", conversation });
    const prompt = {
      runId: "r1",
      from: "owner",
      text: blocks[index]!,
      framed: blocks[index]!,
      instructions: "",
      files: [],
      hops: 0,
      tools: {},
    } as const;
    let answer = "";
    for await (const event of session.turn(prompt, new AbortController().signal)) {
      if (event.kind === "end" && event.outcome.kind === "answered") answer = event.outcome.text;
    }
    strictEqual(answer, blocks[index + 1]);
  });
}
