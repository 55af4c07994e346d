import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { modelText, parseModelReference } from "./model_reference.ts";

const rows: readonly { readonly text: string; readonly reference: ReturnType<typeof parseModelReference> }[] = [
  { text: "anthropic:claude-sonnet-5", reference: { provider: "anthropic", id: "claude-sonnet-5" } },
  { text: "OpenAI:gpt-5", reference: { provider: "openai", id: "gpt-5" } },
  { text: "google:gemini-3-pro", reference: { provider: "google", id: "gemini-3-pro" } },
  { text: "openai-compatible:llama3.2:3b", reference: { provider: "openai-compatible", id: "llama3.2:3b" } },
  { text: "openai-compatible:org/model@v1", reference: { provider: "openai-compatible", id: "org/model@v1" } },
  { text: "claude-sonnet-5", reference: undefined },
  { text: "anthropic:", reference: undefined },
  { text: "anthropic:two words", reference: undefined },
  { text: "mistral:large", reference: undefined },
  { text: ":x", reference: undefined },
];

for (const { text, reference } of rows) {
  Deno.test(`parseModelReference() reads ${JSON.stringify(text)} [§8 llm-model]`, () => {
    deepStrictEqual(parseModelReference(text), reference);
    if (reference !== undefined) strictEqual(parseModelReference(modelText(reference))?.id, reference.id);
  });
}
