import type { ModelReference } from "@/model_reference.ts";

/** Windows that are known, by how the model's id begins; the first that fits counts. Rather too small than too large. */
const windows: readonly (readonly [provider: ModelReference["provider"], begins: RegExp, tokens: number])[] = [
  ["anthropic", /^/, 200_000],
  ["openai", /^gpt-5/, 272_000],
  ["openai", /^gpt-4\.1/, 1_000_000],
  ["openai", /^o\d/, 200_000],
  ["openai", /^/, 128_000],
  ["google", /^gemini/, 1_000_000],
  ["google", /^/, 128_000],
];

/** What a server of one's own is taken to have: many are set up with little. */
const unknownWindow = 32_768;

/** Returns how many tokens a model takes in, as far as it is known; `A2A__ModelContextTokens` says it better. Pure. */
export function modelWindow({ provider, id }: ModelReference): number {
  const known = windows.find(([of, begins]) => of === provider && begins.test(id));
  return known?.[2] ?? unknownWindow;
}
