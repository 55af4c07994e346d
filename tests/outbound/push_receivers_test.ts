import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { type Lab, labTest } from "@tests/fakes/outbound_lab.ts";
import { PushFixture } from "@tests/fakes/push_fixture.ts";
import type { PushState, TaskRecord } from "@/server/tasks/task_record.ts";

/** A receiver of each kind, and what the webhook there comes to: `done`, or the error of its first try. */
const receivers: readonly { readonly id: string; readonly path: string; readonly comesTo: string }[] = [
  { id: "answers", path: "/echo", comesTo: "done" },
  { id: "nothing-to-say", path: "/204", comesTo: "done" },
  { id: "drips-its-body", path: "/slow-body", comesTo: "done" },
  { id: "packs-a-bomb", path: "/gzip-bomb", comesTo: "done" },
  { id: "packs-in-brotli", path: "/brotli", comesTo: "done" },
  { id: "says-too-much", path: "/length-huge", comesTo: "done" },
  { id: "says-two-lengths", path: "/lengths-differ", comesTo: "done" },
  { id: "fails", path: "/500", comesTo: "500" },
  { id: "has-enough", path: "/429", comesTo: "429" },
  { id: "talks-noise", path: "/noise", comesTo: "MALFORMED_RESPONSE" },
  { id: "hangs-up", path: "/empty", comesTo: "CONNECTION_CLOSED" },
  { id: "redirects-inside", path: "/302-to-loopback", comesTo: "REDIRECT_FORBIDDEN" },
  { id: "redirects-to-tls", path: "/307-to-loopback", comesTo: "REDIRECT_FORBIDDEN" },
];
const slow: typeof receivers = [
  { id: "never-answers", path: "/never", comesTo: "HEAD_TIMEOUT" },
  { id: "drips-its-head", path: "/slow-head", comesTo: "HEAD_TIMEOUT" },
];

labTest(
  "webhooks at fifteen receivers over TLS, good and bad, are each told for themselves [SM6 others-unharmed, case 31]",
  { servers: ["good"] },
  async (lab) => {
    await using made = new PushFixture({ clock: lab.clock, door: lab.door({ limits: { tlsBegunMax: 100 } }) });
    await made.start();
    const all = [...receivers, ...slow];
    const urls = Object.fromEntries(all.map(({ id, path }) => [id, lab.url(path, { host: `${id}.hook.test` })]));
    const record = await made.make({ urls });
    const { runId } = record.run!;
    await made.apply(record, { kind: "answered", runId, text: "Done", truncated: false, files: 0 });
    await made.until(async () => (await pushesOf(made, record)).every((push) => isSlow(push) || comesTo(push) !== ""));
    deepStrictEqual(ends(await pushesOf(made, record), receivers), expected(receivers));
    await allAsked(lab);
    await lab.clock.advance(15_000);
    await made.until(async () => (await pushesOf(made, record)).every((push) => comesTo(push) !== ""));
    deepStrictEqual(ends(await pushesOf(made, record), slow), expected(slow));
    deepStrictEqual(lab.connections.filter(({ request }) => request?.path === "/secret"), []);
    lab.release();
  },
);

labTest(
  "a webhook at a name that turns private after it was told once is told no more there [case 25, case 31]",
  { servers: ["good"] },
  async (lab) => {
    await using made = new PushFixture({ clock: lab.clock, door: lab.door() });
    await made.start();
    const record = await made.make({ urls: { w: lab.url("/echo", { host: "rebind.test" }) } });
    await made.until(async () => (await pushesOf(made, record))[0]!.lastError !== undefined);
    const [push] = await pushesOf(made, record);
    deepStrictEqual([push!.acked, push!.lastError, push!.refusals], [1, "ADDRESS_FORBIDDEN", 1]);
    strictEqual(lab.connections.length, 1);
  },
);

async function pushesOf(made: PushFixture, { task: { id } }: TaskRecord): Promise<readonly PushState[]> {
  return (await made.record(id)).pushes;
}

/** "" for one that is under way. */
function comesTo({ state, lastError = "" }: PushState): string {
  return state === "active" ? lastError : state;
}

function isSlow({ target }: PushState): boolean {
  return slow.some(({ id }) => id === target.id);
}

function ends(pushes: readonly PushState[], of: typeof receivers) {
  return of.map(({ id }) => [id, comesTo(pushes.find(({ target }) => target.id === id)!)]);
}

function expected(of: typeof receivers) {
  return of.map(({ id, comesTo }) => [id, comesTo]);
}

/** The slow ones have their requests. */
async function allAsked(lab: Lab): Promise<void> {
  const paths = slow.map(({ path }) => path);
  await lab.until((all) => paths.every((path) => all.some(({ request }) => request?.path === path)));
}
