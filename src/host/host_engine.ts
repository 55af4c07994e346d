import type { Config } from "@/config.ts";
import type { Engine, EngineKind } from "@/engine/engine.ts";
import { createExecEngine } from "@/engine/exec_engine.ts";
import { createFauxEngine } from "@/engine/faux_engine.ts";
import { createLlmEngine } from "@/engine/llm/llm_engine.ts";
import { type FoundKey, modelOpener, type PackageDoor } from "@/engine/llm/models.ts";
import type { Clock } from "@/time/clock.ts";
import { Secret } from "@/workspace/secret.ts";
import type { MainRequests } from "./main_requests.ts";

/** What an engine is made with. */
export interface HostEngineOptions {
  readonly engine: EngineKind;
  readonly config: Config;
  readonly clock: Clock;
  /** The main thread, which has the keys. */
  readonly requests: Pick<MainRequests, "ask">;
  /** What a model's server is spoken to with. */
  readonly door: PackageDoor;
}

/**
 * Makes the engine that was chosen.
 *
 * @throws {RangeError} For one that this build has not, or that is not set up: the command line refused it before.
 */
export function createHostEngine(options: HostEngineOptions): Engine {
  const { engine, config, clock, requests, door } = options;
  if (engine === "faux") return createFauxEngine({ clock });
  if (engine === "exec" && config.execCommand.value) return createExecEngine({ command: config.execCommand.value });
  const { model, modelBaseUrl, modelContextTokens, modelSilenceMs, modelFiles } = config;
  if (engine !== "llm" || model.value === undefined) throw new RangeError(`Cannot make the engine ${engine}`);
  const openModel = modelOpener({
    reference: model.value,
    baseUrl: modelBaseUrl.value,
    contextTokens: modelContextTokens.value || undefined,
    files: modelFiles.value && filesFor(modelFiles.value),
    door,
    findKey: (reference, signal) => findKey(requests, reference, signal),
  });
  return createLlmEngine({ clock, openModel, silenceMs: modelSilenceMs.value });
}

async function findKey(
  requests: Pick<MainRequests, "ask">,
  reference: string,
  signal: AbortSignal,
): Promise<FoundKey> {
  const answer = await requests.ask({ kind: "resolve secret", reference }, signal);
  if (answer.kind === "secret") return { kind: "key", key: new Secret(answer.value) };
  if (answer.kind === "absent" || answer.kind === "refused") return answer;
  throw new Error(`Cannot find a key: the main thread says ${answer.kind}`);
}

function filesFor(files: NonNullable<Config["modelFiles"]["value"]>) {
  return { images: files !== "none", documents: files === "all" };
}
