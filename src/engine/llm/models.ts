import type { AnthropicProviderSettings } from "@ai-sdk/anthropic";
import type { LanguageModel } from "ai";
import { type ModelProvider, type ModelReference, modelText } from "@/model_reference.ts";
import type { ModelFiles } from "./model_tool.ts";
import { modelWindow } from "./model_window.ts";
import type { OpenModel } from "./opened_model.ts";

/** A key, which prints as nothing but that it is one. */
export interface ModelKey {
  reveal(): string;
}

/** What came of looking for a key. */
export type FoundKey =
  | { readonly kind: "key"; readonly key: ModelKey }
  /** Nothing is set there. */
  | { readonly kind: "absent" }
  /** Something is set there, and it is no use; `why` is a sentence without the key. */
  | { readonly kind: "refused"; readonly why: string };

/** Which model is opened, and how its key is found. */
export interface ModelOptions {
  readonly reference: ModelReference;
  /** In place of the provider's own address; needed for `openai-compatible`. */
  readonly baseUrl?: URL;
  /** In place of what is known of the model. */
  readonly contextTokens?: number;
  /** In place of what is known of the provider. */
  readonly files?: ModelFiles;
  /** Looks for a key: `setting:ModelKey` or `env:NAME`. Rejects with the signal's reason. */
  readonly findKey: (reference: string, signal: AbortSignal) => Promise<FoundKey>;
  readonly door: PackageDoor;
}

/** What a provider's package sends with, under the name that all of them look for. */
export type PackageDoor = Required<Pick<AnthropicProviderSettings, "fetch">>;

/** Where each provider's key is looked for, besides `A2A__ModelKey`, which comes first. */
export const keyVariables: Readonly<Record<ModelProvider, readonly string[]>> = {
  "anthropic": ["ANTHROPIC_API_KEY"],
  "openai": ["OPENAI_API_KEY"],
  "google": ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
  "openai-compatible": [], // whoever it is: the key of another provider is not theirs to have
};

/**
 * Makes what opens a model: its provider's package is loaded and its key asked for when the first turn needs them. The key is
 * given to the package and to nobody else.
 */
export function modelOpener(options: ModelOptions): OpenModel {
  const { reference, contextTokens = modelWindow(reference) } = options;
  const files = options.files ?? filesOf(reference.provider);
  return async (signal) => {
    const found = await findKey(options, signal);
    if (found.kind === "refused") return { kind: "unavailable", message: found.why };
    const key = found.kind === "key" ? found.key : undefined;
    if (key === undefined && reference.provider !== "openai-compatible") {
      return { kind: "unavailable", message: missingKey(reference) };
    }
    const model = await loadModel(options, key);
    // A server that answers with the key it was given must not bring it into a log.
    const scrub = (text: string) => key === undefined ? text : text.replaceAll(key.reveal(), "[key]");
    return { kind: "model", model, files, contextTokens, scrub };
  };
}

async function findKey({ reference, findKey }: ModelOptions, signal: AbortSignal): Promise<FoundKey> {
  const places = ["setting:ModelKey", ...keyVariables[reference.provider].map((name) => `env:${name}`)];
  for (const place of places) {
    const found = await findKey(place, signal);
    if (found.kind !== "absent") return found;
  }
  return { kind: "absent" };
}

function missingKey(reference: ModelReference): string {
  const names = ["A2A__ModelKey", ...keyVariables[reference.provider]].join(" or ");
  return `There is no key for the model ${modelText(reference)}: set ${names}`;
}

async function loadModel(
  { reference, baseUrl, door }: ModelOptions,
  key: ModelKey | undefined,
): Promise<LanguageModel> {
  const { provider, id } = reference;
  globalThis.AI_SDK_LOG_WARNINGS = false; // it would write to the terminal
  const settings = { ...door, apiKey: key?.reveal(), baseURL: baseUrl?.href.replace(/\/$/, "") };
  switch (provider) {
    case "anthropic":
      return (await import("@ai-sdk/anthropic")).createAnthropic(settings)(id);
    case "openai":
      return (await import("@ai-sdk/openai")).createOpenAI(settings)(id);
    case "google":
      return (await import("@ai-sdk/google")).createGoogleGenerativeAI(settings)(id);
    case "openai-compatible": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const baseURL = settings.baseURL ?? "";
      return createOpenAICompatible({ ...settings, baseURL, name: provider, includeUsage: true })(id);
    }
    default:
      return provider satisfies never;
  }
}

function filesOf(provider: ModelProvider): ModelFiles {
  const isKnown = provider !== "openai-compatible";
  return { images: isKnown, documents: isKnown };
}
