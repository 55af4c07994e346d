import { z } from "zod";
import type { SessionTools, ToolResult } from "@/engine/engine.ts";
import { type ModelTool, refusedOutcome, type ToolOutcome } from "./model_tool.ts";

/** The name of the tool that asks the caller. It has no work to do: the call itself ends the turn. */
export const requestInputName = "request_input";

const sendInput = z.object({ path: z.string().describe("Path from the workspace's root, with slashes") });
const notifyInput = z.object({ text: z.string().min(1).describe("What the owner should know") });
const questionInput = z.object({ question: z.string().min(1).describe("The question, as the caller reads it") });

/** The tools of a caller's session, as far as they are lent (product.md §8). */
export function callerTools({ send, notifyOwner, requestInput }: SessionTools): readonly ModelTool[] {
  const tools: ModelTool[] = [];
  if (send !== undefined) {
    tools.push(
      {
        name: "send",
        description: "Sends a file of the workspace to the caller, as it is now",
        input: sendInput,
        changes: true,
        summary: ({ path }) => path,
        run: async ({ path }) => outcomeOf(await send(path), `Sent ${path}`),
      } satisfies ModelTool<z.infer<typeof sendInput>> as ModelTool,
    );
  }
  if (notifyOwner !== undefined) {
    tools.push(
      {
        name: "notify_owner",
        description: "Tells your owner something they should know",
        input: notifyInput,
        changes: true,
        summary: ({ text }) => text,
        run: async ({ text }) => outcomeOf(await notifyOwner(text), "The owner is told"),
      } satisfies ModelTool<z.infer<typeof notifyInput>> as ModelTool,
    );
  }
  if (requestInput !== undefined) {
    tools.push(
      {
        name: requestInputName,
        description:
          "Asks the caller a question and ends your turn; the answer comes as this call's result. Use it only when you cannot go on without it",
        input: questionInput,
        changes: false,
        summary: ({ question }) => question,
      } satisfies ModelTool<z.infer<typeof questionInput>> as ModelTool,
    );
  }
  return tools;
}

function outcomeOf(result: ToolResult, done: string): ToolOutcome {
  return result.kind === "done" ? { text: done } : refusedOutcome(`Refused: ${result.why}`);
}
