import type { Prompt } from "@/engine/engine.ts";
import type { ModelTool } from "./model_tool.ts";

/**
 * Returns what a model is told before the messages: what it is, what it can do here, and what the workspace says. Pure.
 *
 * What the tools do stands in their own descriptions; here is only what cannot be seen from them.
 */
export function engineInstructions(
  { instructions, from }: Pick<Prompt, "instructions" | "from">,
  tools: readonly ModelTool[],
): string {
  const has = new Set(tools.map(({ name }) => name));
  const lines = [
    "You are the assistant of a workspace: a folder of files that belongs to your owner. Paths are from its root.",
    from === "owner"
      ? "You talk to your owner."
      : "Other agents talk to you, and you answer them for your owner. Your last message is the answer; what you say before it is not kept.",
  ];
  if (!has.has("read")) lines.push("You have no tools for files in this session.");
  if (!has.has("bash")) lines.push("You cannot run programs: there is no bash in this session.");
  if (has.has("send")) {
    lines.push("A file reaches the caller only through send; naming its path is not enough.");
  }
  lines.push("When a tool refuses something, say so rather than act as if it were done.");
  return [lines.join("\n"), instructions].filter((part) => part !== "").join("\n\n");
}
