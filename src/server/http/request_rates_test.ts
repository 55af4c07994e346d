import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { readCaller } from "@/workspace/callers_file.ts";
import { type Asking, RequestRates } from "./request_rates.ts";

/** A caller of a workspace, with these limits in its entry. */
function asking(limits: Readonly<Record<string, number>> = {}, name = "alice", workspace = "home"): Asking {
  const caller = readCaller({ name, key: "k_0123456789", limits });
  ok(!("why" in caller));
  return { workspace: { name: workspace }, caller };
}

function makeRates(requestsPerMinute: number, readsPerMinute: number) {
  const clock = createTestClock();
  return { clock, rates: new RequestRates({ clock, requestsPerMinute, readsPerMinute }) };
}

/** How many of a method are let in before one is refused. */
function letIn(rates: RequestRates, method: "SendMessage" | "SendStreamingMessage" | "GetTask", who: Asking): number {
  for (let count = 0; count < 2_000; count++) if (rates.refuse(method, who) !== undefined) return count;
  return Infinity;
}

Deno.test("RequestRates counts what starts runs apart from the rest, and both kinds of send together [§7 request-rates]", () => {
  const { rates } = makeRates(60, 600);
  strictEqual(letIn(rates, "GetTask", asking()), 600);
  strictEqual(rates.refuse("SendStreamingMessage", asking()), undefined);
  strictEqual(letIn(rates, "SendMessage", asking()), 59);
});

Deno.test("RequestRates counts callers apart, and those of one name in two workspaces [§7 request-rates]", () => {
  const { rates } = makeRates(2, 2);
  const all = [asking(), asking({}, "bob"), asking({}, "alice", "other")];
  deepStrictEqual(all.map((who) => letIn(rates, "SendMessage", who)), [2, 2, 2]);
});

Deno.test("RequestRates says which limit it is and when to come back [§7 rate-refusals]", async () => {
  const { clock, rates } = makeRates(1, 1);
  for (let n = 0; n < 2; n++) strictEqual(rates.refuseUnread(asking()), undefined);
  for (const method of ["SendMessage", "GetTask"] as const) strictEqual(rates.refuse(method, asking()), undefined);
  await clock.advance(20_000);
  const refused = [
    rates.refuse("SendMessage", asking()),
    rates.refuse("GetTask", asking()),
    rates.refuseUnread(asking()),
  ];
  const names = [/limit of 1 .*\(requestsPerMinute\)/, /of 1 .*\(readsPerMinute\)/, /of 2 .*\+ readsPerMinute\)/];
  for (const [place, error] of refused.entries()) {
    deepStrictEqual([error?.reason, error?.retryAfterSeconds], ["TOO_MANY_REQUESTS", 40]);
    match(error!.message, names[place]!);
  }
  await clock.advance(40_000);
  strictEqual(rates.refuse("SendMessage", asking()), undefined);
});

Deno.test("RequestRates does not count what it refuses: who never stops asking is let in all the same [§7 rates-recover]", async () => {
  const { clock, rates } = makeRates(3, Infinity);
  let count = 0;
  for (let second = 0; second < 600; second++) {
    if (rates.refuse("SendMessage", asking()) === undefined) count++;
    await clock.advance(1_000);
  }
  strictEqual(count, 30);
});

Deno.test("RequestRates takes an entry's own limits as they are at each request, and 0 as none [§7 own-limits]", () => {
  const { rates } = makeRates(2, 2);
  strictEqual(letIn(rates, "SendMessage", asking()), 2);
  strictEqual(letIn(rates, "SendMessage", asking({ requestsPerMinute: 5 })), 3);
  strictEqual(letIn(rates, "SendMessage", asking({ requestsPerMinute: 4 })), 0);
  strictEqual(letIn(rates, "SendMessage", asking({ requestsPerMinute: 0 })), Infinity);
  strictEqual(letIn(rates, "GetTask", asking({ requestsPerMinute: 0, readsPerMinute: 7 })), 7);
  strictEqual(rates.refuseUnread(asking({ requestsPerMinute: 0 })), undefined);
});
