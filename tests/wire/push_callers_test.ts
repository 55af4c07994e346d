import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { hookUrl, type PushPeer, startPushPeer } from "@tests/fakes/push_peer.ts";
import { bothCallers, peerKeys, textMessage } from "@tests/fakes/test_peer.ts";
import { bindings } from "@tests/fakes/wire_request.ts";
import { isoTime, type TimeMs } from "@/time/clock.ts";

const [alice, bob] = bothCallers;
const minuteMs = 60_000;
const failing = "https://hooks.example.com/failing";

Deno.test("a caller that is removed is pushed nothing more, neither of its live tasks nor of those that are over [§5.2 expelled, SM6 gone]", async () => {
  await using made = await startPushPeer();
  made.outbound.answer(failing, { status: 503, headers: { "Retry-After": "120" } });
  const live = await made.sendWith("hang", { id: "p" });
  await made.told(["1 submitted", "2 working"]);
  const over = await made.sendWith("hi", { id: "p", url: failing });
  await made.told(["1 submitted"], failing);
  await made.writeCallers([bob]);
  await made.clock.advance(2_000);
  await made.writeCallers(bothCallers); // before the next try: what ended does not go on
  await made.clock.advance(3 * minuteMs);
  await made.told(["1 submitted", "2 working"]);
  await made.told(["1 submitted"], failing);
  for (const { id: taskId } of [live, over]) {
    const { kind } = await made.call("GetTaskPushNotificationConfig", { taskId, id: "p" });
    strictEqual(kind, "result"); // it stays readable
  }
});

Deno.test("a caller that is removed is told nothing from that moment on, before anyone looked for who was removed [§5.2 expelled, SM6 gone]", async () => {
  await using made = await startPushPeer();
  await made.sendWith("wait: 300ms\nIt is done");
  await made.told(["1 submitted", "2 working"]);
  await made.writeCallers([bob]);
  await made.clock.advance(500); // the files are looked at every second
  await made.told(["1 submitted", "2 working"]);
});

Deno.test("the pushes of a caller whose time is over wait until it may call again [SM6 held]", async () => {
  await using made = await startPushPeer();
  await made.sendWith("wait: 1m\nIt is done");
  await made.told(["1 submitted", "2 working"]);
  await made.writeCallers([{ ...alice, expires: isoTime(made.clock.now() - 1_000 as TimeMs) }, bob]);
  await made.clock.advance(3 * minuteMs);
  await made.told(["1 submitted", "2 working"]);
  await made.writeCallers(bothCallers);
  await made.clock.advance(3 * minuteMs);
  await made.told(["1 submitted", "2 working", "3 completed"]);
});

Deno.test("a caller has 200 webhooks that are not over, however many are set at once over how many tasks [§5.7 active-webhooks, case 32]", async () => {
  await using made = await startPushPeer({ flags: { "pushes-per-minute": "0" } });
  const tasks = await Promise.all(Array.from({ length: 14 }, () => made.send("ask: Which?")));
  await made.clock.settle();
  const setting = tasks.flatMap(({ id: taskId }, task) =>
    Array.from({ length: 15 }, (_, n) => {
      const binding = bindings[n % 2]!;
      return made.call("CreateTaskPushNotificationConfig", { taskId, id: `${task}-${n}`, url: hookUrl }, { binding });
    })
  );
  const replies = await Promise.all(setting);
  deepStrictEqual(replies.filter(({ kind }) => kind === "result").length, 200);
  const refused = replies.filter((reply) => reply.kind === "error");
  deepStrictEqual(new Set(refused.map(({ reason, message }) => [reason, message].join(": "))), new Set([tooMany]));
  strictEqual(await webhooksOf(made, tasks), 200);

  const [first, second] = [tasks[0]!, tasks[1]!];
  deepStrictEqual(await setOne(made, first.id), tooMany);
  deepStrictEqual(await sendOne(made), tooMany);
  const others = await made.send("ask: Which?", { key: peerKeys.bob });
  deepStrictEqual(await setOne(made, others.id, peerKeys.bob), "set");
  await made.call("CancelTask", { id: second.id }); // its webhooks are over when they were told
  await made.clock.advance(minuteMs);
  deepStrictEqual([await setOne(made, first.id), await sendOne(made)], ["set", "set"]);
});

const tooMany =
  "INVALID_PARAMS: Too many webhooks of this caller still wait for their tasks: delete some, or wait until tasks end";

async function webhooksOf({ call }: PushPeer, tasks: readonly { readonly id: string }[]): Promise<number> {
  let count = 0;
  for (const { id: taskId } of tasks) {
    const listed = await call("ListTaskPushNotificationConfigs", { taskId }) as { result: { configs: unknown[] } };
    count += listed.result.configs.length;
  }
  return count;
}

/** Sets a webhook: `set`, or why not. */
async function setOne({ call }: PushPeer, taskId: string, key: string = peerKeys.alice): Promise<string> {
  const reply = await call("CreateTaskPushNotificationConfig", { taskId, id: "one", url: hookUrl }, { key });
  return reply.kind === "error" ? `${reply.reason}: ${reply.message}` : "set";
}

/** Sends a message with a webhook: `set`, or why not. */
async function sendOne({ call }: PushPeer): Promise<string> {
  const configuration = { returnImmediately: true, taskPushNotificationConfig: { url: hookUrl } };
  const reply = await call("SendMessage", { ...textMessage("hi"), configuration });
  return reply.kind === "error" ? `${reply.reason}: ${reply.message}` : "set";
}
