import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { modelKey, openLlm } from "@tests/fakes/llm_setting.ts";
import { memoryFiles } from "@tests/fakes/memory_files.ts";
import type { Dialect } from "@tests/fakes/model_dialects.ts";

const dialects: readonly Dialect[] = ["chat", "anthropic", "gemini", "responses"];

/** Where each API has the key. */
const keyHeaders: Readonly<Record<Dialect, readonly [name: string, value: string]>> = {
  chat: ["authorization", `Bearer ${modelKey}`],
  anthropic: ["x-api-key", modelKey],
  gemini: ["x-goog-api-key", modelKey],
  responses: ["authorization", `Bearer ${modelKey}`],
};

for (const dialect of dialects) {
  Deno.test(`llm engine streams an answer with its reasoning and its tokens, as ${dialect} has it [§8 llm-providers, §8 llm-usage]`, async () => {
    await using llm = await openLlm([{ reasoning: "They greet.", text: ["Hello", ", Bob"] }], { dialect });
    const { events, outcome } = await llm.say("hi");
    deepStrictEqual(events, [
      { kind: "aside", of: "reasoning", text: "They greet." },
      { kind: "text", text: "Hello" },
      { kind: "text", text: ", Bob" },
      { kind: "usage", inputTokens: 100, outputTokens: 20 },
      { kind: "end", outcome },
    ]);
    deepStrictEqual(outcome, { kind: "answered", text: "Hello, Bob", truncated: false });
    const [request] = llm.server.requests;
    strictEqual(request!.dialect, dialect);
    const [name, value] = keyHeaders[dialect];
    strictEqual(request!.headers.get(name), value);
    ok(!request!.url.includes(modelKey));
    match(JSON.stringify(request!.body), /Be kind\..*<<hi>>|<<hi>>.*Be kind\./s);
  });

  Deno.test(`llm engine makes tool calls and gives their results, as ${dialect} has them [§8 llm-providers, §8 llm-tools]`, async () => {
    const files = memoryFiles({ "notes.md": "buy milk\n" });
    const calls = [{ name: "read", input: { path: "notes.md" } }, { name: "list", input: {} }];
    await using llm = await openLlm([{ text: ["Let me look."], calls }, { text: ["Milk."] }], {
      dialect,
      tools: { files },
    });
    const { events, outcome, shown } = await llm.say("what do I need?");
    deepStrictEqual(outcome, { kind: "answered", text: "Milk.", truncated: false });
    strictEqual(shown, "Milk.");
    deepStrictEqual(events.filter(({ kind }) => kind === "tool"), [
      { kind: "tool", name: "read", phase: "start", summary: "notes.md" },
      { kind: "tool", name: "list", phase: "start", summary: "/" },
      { kind: "tool", name: "read", phase: "end", summary: "notes.md" },
      { kind: "tool", name: "list", phase: "end", summary: "/" },
    ]);
    const second = JSON.stringify(llm.server.requests[1]!.body);
    match(second, /buy milk/);
    match(second, /notes\.md, lines 1 to 1 of 1/);
    await llm.say("thanks"); // the conversation goes on with what was noted
  });

  Deno.test(`llm engine says that an answer was cut by its length, as ${dialect} tells it [§8 llm-length]`, async () => {
    await using llm = await openLlm([{ text: ["Once upon"], finish: "length" }], { dialect });
    const { outcome } = await llm.say("a story");
    deepStrictEqual(outcome, { kind: "answered", text: "Once upon", truncated: true });
  });
}
