import type { AssistantModelMessage, ModelMessage, ToolModelMessage, ToolResultPart } from "ai";
import { requestInputName } from "./caller_tools.ts";

/** What stands for the result of a call whose run ended before it had one. */
export const unansweredText =
  "No result: the run ended before this came to an end, because it was stopped or the host was restarted. It may have been done, in part too";
/** What stands for the answer to a question whose caller went on with something else. */
export const unaskedText = "No answer came to this: what the caller said next follows";
/** What stands for the answer of a turn that ended without one. */
export const noAnswerText = "(This turn ended without an answer)";

/**
 * Returns messages in an order that every provider takes: each call has its result in the message behind it, each result its
 * call before it, and two messages of the user never follow one another (engine.md 1: unanswered calls are refused).
 *
 * A crash, a cancel or a summary leaves calls without results and results without calls: the first get a result that says
 * so, of the second only an answer of the caller is kept, as its message. Pure.
 */
export function orderedMessages(messages: readonly ModelMessage[]): ModelMessage[] {
  const ordered: ModelMessage[] = [];
  for (let index = 0; index < messages.length;) {
    const message = messages[index++]!;
    if (message.role === "user") {
      addUser(ordered, [message]);
      continue;
    }
    const results = message.role === "tool" ? [...resultsOf(message)] : [];
    for (let next = messages[index]; next?.role === "tool"; next = messages[++index]) results.push(...resultsOf(next));
    const calls = callsOf(message);
    if (message.role !== "tool") ordered.push(message);
    if (calls.length > 0) ordered.push({ role: "tool", content: calls.map((call) => resultOf(call, results)) });
    const ids = new Set(calls.map(({ toolCallId }) => toolCallId));
    addUser(ordered, lateAnswers(results.filter(({ toolCallId }) => !ids.has(toolCallId))));
  }
  return ordered;
}

/** The calls of a message that somebody here must answer. */
export function callsOf(message: ModelMessage | undefined): readonly Call[] {
  if (message?.role !== "assistant" || typeof message.content === "string") return [];
  return message.content.filter((part) => part.type === "tool-call" && part.providerExecuted !== true) as Call[];
}

type Call = Extract<Exclude<AssistantModelMessage["content"], string>[number], { type: "tool-call" }>;

function resultsOf({ content }: ToolModelMessage): readonly ToolResultPart[] {
  return content.filter((part) => part.type === "tool-result");
}

function resultOf({ toolCallId, toolName }: Call, results: readonly ToolResultPart[]): ToolResultPart {
  const found = results.find((result) => result.toolCallId === toolCallId);
  if (found !== undefined) return found;
  const value = toolName === requestInputName ? unaskedText : unansweredText;
  return { type: "tool-result", toolCallId, toolName, output: { type: "error-text", value } };
}

/** The answers among results whose calls are gone. */
function lateAnswers(results: readonly ToolResultPart[]): readonly ModelMessage[] {
  return results.flatMap(({ toolName, output }): ModelMessage[] =>
    toolName === requestInputName && output.type === "text" ? [{ role: "user", content: output.value }] : []
  );
}

function addUser(ordered: ModelMessage[], messages: readonly ModelMessage[]): void {
  for (const message of messages) {
    if (ordered.at(-1)?.role === "user") ordered.push({ role: "assistant", content: noAnswerText });
    ordered.push(message);
  }
}
