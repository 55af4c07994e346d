import type { Prompt } from "@/engine/engine.ts";
import type { SessionPrograms } from "@/engine/programs.ts";
import { bashTool } from "./bash_tool.ts";
import { callerTools } from "./caller_tools.ts";
import { fileTools } from "./file_tools.ts";
import type { ModelFiles, ModelTool } from "./model_tool.ts";

/** The tools of one turn: those that it was lent what they need. */
export function sessionTools(
  { tools }: Pick<Prompt, "tools">,
  { programs, takes }: { readonly programs: SessionPrograms | undefined; readonly takes: ModelFiles },
): readonly ModelTool[] {
  return [
    ...tools.files === undefined ? [] : fileTools(tools.files, takes),
    ...programs === undefined ? [] : [bashTool(programs)],
    ...callerTools(tools),
  ];
}
