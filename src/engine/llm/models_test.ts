import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { type ModelReference, parseModelReference } from "@/model_reference.ts";
import { type FoundKey, modelOpener } from "./models.ts";

const { signal } = new AbortController();

/** Opens a model where only these references have a key; says what was asked for. */
async function open(model: string, keys: Readonly<Record<string, FoundKey>>) {
  const asked: string[] = [];
  const open = modelOpener({
    reference: parseModelReference(model) as ModelReference,
    baseUrl: new URL("http://127.0.0.1:1/v1"),
    findKey: (reference) => Promise.resolve((asked.push(reference), keys[reference] ?? { kind: "absent" })),
    door: { fetch },
  });
  return { asked, opened: await open(signal) };
}

const key: FoundKey = { kind: "key", key: { reveal: () => "sk-1" } };

for (
  const [model, names, variables] of [
    ["anthropic:x", "A2A__ModelKey or ANTHROPIC_API_KEY", ["env:ANTHROPIC_API_KEY"]],
    ["openai:x", "A2A__ModelKey or OPENAI_API_KEY", ["env:OPENAI_API_KEY"]],
    [
      "google:x",
      "A2A__ModelKey or GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY",
      ["env:GOOGLE_GENERATIVE_AI_API_KEY", "env:GEMINI_API_KEY"],
    ],
  ] as const
) {
  Deno.test(`modelOpener() names what to set when ${model} has no key [§8 llm-key]`, async () => {
    const { asked, opened } = await open(model, {});
    deepStrictEqual(asked, ["setting:ModelKey", ...variables]);
    deepStrictEqual(opened, { kind: "unavailable", message: `There is no key for the model ${model}: set ${names}` });
    for (const place of ["setting:ModelKey", ...variables]) {
      const { opened } = await open(model, { [place]: key });
      strictEqual(opened.kind, "model");
      ok(opened.kind === "model" && opened.scrub("my sk-1 is here") === "my [key] is here");
    }
  });
}

Deno.test("modelOpener() needs no key for a server of one's own, and gives it no other provider's [§8 llm-key]", async () => {
  const { asked, opened } = await open("openai-compatible:llama", { "env:OPENAI_API_KEY": key });
  deepStrictEqual([asked, opened.kind], [["setting:ModelKey"], "model"]);
});

Deno.test("modelOpener() does not look further when a key is set and is no use [§8 llm-key]", async () => {
  const { asked, opened } = await open("openai:x", {
    "setting:ModelKey": { kind: "refused", why: "Cannot read the file" },
    "env:OPENAI_API_KEY": key,
  });
  deepStrictEqual([asked, opened], [["setting:ModelKey"], { kind: "unavailable", message: "Cannot read the file" }]);
});
