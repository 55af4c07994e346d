import { strictEqual } from "node:assert/strict";
import { modelWindow } from "./model_window.ts";

Deno.test("modelWindow() knows the larger ones, and takes a server of one's own to have little [§8 llm-compaction]", () => {
  strictEqual(modelWindow({ provider: "anthropic", id: "claude-x" }), 200_000);
  strictEqual(modelWindow({ provider: "google", id: "gemini-x" }), 1_000_000);
  strictEqual(modelWindow({ provider: "openai", id: "gpt-4o" }), 128_000);
  strictEqual(modelWindow({ provider: "openai-compatible", id: "gpt-5" }), 32_768);
});
