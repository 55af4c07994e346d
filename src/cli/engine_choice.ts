import type { Config } from "@/config.ts";
import type { EngineKind } from "@/engine/engine.ts";

/** The engine that serves, or why none can. */
export type EngineChoice =
  | { readonly kind: "engine"; readonly engine: EngineKind }
  | { readonly kind: "problem"; readonly message: string };

/** The setting of each engine that chooses it when it is set alone (product.md §3). */
const ownSettings = { llm: "model", exec: "execCommand" } as const;

/** Chooses the engine: `--faux` or `Engine`, else the one whose own setting is set. Pure. */
export function chooseEngine(faux: boolean, config: Config): EngineChoice {
  const named = config.engine.value;
  if (faux && named !== undefined && named !== "faux") {
    return problem(`Cannot use --faux and the engine ${named} at once: remove one of them`);
  }
  const set = Object.entries(ownSettings).filter(([, name]) => config[name].value !== undefined);
  const engine = faux ? "faux" : named ?? (set.length === 1 ? set[0]![0] as EngineKind : undefined);
  if (engine === undefined) {
    if (set.length > 1) {
      return problem(`Cannot choose between the engines ${set.map(([engine]) => engine).join(" and ")}: add --engine`);
    }
    return problem(
      "Cannot serve without an engine, and none is set: use --model PROVIDER:MODEL, or --faux, the scripted engine without a model",
    );
  }
  if (engine === "llm") return llmProblem(config) ?? { kind: "engine", engine };
  if (engine === "faux") return { kind: "engine", engine };
  if (engine === "exec") return execProblem(config) ?? { kind: "engine", engine };
  return problem(`Cannot use the engine ${engine}: it is not in this build yet; use --model, or --faux`);
}

function llmProblem({ model, modelBaseUrl }: Config): EngineChoice | undefined {
  if (model.value === undefined) {
    return problem("Cannot use the engine llm without a model: add --model PROVIDER:MODEL");
  }
  if (model.value.provider === "openai-compatible" && modelBaseUrl.value === undefined) {
    return problem(`Cannot use the model ${model.text} without its server: add --model-base-url URL`);
  }
  return undefined;
}

function execProblem({ execCommand }: Config): EngineChoice | undefined {
  return execCommand.value === undefined
    ? problem("Cannot use the engine exec without a command: add --exec-command COMMAND")
    : undefined;
}

function problem(message: string): EngineChoice {
  return { kind: "problem", message };
}
