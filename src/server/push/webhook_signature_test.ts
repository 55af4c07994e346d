import { deepStrictEqual, match, ok, strictEqual, throws } from "node:assert/strict";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { webhookHeaders, webhookId } from "./webhook_signature.ts";

const secrets = ["new", "old"].map((name) => `whsec_${new TextEncoder().encode(name.padEnd(32, ".")).toBase64()}`);
const body = new TextEncoder().encode('{"task":{"id":"t","status":{"message":"Grüße, 世界"}}}');
const id = webhookId({ taskId: "00000000-0000-4000-8000-000000000001", configId: "a.b", seq: 3 });

async function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = Uint8Array.fromBase64(secret.slice("whsec_".length));
  return await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}

/** The headers of a push that goes out now, or `agoMs` ago: the verifier has the machine's clock. */
async function headers(signedWith: readonly string[], { agoMs = 0 } = {}) {
  return await webhookHeaders({ id, at: Date.now() - agoMs, body }, await Promise.all(signedWith.map(keyOf)));
}

function verify(secret: string, given: Record<string, string>, text = new TextDecoder().decode(body)): unknown {
  return new Webhook(secret).verify(text, given);
}

Deno.test("webhookHeaders() are verified by the library of Standard Webhooks, with either secret while one is rotated [§5.7 signature]", async () => {
  const [newest, old] = secrets as [string, string];
  const both = await headers(secrets);
  match(both["webhook-signature"]!, /^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
  for (const secret of secrets) deepStrictEqual(verify(secret, both), JSON.parse(new TextDecoder().decode(body)));
  const one = await headers([newest]);
  ok(verify(newest, one));
  throws(() => verify(old, one), WebhookVerificationError);
});

Deno.test("webhookHeaders() of a changed body, id or time, or of a push 301 s ago, are refused [§5.7 signature]", async () => {
  const [secret] = secrets as [string];
  const good = await headers([secret]);
  const refused: readonly (() => unknown)[] = [
    () => verify(secret, good, `${new TextDecoder().decode(body)} `),
    () => verify(secret, { ...good, "webhook-id": `${id}0` }),
    () => verify(secret, { ...good, "webhook-timestamp": String(Number(good["webhook-timestamp"]) - 1) }),
  ];
  for (const one of refused) throws(one, WebhookVerificationError);
  const old = await headers([secret], { agoMs: 301_000 });
  throws(() => verify(secret, old), /too old/);
  ok(verify(secret, await headers([secret], { agoMs: 200_000 })));
});

Deno.test("webhookHeaders() keep the id over tries and say when each goes out, in whole seconds [SM6 webhook-id, §5.7 signature]", async () => {
  const key = await keyOf(secrets[0]!);
  const first = await webhookHeaders({ id, at: 1_999, body }, [key]);
  const second = await webhookHeaders({ id, at: 2_000, body }, [key]);
  deepStrictEqual([first["webhook-id"], second["webhook-id"]], [id, id]);
  deepStrictEqual([first["webhook-timestamp"], second["webhook-timestamp"]], ["1", "2"]);
  ok(first["webhook-signature"] !== second["webhook-signature"]);
});

Deno.test("webhookHeaders() without a key have no signature, rather than an empty one", async () => {
  deepStrictEqual(Object.keys(await headers([])), ["webhook-id", "webhook-timestamp"]);
});

Deno.test("webhookId() is another one for each task, webhook and status, and has no dot [SM6 webhook-id]", () => {
  const taskIds = ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"];
  const signs = [".", "~", "e", "2", "7", "_", "-", ":"];
  const two = signs.flatMap((first) => signs.map((second) => first + second));
  const configIds = [
    ...signs,
    ...two,
    "~2e",
    "~7e",
    "~7e2e",
    "~~2e",
    "a.b",
    "a~2eb",
    "a~b",
    "a~7eb",
    "1_2",
    "2_1",
    "1",
  ];
  const names = taskIds.flatMap((taskId) =>
    [...new Set(configIds)].flatMap((configId) => [1, 2, 12].map((seq) => webhookId({ taskId, configId, seq })))
  );
  strictEqual(new Set(names).size, names.length);
  for (const name of names) match(name, /^[A-Za-z0-9_~:-]+$/);
  strictEqual(webhookId({ taskId: "t", configId: "a.b~c", seq: 7 }), "t_a~2eb~7ec_7");
});
