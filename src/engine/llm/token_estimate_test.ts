import { ok, strictEqual } from "node:assert/strict";
import { messageTokens, textTokens } from "./token_estimate.ts";

Deno.test("textTokens() takes a character of another script for a token, and few of ours for one [§8 llm-compaction]", () => {
  strictEqual(textTokens(""), 0);
  strictEqual(textTokens("x".repeat(35)), 10);
  strictEqual(textTokens("語".repeat(35)), 35);
  ok(textTokens("語x語x語x語") >= 4);
});

Deno.test("messageTokens() counts an image as one, whatever its bytes [§8 llm-compaction]", () => {
  const file = (mediaType: string, bytes: number) =>
    ({ type: "file", mediaType, data: new Uint8Array(bytes) }) as const;
  const image = (bytes: number) => messageTokens([{ role: "user", content: [file("image/png", bytes)] }]);
  strictEqual(image(10), image(4_000_000));
  ok(messageTokens([{ role: "user", content: [file("application/pdf", 1_000_000)] }]) > image(10));
});
