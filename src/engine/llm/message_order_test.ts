import { deepStrictEqual, ok } from "node:assert/strict";
import type { ModelMessage, ToolResultPart } from "ai";
import { createSeededRandom } from "@tests/fakes/seeded_random.ts";
import { callsOf, noAnswerText, orderedMessages, unansweredText, unaskedText } from "./message_order.ts";

const user = (content: string): ModelMessage => ({ role: "user", content });
const says = (content: string): ModelMessage => ({ role: "assistant", content });
const calls = (...names: readonly string[]): ModelMessage => ({
  role: "assistant",
  content: names.map((toolName) => ({ type: "tool-call", toolCallId: `id-${toolName}`, toolName, input: {} })),
});
const result = (toolName: string, value = "ok"): ToolResultPart => ({
  ...{ type: "tool-result", toolCallId: `id-${toolName}`, toolName },
  output: { type: "text", value },
});
const results = (...parts: readonly ToolResultPart[]): ModelMessage => ({ role: "tool", content: [...parts] });
const missing = (toolName: string, value: string): ToolResultPart => ({
  ...result(toolName),
  output: { type: "error-text", value },
});

const rows: readonly {
  readonly name: string;
  readonly given: readonly ModelMessage[];
  readonly ordered: readonly ModelMessage[];
}[] = [
  {
    name: "leaves what is in order",
    given: [user("a"), calls("x"), results(result("x")), says("b"), user("c")],
    ordered: [user("a"), calls("x"), results(result("x")), says("b"), user("c")],
  },
  {
    name: "closes a call without a result",
    given: [user("a"), calls("x", "y"), results(result("y")), user("b")],
    ordered: [user("a"), calls("x", "y"), results(missing("x", unansweredText), result("y")), user("b")],
  },
  {
    name: "closes a question without an answer",
    given: [user("a"), calls("request_input"), user("b")],
    ordered: [user("a"), calls("request_input"), results(missing("request_input", unaskedText)), user("b")],
  },
  {
    name: "puts the results of one message together, in the order of its calls",
    given: [user("a"), calls("x", "request_input"), results(result("request_input")), results(result("x"))],
    ordered: [user("a"), calls("x", "request_input"), results(result("x"), result("request_input"))],
  },
  {
    name: "keeps an answer whose question is gone as a message",
    given: [results(result("request_input", "Tuesday")), says("b")],
    ordered: [user("Tuesday"), says("b")],
  },
  { name: "drops other results whose calls are gone", given: [results(result("x")), user("a")], ordered: [user("a")] },
  {
    name: "puts an answer between two messages of the user",
    given: [user("a"), user("b")],
    ordered: [user("a"), says(noAnswerText), user("b")],
  },
];

for (const { name, given, ordered } of rows) {
  Deno.test(`orderedMessages() ${name} [§8 llm-resume]`, () => {
    deepStrictEqual(orderedMessages(given), ordered);
    deepStrictEqual(orderedMessages(ordered), ordered);
  });
}

Deno.test("orderedMessages() gives an order that every provider takes, whatever a crash left [§8 llm-resume]", () => {
  const random = createSeededRandom(7);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random.fraction() * items.length)]!;
  const names = ["x", "y", "request_input"];
  for (let round = 0; round < 3_000; round++) {
    const given = Array.from({ length: Math.floor(random.fraction() * 9) }, (): ModelMessage =>
      pick([
        () => user("u"),
        () => says("s"),
        () => calls(...names.filter(() => random.fraction() < 0.5)),
        () => results(...names.filter(() => random.fraction() < 0.5).map((name) => result(name))),
      ])());
    const ordered = orderedMessages(given);
    for (const [index, message] of ordered.entries()) {
      const before = ordered[index - 1];
      const wanted = callsOf(before).map(({ toolCallId }) => toolCallId);
      if (message.role === "tool") {
        deepStrictEqual(message.content.map((part) => (part as ToolResultPart).toolCallId), wanted);
      } else deepStrictEqual(wanted, [], JSON.stringify(given));
      ok(!(message.role === "user" && before?.role === "user"));
    }
    ok(callsOf(ordered.at(-1)).length === 0);
  }
});
