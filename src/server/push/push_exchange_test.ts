import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { answered, sampleTask } from "@tests/fakes/sample_tasks.ts";
import { createScriptedOutbound, type ScriptedAnswer } from "@tests/fakes/scripted_outbound.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import type { PushTarget, TaskRecord } from "@/server/tasks/task_record.ts";
import { sendPush } from "./push_exchange.ts";

const url = "https://hooks.example/x";
const record = answered(sampleTask({ pushes: ["w1"], working: true }));

async function send(
  answer: ScriptedAnswer,
  { target, of = record, keys = [] }: { target?: Partial<PushTarget>; of?: TaskRecord; keys?: CryptoKey[] } = {},
) {
  const clock = createTestClock();
  const outbound = createScriptedOutbound(clock);
  outbound.answer(url, answer);
  const push = { record: of, target: { id: "p.1", url, ...target }, logged: of.statusLog.at(-1)! };
  const store = { openBlob: () => Promise.reject(new Error("the disk failed")) };
  const { signal } = new AbortController();
  const result = await sendPush(push, { store, outbound, clock, signal, keysOf: () => Promise.resolve(keys) });
  deepStrictEqual([outbound.open, clock.pending], [0, 0]);
  return { result, request: outbound.requests[0]! };
}

const results: readonly [ScriptedAnswer, object][] = [
  [{ status: 200 }, { kind: "taken", status: 200 }],
  [{ status: 204 }, { kind: "taken", status: 204 }],
  [{ status: 200, body: ["endless", new Promise(() => {})] }, { kind: "taken", status: 200 }],
  [{ status: 410 }, { kind: "gone", status: 410 }],
  [{ status: 404 }, { kind: "failed", error: "404", isRefusal: false, status: 404 }],
  [{ status: 304 }, { kind: "failed", error: "304", isRefusal: false, status: 304 }],
  [{ status: 429, headers: { "retry-after": "7" } }, {
    ...{ kind: "failed", error: "429", isRefusal: false, status: 429 },
    retryAfterMs: 7000,
  }],
  [{ fail: "TLS_FAILED" }, { kind: "failed", error: "TLS_FAILED", isRefusal: false }],
  [{ fail: "ADDRESS_FORBIDDEN" }, { kind: "failed", error: "ADDRESS_FORBIDDEN", isRefusal: true }],
  [{ fail: "REDIRECT_FORBIDDEN" }, { kind: "failed", error: "REDIRECT_FORBIDDEN", isRefusal: false }],
];

for (const [answer, expected] of results) {
  const what = answer.fail ?? `${answer.status} ${JSON.stringify(answer.headers ?? "")}`;
  Deno.test(`sendPush() takes ${what} for ${JSON.stringify(expected)} [SM6 retry]`, async () => {
    const { result: { bytes, ...rest } } = await send(answer);
    deepStrictEqual(rest, expected);
    ok(bytes > 100);
  });
}

Deno.test("sendPush() sends the token and the credentials in their headers [§5.7 headers, case 28, case 29]", async () => {
  const secrets = { token: "t", authentication: { scheme: "Basic", credentials: "Y3JlZA==" } };
  const { request: { method, headers, caller, totalMs, headMs, reads } } = await send({}, { target: secrets });
  deepStrictEqual([method, caller, totalMs, headMs, reads], ["POST", "ann", 30_000, 15_000, "head"]);
  deepStrictEqual(headers, {
    "Content-Type": "application/a2a+json",
    "X-A2A-Notification-Token": "t",
    Authorization: "Basic Y3JlZA==",
    "webhook-id": `${record.task.id}_p~2e1_3`,
    "webhook-timestamp": "1791460800",
  });
});

Deno.test("sendPush() sends to a webhook of A2A 0.3 what that version has [§5.7 legacy]", async () => {
  const { request } = await send({}, { target: { version: "0.3" } });
  strictEqual(request.headers!["Content-Type"], "application/json");
  strictEqual(JSON.parse(new TextDecoder().decode(request.body as Uint8Array)).kind, "task");
});

Deno.test("sendPush() signs the bytes that it sends, with each key [§5.7 signature]", async () => {
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const keys = [await crypto.subtle.generateKey(hmac, false, ["sign", "verify"]) as CryptoKey];
  const { request: { headers, body } } = await send({}, { keys });
  const [, signature] = /^v1,(.+)$/.exec(headers!["webhook-signature"]!)!;
  const head = new TextEncoder().encode(`${headers!["webhook-id"]}.${headers!["webhook-timestamp"]}.`);
  const signed = new Uint8Array([...head, ...body as Uint8Array]);
  ok(await crypto.subtle.verify("HMAC", keys[0]!, Uint8Array.fromBase64(signature!), signed));
});

Deno.test("sendPush() rejects when the disk fails: that is no fault of the receiver's", async () => {
  const raw = { blob: "0".repeat(64), bytes: 9 };
  const artifacts = [{ artifactId: "f", parts: [{ raw, filename: "a" }] }];
  const broken = { ...record, task: { ...record.task, artifacts } };
  await rejects(send({}, { of: broken }), /the disk failed/);
});
