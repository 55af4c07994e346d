import { deepStrictEqual } from "node:assert/strict";
import { readConfig } from "@/config.ts";
import { chooseEngine } from "./engine_choice.ts";

const rows: readonly {
  readonly name: string;
  readonly faux?: boolean;
  readonly flags: Readonly<Record<string, string>>;
  readonly engine?: string;
  readonly says?: string;
}[] = [
  { name: "--faux", faux: true, flags: {}, engine: "faux" },
  { name: "--faux, whatever model is set", faux: true, flags: { model: "anthropic:x" }, engine: "faux" },
  { name: "a model alone", flags: { model: "anthropic:x" }, engine: "llm" },
  { name: "the engine and a model", flags: { engine: "llm", model: "openai:x" }, engine: "llm" },
  { name: "an engine that is named, beside a model", flags: { engine: "faux", model: "openai:x" }, engine: "faux" },
  {
    name: "a model of a server that is named",
    flags: { model: "openai-compatible:x", "model-base-url": "http://127.0.0.1:11434/v1" },
    engine: "llm",
  },
  {
    name: "nothing",
    flags: {},
    says:
      "Cannot serve without an engine, and none is set: use --model PROVIDER:MODEL, or --faux, the scripted engine without a model",
  },
  {
    name: "--faux and another engine",
    faux: true,
    flags: { engine: "llm" },
    says: "Cannot use --faux and the engine llm at once: remove one of them",
  },
  {
    name: "the engine without a model",
    flags: { engine: "llm" },
    says: "Cannot use the engine llm without a model: add --model PROVIDER:MODEL",
  },
  {
    name: "a model of a server that is not named",
    flags: { model: "openai-compatible:x" },
    says: "Cannot use the model openai-compatible:x without its server: add --model-base-url URL",
  },
  {
    name: "an engine that is not there yet",
    flags: { engine: "acp" },
    says: "Cannot use the engine acp: it is not in this build yet; use --model, or --faux",
  },
  {
    name: "the engine exec without a command",
    flags: { engine: "exec" },
    says: "Cannot use the engine exec without a command: add --exec-command COMMAND",
  },
];

for (const { name, faux = false, flags, engine, says } of rows) {
  Deno.test(`chooseEngine() with ${name} [§3 serve-engine]`, () => {
    const read = readConfig({ flags });
    if (read.kind !== "config") throw new Error(read.problems.join());
    const expected = says === undefined ? { kind: "engine", engine } : { kind: "problem", message: says };
    deepStrictEqual(chooseEngine(faux, read.config), expected);
  });
}
