import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { type RefusalReason, refused } from "./refusal.ts";

/** Every reason, and whether trying again later makes sense by itself. */
const reasons: Readonly<Record<RefusalReason, boolean>> = {
  "not found": false,
  "wrong context": false,
  "terminal": false,
  "context busy": false,
  "queue full": true,
  "not cancelable": false,
  "too many tasks": false,
  "too long": false,
  "too large": false,
  "too many webhooks": false,
  "too many active webhooks": false,
  "too many turns": true,
  "too many delegated turns": true,
  "hop limit": false,
  "storage full": true,
  "shutting down": true,
  "id reused": false,
};

for (const [why, isLater] of Object.entries(reasons) as [RefusalReason, boolean][]) {
  Deno.test(`refused() says ${why} in a sentence of its own, with the time to wait only where that helps`, () => {
    const { kind, text, retryAfterMs } = refused(why);
    strictEqual(kind, "refused");
    ok(text.length > 10);
    strictEqual(retryAfterMs !== undefined, isLater);
    if (retryAfterMs !== undefined) strictEqual(retryAfterMs % 1000, 0);
  });
}

Deno.test('refused() says "busy" for a context at work only: clients act on the word [§5.4 busy]', () => {
  const busy = (Object.keys(reasons) as RefusalReason[]).filter((why) => /busy/i.test(refused(why).text));
  deepStrictEqual(busy, ["context busy"]);
  match(refused("context busy").text, /^context busy, retry when the current task ends$/);
  strictEqual(refused("id reused").text, "messageId used for another message");
});
