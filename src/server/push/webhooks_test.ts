import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { hookUrl, PushFixture } from "@tests/fakes/push_fixture.ts";
import { ann, bob, sampleId } from "@tests/fakes/sample_tasks.ts";
import type { CallerName } from "@/protocol/ids.ts";
import type { PushConfig } from "@/protocol/request_types.ts";
import { WebhookPlaces } from "@/server/tasks/webhook_places.ts";
import { Webhooks } from "./webhooks.ts";

const config: PushConfig = {
  id: "p",
  url: hookUrl("p"),
  token: "TOKEN",
  authentication: { scheme: "Bearer", credentials: "CREDENTIALS" },
};
const shown = { taskId: sampleId(1), id: "p", url: hookUrl("p"), authentication: { scheme: "Bearer" } };

/** Webhooks over a store with one task of ann's that has the webhook `w`; no queue sends anything. */
async function makeWebhooks({ activeMax = 200 } = {}) {
  const made = new PushFixture();
  const places = new WebhookPlaces({ store: made.store, max: activeMax });
  const webhooks = new Webhooks({ ...made, places });
  const record = await made.make();
  const owned = (caller: CallerName = ann) => ({ id: record.task.id, caller });
  const set = async (given: Partial<PushConfig> = {}, caller = ann) => {
    const done = await webhooks.set(owned(caller), { config: { ...config, ...given }, version: undefined });
    return done.kind === "set" ? done.webhook : done.kind === "refused" ? done.why : done.text;
  };
  return Object.assign(made, { webhooks, owned, set, made: record });
}

Deno.test("Webhooks set() stores the secrets and shows them to nobody [§5.7 secrets-unseen, case 32]", async () => {
  await using made = await makeWebhooks();
  deepStrictEqual(await made.set(), shown);
  deepStrictEqual((await made.webhook(made.made, "p")).target, { ...config });
  deepStrictEqual(await made.webhooks.get(made.owned(), "p"), shown);
  const all = await made.webhooks.list(made.owned(), { pageSize: 100, pageToken: "" });
  ok(!/TOKEN|CREDENTIALS|token of/.test(JSON.stringify(all)), JSON.stringify(all));
});

Deno.test("Webhooks set() gives a webhook without an id one, and replaces one with its id", async () => {
  await using made = await makeWebhooks();
  const first = await made.set({ id: undefined }) as typeof shown;
  ok(/^[0-9a-f-]{36}$/.test(first.id));
  await made.set({ id: first.id, url: hookUrl("other") });
  strictEqual((await made.webhook(made.made, first.id)).target.url, hookUrl("other"));
  strictEqual((await made.record(made.made.task.id)).pushes.length, 2);
});

for (
  const [url, why] of [
    ["http://hooks.example/", /scheme|https/i],
    ["https://127.0.0.1/", /^it cannot be reached or is not allowed$/],
    ["https://[::1]/", /^it cannot be reached or is not allowed$/],
    ["https://169.254.169.254/", /^it cannot be reached or is not allowed$/],
    ["https://hooks.example:25/", /port/],
  ] as const
) {
  Deno.test(`Webhooks set() refuses ${url} before anything is stored [§5.7 url-judged, case 31]`, async () => {
    await using made = await makeWebhooks();
    ok(why.test(String(await made.set({ url }))), String(await made.set({ url })));
    strictEqual((await made.record(made.made.task.id)).pushes.length, 1);
  });
}

Deno.test("Webhooks knows no task of another caller, nor one that is not there [§5.2 not-found-alike]", async () => {
  await using made = await makeWebhooks();
  strictEqual(await made.set({}, bob), "not found");
  strictEqual(await made.set({ url: "http://127.0.0.1/" }, bob), "not found");
  strictEqual(await made.webhooks.get(made.owned(bob), "w"), undefined);
  const list = await made.webhooks.list(made.owned(bob), { pageSize: 9, pageToken: "" });
  const deleted = await made.webhooks.delete(made.owned(bob), "w");
  deepStrictEqual([list, deleted].map((one) => "why" in one && one.why), ["not found", "not found"]);
  strictEqual((await made.webhook(made.made)).state, "active");
});

Deno.test("Webhooks list() pages in the order they were set, and delete() is idempotent [§5.7 config-methods]", async () => {
  await using made = await makeWebhooks();
  for (const id of ["a", "b"]) await made.set({ id });
  const page = async (pageToken: string) => await made.webhooks.list(made.owned(), { pageSize: 2, pageToken });
  const idsOf = (one: Awaited<ReturnType<typeof page>>) => one.kind === "page" && one.configs.map(({ id }) => id);
  const first = await page("");
  deepStrictEqual([idsOf(first), "nextPageToken" in first && first.nextPageToken], [["w", "a"], "b"]);
  const last = await page("b");
  deepStrictEqual([idsOf(last), "nextPageToken" in last && last.nextPageToken], [["b"], ""]);
  strictEqual((await page("x")).kind, "bad page token");
  for (let n = 0; n < 2; n++) strictEqual((await made.webhooks.delete(made.owned(), "a")).kind, "deleted");
  deepStrictEqual(idsOf(await page("")), ["w", "b"]);
});

Deno.test("Webhooks set() keeps to the limits of the task and of the caller, many at once too [§5.7 webhooks-a-task, §5.7 active-webhooks]", async () => {
  await using made = await makeWebhooks({ activeMax: 3 });
  const many = await Promise.all(["a", "b", "c", "d"].map((id) => made.set({ id })));
  deepStrictEqual(many.map((one) => typeof one === "object" ? one.id : one), [
    ...["a", "b"],
    ...["too many active webhooks", "too many active webhooks"],
  ]);
  strictEqual(typeof await made.set({ id: "a", url: hookUrl("again") }), "object", "one that is there needs no place");
  await using wide = await makeWebhooks();
  for (let n = 0; n < 15; n++) await wide.set({ id: `w${n}` });
  strictEqual(await wide.set({ id: "one more" }), "too many webhooks");
});
