import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { systemClock } from "@/time/clock.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { CardFile, parseCard } from "./card_file.ts";
import { createDisk } from "./disk.ts";

const parse = (json: unknown) =>
  parseCard({ kind: "bytes", bytes: new TextEncoder().encode(JSON.stringify(json)) }, "card.json");
const skill = { id: "scheduling", name: "Scheduling", description: "...", tags: ["calendar"] };

Deno.test("parseCard() reads 000's example and every other field, and drops what it does not know [DM2 fields]", () => {
  const card = {
    ...{
      name: "Eugene's assistant",
      description: "Schedules.",
      version: "2",
      documentationUrl: "https://d",
      iconUrl: "i",
    },
    provider: { organization: "E", url: "https://e" },
    skills: [{ ...skill, examples: ["x"], inputModes: ["text/plain"], outputModes: [] }],
  };
  const read = parse({ ...card, unknown: 1, skills: [{ ...card.skills[0], unknown: 1, ["__proto__"]: 2 }] });
  deepStrictEqual(read, { card, malformed: false, problems: [] });
  deepStrictEqual(parse({ name: null }), { card: {}, malformed: false, problems: [] });
});

for (
  const json of [[], "x", null, { name: 5 }, { provider: {} }, { provider: "x" }, { skills: {} }, {
    skills: Array(101).fill(skill),
  }]
) {
  Deno.test(`parseCard() of ${JSON.stringify(json)?.slice(0, 40)} is malformed: the fallback card stands [DM2]`, () => {
    const read = parse(json);
    deepStrictEqual([read.card, read.malformed, read.problems.length], [undefined, true, 1]);
    match(read.problems[0]!, /^Cannot read card\.json: /);
  });
}

const { tags: _, ...tagless } = skill;
for (
  const bad of [1, {}, tagless, { ...skill, tags: [] }, { ...skill, tags: [1] }, { ...skill, id: " " }, {
    ...skill,
    examples: "x",
  }]
) {
  Deno.test(`parseCard() leaves the skill ${JSON.stringify(bad)} out and names it [DM2]`, () => {
    const read = parse({ name: "x", skills: [skill, bad] });
    deepStrictEqual(read.card, { name: "x", skills: [skill] });
    match(read.problems[0]!, /^Skipped skill 2 of card\.json: /);
  });
}

Deno.test("parseCard() keeps the first of two skills with one id", () => {
  deepStrictEqual(parse({ skills: [skill, { ...skill, name: "other" }] }).card, { skills: [skill] });
});

Deno.test("CardFile.read() of no file is nothing; of one over 256 KiB it is malformed [DM2 malformed]", async () => {
  await using folder = await makeTempFolder();
  const path = `${folder.path}/card.json`;
  const file = new CardFile({ disk: createDisk(systemClock), clock: systemClock, path });
  deepStrictEqual(file.read(), { malformed: false, problems: [] });
  await Deno.writeTextFile(path, JSON.stringify({ name: "x".repeat(256 * 1024) }));
  ok(file.read().malformed);
  await Deno.writeTextFile(path, '{"name":"x"}');
  strictEqual(file.read().card?.name, "x");
});
