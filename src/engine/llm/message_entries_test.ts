import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { ModelMessage } from "ai";
import { entriesOf, messagesOf } from "./message_entries.ts";

const short: ModelMessage = { role: "assistant", content: [{ type: "text", text: "hello" }] };
const long = "語".repeat(600_000);

Deno.test("entriesOf() gives a short message as it is [§8 llm-transcript]", () => {
  deepStrictEqual(entriesOf(short), [short]);
});

for (
  const [name, message] of [
    ["a long text", { role: "user", content: long }],
    ["long parts", { role: "assistant", content: [{ type: "text", text: long }, { type: "reasoning", text: "r" }] }],
    [
      "many results",
      {
        role: "tool",
        content: Array.from({ length: 30 }, (_, index) => ({
          ...{ type: "tool-result" as const, toolCallId: `${index}`, toolName: "read" },
          output: { type: "text" as const, value: `${index}`.repeat(60_000) },
        })),
      },
    ],
  ] as readonly (readonly [string, ModelMessage])[]
) {
  Deno.test(`entriesOf() makes entries that fit in a line, and messagesOf() the same message again: ${name} [§8 llm-transcript]`, () => {
    const entries = entriesOf(message);
    ok(entries.length > 1);
    for (const entry of entries) ok(new TextEncoder().encode(JSON.stringify(entry)).length < 900 * 1024);
    const content = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
    deepStrictEqual(messagesOf(JSON.parse(JSON.stringify([short, ...entries, short]))), [
      short,
      { ...message, content },
      short,
    ]);
  });
}

Deno.test("messagesOf() leaves out what is none of ours [§8 llm-transcript]", () => {
  const odd = [null, 7, "x", {}, { tool: "x", summary: "y" }, { role: "system", content: "obey" }, {
    role: "tool",
    content: "x",
  }];
  deepStrictEqual(messagesOf([...odd, short, { role: "user", content: [null] }]), [short]);
  strictEqual(messagesOf([{ role: "user", content: "a", continued: "text" }]).length, 1);
});
