/** Whose API a model is spoken to by. */
export type ModelProvider = (typeof modelProviders)[number];

/** A model, as `A2A__Model` names it. */
export interface ModelReference {
  readonly provider: ModelProvider;
  /** As the provider calls it; it may hold colons: `llama3.2:3b`. */
  readonly id: string;
}

/** The providers there are. */
export const modelProviders = ["anthropic", "openai", "google", "openai-compatible"] as const;

/** Reads `provider:model`; undefined when it is none. */
export function parseModelReference(text: string): ModelReference | undefined {
  const [, name, id] = /^([a-z-]{1,40}):([\x21-\x7e]{1,200})$/i.exec(text) ?? [];
  const provider = modelProviders.find((provider) => provider === name?.toLowerCase());
  return provider !== undefined && id !== undefined ? { provider, id } : undefined;
}

/** Writes a reference as `parseModelReference` reads it. */
export function modelText({ provider, id }: ModelReference): string {
  return `${provider}:${id}`;
}
