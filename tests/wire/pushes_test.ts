import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { hookUrl, pushedTask, startPushPeer } from "@tests/fakes/push_peer.ts";
import { textMessage } from "@tests/fakes/test_peer.ts";
import { bindings } from "@tests/fakes/wire_request.ts";
import type { PartJson, StatusJson, TaskJson } from "@/protocol/task.ts";

const minuteMs = 60_000;

/** What a message makes of a task, and what its webhook is told meanwhile. */
const ends: readonly { readonly text: string; readonly told: readonly string[]; readonly says?: string }[] = [
  { text: "hi", told: ["1 submitted", "2 working", "3 completed"] },
  { text: "fail: no such luck", told: ["1 submitted", "2 working", "3 failed"], says: "no such luck" },
  { text: "ask: Which?", told: ["1 submitted", "2 working", "3 input_required"], says: "Which?" },
  { text: "silence", told: ["1 submitted", "2 working", "3 failed"], says: "no usable reply was produced" },
];

for (const { text, told, says } of ends) {
  Deno.test(`a webhook that came with "${text}" is told ${told.join(", ")}, over both bindings [§5.7 inline, SM6 body]`, async () => {
    for (const binding of bindings) {
      await using made = await startPushPeer();
      const configuration = { taskPushNotificationConfig: { id: "p", url: hookUrl } };
      const reply = await made.call("SendMessage", { ...textMessage(text), configuration }, { binding });
      ok(reply.kind === "result");
      await made.told(told);
      const { history: _, ...shown } = await made.task((reply.result as { task: TaskJson }).task.id);
      const { metadata, ...last } = pushedTask(made.outbound.requests.at(-1)!);
      deepStrictEqual([last, metadata], [shown, { "volcanic.seq": 3 }]);
      strictEqual(last.status.message?.parts[0]?.text, says);
    }
  });
}

Deno.test("a webhook is told that its task waits for its turn, works, and was cancelled [SM6 committed]", async () => {
  await using made = await startPushPeer({ flags: { "concurrent-runs": "1" } });
  const before = await made.send("hang");
  const { id } = await made.sendWith("hang");
  await made.told(["1 submitted"]);
  await made.call("CancelTask", { id: before.id });
  await made.clock.settle();
  await made.call("CancelTask", { id });
  await made.told(["1 submitted", "2 working", "3 canceled"]);
});

Deno.test("a webhook hears of the answer to a question, too; one that came with it begins there [§5.7 inline, SM6 set]", async () => {
  await using made = await startPushPeer();
  const later = "https://hooks.example.com/later";
  made.outbound.answer(later, { status: 200 });
  const { id: taskId } = await made.sendWith("ask: Which?", { id: "asked" });
  await made.sendWith("Blue", { id: "answered", url: later }, { taskId });
  await made.told([
    "1 submitted",
    "2 working",
    "3 input_required",
    "4 working",
    "5 completed",
  ]);
  await made.told(["4 working", "5 completed"], later);
  deepStrictEqual(pushedTask(made.outbound.requests.at(-1)!).artifacts?.[0]?.parts, [{ text: "Blue" }]);
});

Deno.test("a webhook that is set on a task at work or over is told once how it stands [§5.7 config-methods, SM6 set, SM6 taken]", async () => {
  for (const binding of bindings) {
    await using made = await startPushPeer();
    const over = await made.send("hi");
    const atWork = await made.send("wait: 1m\nIt is done");
    await made.clock.settle();
    const set = async (taskId: string) => {
      const params = { taskId, id: "p", url: hookUrl };
      strictEqual((await made.call("CreateTaskPushNotificationConfig", params, { binding })).kind, "result");
    };
    await set(over.id);
    await made.told(["3 completed"]);
    await set(atWork.id);
    await made.told(["3 completed", "2 working"]);
    deepStrictEqual(pushedTask(made.outbound.requests[0]!).artifacts?.[0]?.parts, [{ text: "hi" }]);
    await made.clock.advance(minuteMs);
    await made.told(["3 completed", "2 working", "3 completed"]);
    await made.clock.advance(5 * minuteMs);
    await made.told(["3 completed", "2 working", "3 completed"]);
  }
});

Deno.test("a push carries the token and the credentials in their headers, and what it is [§5.7 headers, case 28, case 29]", async () => {
  for (const binding of bindings) {
    await using made = await startPushPeer();
    const authentication = { scheme: "Bearer", credentials: "SECRET-credentials" };
    const push = { id: "p", url: hookUrl, token: "SECRET-token", authentication };
    const sent = { ...textMessage("hi"), configuration: { taskPushNotificationConfig: push } };
    await made.call("SendMessage", sent, { binding });
    await made.told(["1 submitted", "2 working", "3 completed"]);
    for (const { method, url, caller, headers, body } of made.outbound.requests) {
      deepStrictEqual([method, url, caller], ["POST", hookUrl, "alice"]);
      const { "webhook-id": _, "webhook-timestamp": __, "webhook-signature": ___, ...own } = headers!;
      deepStrictEqual(own, {
        "Content-Type": "application/a2a+json",
        "X-A2A-Notification-Token": "SECRET-token",
        Authorization: "Bearer SECRET-credentials",
      });
      ok(!new TextDecoder().decode(body as Uint8Array).includes("SECRET"));
    }
  }
});

Deno.test("a webhook without token and credentials gets neither header [§5.7 headers]", async () => {
  await using made = await startPushPeer();
  await made.sendWith("hi");
  await made.told(["1 submitted", "2 working", "3 completed"]);
  for (const { headers } of made.outbound.requests) {
    const names = Object.keys(headers!).sort();
    deepStrictEqual(names, ["Content-Type", "webhook-id", "webhook-signature", "webhook-timestamp"]);
  }
});

Deno.test("GetTask shows what a push says, before it is said [§5.7 pushed-after-readable]", async () => {
  const shown: StatusJson[] = [];
  const answer: { get?: (id: string) => Promise<TaskJson> } = {};
  await using made = await startPushPeer({
    wrap: (door) => ({
      problemWith: (url) => door.problemWith(url),
      async guarded(url, request) {
        shown.push((await answer.get!(pushedTask(request).id)).status);
        return await door.guarded(url, request);
      },
    }),
  });
  answer.get = made.task;
  const { id: taskId } = await made.sendWith("wait: 1m\nask: Which?");
  const begun = ["1 submitted", "2 working"]; // the first is an older one at once: a run slot was free
  await made.told(begun);
  await made.clock.advance(minuteMs);
  await made.told([...begun, "3 input_required"]);
  await made.sendWith("wait: 1m\nfile: a.txt text\nBlue", {}, { taskId });
  const both = ["4 working", "4 working"]; // one came with the question, one with the answer
  await made.told([...begun, "3 input_required", ...both]);
  await made.clock.advance(minuteMs);
  await made.told([...begun, "3 input_required", ...both, "5 completed", "5 completed"]);
  strictEqual(shown.shift()!.state, "TASK_STATE_WORKING");
  deepStrictEqual(made.outbound.requests.slice(1).map((request) => pushedTask(request).status), shown);
});

Deno.test("an older status that is told late says so, and has no artifacts [SM6 superseded, SM6 oldest-first]", async () => {
  await using made = await startPushPeer();
  made.outbound.answer(hookUrl, { status: 503 }, { status: 204 });
  await made.sendWith("hi");
  await made.clock.advance(minuteMs);
  await made.told(["1 submitted", "1 submitted", "2 working", "3 completed"]);
  const tasks = made.outbound.requests.map(pushedTask);
  deepStrictEqual(tasks.map(({ metadata }) => metadata!["volcanic.superseded"]), [true, true, true, undefined]);
  deepStrictEqual(tasks.map(({ artifacts }) => artifacts?.length), [undefined, undefined, undefined, 1]);
});

Deno.test("a push names a file of more than 256 KiB, and carries the others [SM6 body]", async () => {
  await using made = await startPushPeer();
  const { id } = await made.sendWith("file: large.bin 262145 bytes\nfile: small.bin 262144 bytes");
  await made.told(["1 submitted", "2 working", "3 completed"]);
  const filesOf = ({ artifacts }: TaskJson) =>
    artifacts!.flatMap(({ parts }) => parts).filter(({ filename }) => filename !== undefined);
  const bytesOf = ({ raw }: PartJson) => typeof raw === "string" ? atob(raw).length : undefined;
  const files = filesOf(pushedTask(made.outbound.requests.at(-1)!));
  deepStrictEqual(files.map((part) => [part.filename, bytesOf(part), part.data]), [
    ["large.bin", undefined, { "volcanic.omitted": { bytes: 262_145 } }],
    ["small.bin", 262_144, undefined],
  ]);
  deepStrictEqual(filesOf(await made.task(id)).map(bytesOf), [262_145, 262_144]);
});

Deno.test("who closes its stream is pushed the rest [case 34, §5.7 inline]", async () => {
  for (const binding of bindings) {
    await using made = await startPushPeer();
    const configuration = { taskPushNotificationConfig: { url: hookUrl } };
    const sent = { ...textMessage("wait: 1m\nIt is done"), configuration };
    const stream = await made.open("SendStreamingMessage", sent, { binding });
    const reader = stream.body!.getReader();
    await reader.read();
    await reader.cancel();
    await made.clock.advance(minuteMs);
    await made.told(["1 submitted", "2 working", "3 completed"]);
    deepStrictEqual(pushedTask(made.outbound.requests.at(-1)!).artifacts?.[0]?.parts, [{ text: "It is done" }]);
  }
});

Deno.test("a webhook that is set anew under its id goes on at its new address alone; one that is deleted is told no more [§5.7 config-methods, SM6 gone]", async () => {
  await using made = await startPushPeer();
  const moved = "https://hooks.example.com/moved";
  made.outbound.answer(moved, { status: 200 });
  const { id: taskId } = await made.sendWith("wait: 1m\nIt is done", { id: "p" });
  await made.told(["1 submitted", "2 working"]);
  await made.call("CreateTaskPushNotificationConfig", { taskId, id: "p", url: moved });
  await made.call("CreateTaskPushNotificationConfig", { taskId, id: "q", url: hookUrl });
  const before = ["1 submitted", "2 working", "2 working"];
  await made.told(before);
  await made.told(["2 working"], moved);
  await made.call("DeleteTaskPushNotificationConfig", { taskId, id: "q" });
  await made.clock.advance(minuteMs);
  await made.told(before);
  await made.told(["2 working", "3 completed"], moved);
});

const refusedUrls = ["http://hooks.example.com/a", "https://10.0.0.1/a", "https://169.254.169.254/", "https://[::1]/"];

Deno.test("a webhook that is refused is asked for nothing, and its message starts no task [§5.7 url-judged, case 31]", async () => {
  for (const binding of bindings) {
    await using made = await startPushPeer();
    const { id: taskId } = await made.send("hang");
    for (const url of refusedUrls) {
      const calls = [
        ["CreateTaskPushNotificationConfig", { taskId, url }],
        ["SendMessage", { ...textMessage("hi"), configuration: { taskPushNotificationConfig: { url } } }],
        ["SendStreamingMessage", { ...textMessage("hi"), configuration: { taskPushNotificationConfig: { url } } }],
      ] as const;
      for (const [method, params] of calls) {
        const reply = await made.call(method, params, { binding });
        deepStrictEqual(reply.kind === "error" && reply.reason, "INVALID_PARAMS");
      }
    }
    await made.clock.advance(minuteMs);
    deepStrictEqual(made.outbound.requests, []);
    const listed = await made.call("ListTasks", {}, { binding }) as { result: { totalSize: number } };
    strictEqual(listed.result.totalSize, 1);
  }
});
