import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import { hookUrl, startPushPeer } from "@tests/fakes/push_peer.ts";
import { systemRandom } from "@/random.ts";
import { parseCallers } from "@/workspace/callers_file.ts";
import { webhookSecrets } from "@/workspace/webhook_keys.ts";
import { requireWebhookSecret } from "@/workspace/webhook_secret_file.ts";

Deno.test("a peer signs, counts, paces and audits its pushes as the settings and callers.json say [§5.7 signature, §5.7 push-rate, §5.7 active-webhooks]", async () => {
  await using made = await startPushPeer({ flags: { "pushes-per-minute": "1", "active-webhooks": "1" } });
  const task = await made.sendWith("ask: Which?");
  await made.told(["1 submitted"]);
  const again = await made.call("CreateTaskPushNotificationConfig", { taskId: task.id, url: hookUrl });
  ok(again.kind === "error");
  deepStrictEqual([again.reason, /too many webhooks/i.test(again.message)], ["INVALID_PARAMS", true]);
  await made.clock.advance(60_000);
  await made.told(["1 submitted", "2 working"]);
  const [push] = made.outbound.requests;
  strictEqual(push!.caller, "home/alice");
  // The clock of the test stands elsewhere than that of the library.
  const headers = { ...push!.headers } as Record<string, string>;
  const sentAt = Number(headers["webhook-timestamp"]) * 1000;
  ok(Math.abs(sentAt - made.clock.now()) < 120_000);
  strictEqual(await isSigned(made, push!.body as Uint8Array, headers), true);
  const pushes = (await made.audit()).filter(({ op }) => op === "push");
  deepStrictEqual(pushes.map(({ caller, taskId, outcome, status }) => [caller, taskId, outcome, status]), [
    ["alice", task.id, "ok", 204],
    ["alice", task.id, "ok", 204],
  ]);
});

async function isSigned(
  { paths, disk, clock }: Awaited<ReturnType<typeof startPushPeer>>,
  body: Uint8Array,
  headers: Record<string, string>,
): Promise<boolean> {
  const bytes = await Deno.readFile(paths.callersFile);
  const [alice] = parseCallers({ kind: "bytes", bytes }, paths.callersFile).callers;
  const file = { disk, random: systemRandom, path: paths.webhookSecret, lock: paths.editLock };
  const master = await requireWebhookSecret(file);
  ok(master.kind === "master");
  const { secret } = await webhookSecrets(alice!, { master: master.master, now: clock.now() });
  const { [signatureHeader]: signature } = headers;
  const expected = new Webhook(secret.reveal()).sign(
    headers["webhook-id"]!,
    new Date(Number(headers["webhook-timestamp"]) * 1000),
    new TextDecoder().decode(body),
  );
  return signature === expected;
}

const signatureHeader = "webhook-signature";
