import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { createScriptedOutbound } from "@tests/fakes/scripted_outbound.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import type { Binding } from "@tests/fakes/wire_request.ts";
import { startWireHost, type WireHost } from "@tests/fakes/wire_host.ts";
import {
  formatGolden,
  formatReply,
  type Golden,
  type GoldenStep,
  parseGolden,
  Placeholders,
} from "@tests/wire/golden_file.ts";

/** Each is played over both bindings, on a host of its own. `A2A_TEST_GOLDEN=write` writes what came out. */
const rows: readonly { readonly file: string; readonly shows: string }[] = [
  { file: "send", shows: "a message becomes a task and its answer [§5.1 equal-bindings]" },
  { file: "send_failed", shows: "runs that end otherwise [§5.5 nothing-is-failed, §5.5 truncated]" },
  { file: "send_at_once", shows: "returnImmediately [§5.5 blocking]" },
  { file: "send_wait_timeout", shows: "the end of the wait is not the end of the work [§5.5 wait-timeout, case 36]" },
  { file: "send_slow", shows: "a late answer is the same [§5.5 heartbeat]" },
  { file: "continuation", shows: "an answer to a question [case 39, §5.10 one-table]" },
  { file: "not_found", shows: "unknown and foreign look the same [§5.2 not-found-alike, case 39]" },
  { file: "busy", shows: "a context at work [§5.4 busy, §5.10 busy-is-the-contexts]" },
  { file: "queue_full", shows: "a full queue [§5.10 retry-after]" },
  { file: "storage_full", shows: "no room [§5.10 retry-after, §5.5 disk-full-refused]" },
  { file: "too_many_tasks", shows: "too many tasks [§7 stored-tasks]" },
  { file: "shutting_down", shows: "a host that ends [§5.10 retry-after, SM7 drain]" },
  { file: "cancel", shows: "CancelTask [§5.5 cancel-idempotent]" },
  { file: "history", shows: "historyLength [§5.1 history-length]" },
  { file: "list", shows: "ListTasks [§5.1 list-tasks]" },
  { file: "push", shows: "webhooks [§5.7 config-methods, §5.7 inline, §5.7 secrets-unseen, SM6 readable, case 32]" },
  {
    file: "push_refused",
    shows: "webhooks that are refused [§5.7 url-judged, §5.7 no-cr-lf, case 28, case 31, case 32]",
  },
  { file: "push_many", shows: "too many webhooks [§5.7 webhooks-a-task, case 32]" },
  {
    file: "files",
    shows: "files in every form [§5.6 parts-in-order, §5.6 base64, §5.6 data-urls, §5.6 uploads-not-sent-back]",
  },
  { file: "files_too_large", shows: "files over the limit [§5.6 file-limit]" },
  { file: "hops", shows: "hops [§5.9 hops]" },
  { file: "dedupe", shows: "dedupe [§5.5 dedupe, §5.5 dedupe-other-body]" },
  { file: "stream", shows: "streams [§5.5 last-chunk, §5.5 new-message-replaces]" },
  { file: "subscribe", shows: "SubscribeToTask [§5.5 subscribe-task-first]" },
  { file: "card", shows: "the caller's card [§5.1 equal-bindings]" },
];

/** The only URLs that answer. */
const fileUrl = "https://files.example.com/numbers";
const hookUrl = "https://hooks.example.com/a";

for (const { file, shows } of rows) {
  Deno.test(`both bindings answer as in ${file}.golden: ${shows}`, async () => {
    const path = new URL(`./${file}.golden`, import.meta.url);
    const text = await Deno.readTextFile(path);
    const golden = parseGolden(text);
    const [rpc, rest] = [await play(golden, "JSONRPC"), await play(golden, "HTTP+JSON")];
    deepStrictEqual(rpc, rest);
    deepStrictEqual(rpc.filter((reply) => reply.includes("SECRET")), []); // what a file calls so is a webhook's
    const played = formatGolden(golden, rpc);
    if (Deno.env.get("A2A_TEST_GOLDEN") === "write") return await Deno.writeTextFile(path, played);
    strictEqual(played, text);
  });
}

Deno.test("golden files are all played", () => {
  const files = [...Deno.readDirSync(new URL(".", import.meta.url))].map(({ name }) => name);
  const golden = files.filter((name) => name.endsWith(".golden")).map((name) => name.slice(0, -".golden".length));
  deepStrictEqual(golden.sort(), rows.map(({ file }) => file).sort());
});

async function play({ flags, steps }: Golden, binding: Binding): Promise<string[]> {
  const { wait, ...others } = flags;
  const clock = createTestClock();
  const outbound = createScriptedOutbound(clock);
  outbound.answer(fileUrl, { headers: { "content-type": "text/csv; charset=utf-8" }, body: "1,2,3" });
  outbound.answer(hookUrl, { status: 204 });
  const waits = wait !== undefined && { waitMs: Number(wait) * 1000 };
  await using host = await startWireHost({ flags: others, clock, outbound, ...waits });
  const names = new Placeholders();
  const replies: string[] = [];
  for (const step of steps) {
    if (step.kind === "call") replies.push(await call(host, binding, { step, names }));
    if (step.kind === "wait") await host.clock.advance(step.ms);
    if (step.kind === "drain") await host.host.runs.drain(0);
  }
  return replies;
}

async function call(
  host: WireHost,
  binding: Binding,
  { step, names }: { readonly step: GoldenStep & { readonly kind: "call" }; readonly names: Placeholders },
): Promise<string> {
  const params = step.params === "" ? {} : JSON.parse(names.show(step.params));
  const reply = host.call(binding, step.method, params, { as: step.as });
  await host.clock.advance(step.duringMs);
  return names.hide(formatReply(await reply));
}
