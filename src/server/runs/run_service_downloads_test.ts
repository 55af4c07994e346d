import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { filesBelow } from "@tests/fakes/download_setting.ts";
import { alice, briefly, makeRuns, type RunFixture, statusText } from "@tests/fakes/run_service_fixture.ts";
import type { TaskId } from "@/protocol/ids.ts";

const url = "https://files.example/report.pdf";
const never = new Promise(() => {});

Deno.test("a file by URL is fetched before the turn, and the engine is told where it is, all parts in order [§5.6 url-fetched, §5.6 url-as-sent]", async () => {
  await using made = await makeRuns();
  const head = Promise.withResolvers<void>();
  made.outbound.answer(url, { hold: head.promise, headers: { "content-type": "text/csv" }, body: "1,2" });
  const parts = [{ text: "see" }, { url, metadata: { a: 1 } }, { raw: btoa("x"), filename: "report.pdf" }, { data: 1 }];
  using accepted = await made.send("", { parts });
  const { id } = accepted.task;
  await made.clock.settle();
  deepStrictEqual([await made.state(id), made.sessions.turns.length], ["working", 0]);
  head.resolve();
  const { request } = await made.sessions.next();
  const folder = `inbox/alice/${id}`;
  deepStrictEqual(request.text.split("\n"), [
    ...["see", `[file ${folder}/report-2.pdf, 3 bytes, text/csv]`],
    ...[`[file ${folder}/report.pdf, 1 bytes, application/pdf]`, "1"],
  ]);
  deepStrictEqual(request.files.map(({ path, bytes }) => [path, bytes]), [
    ...[[`${folder}/report-2.pdf`, 3], [`${folder}/report.pdf`, 1]],
  ]);
  deepStrictEqual(await inbox(made), { [`alice/${id}/report.pdf`]: "x", [`alice/${id}/report-2.pdf`]: "1,2" });
  const { history } = (await made.record(id)).task;
  deepStrictEqual(history?.[0]?.parts[1], { url, metadata: { a: 1 } });
});

Deno.test("a file that cannot be fetched fails the task before any turn, and nothing of it is left [§5.6 url-failed, SM3 opening-downloads]", async () => {
  await using made = await makeRuns();
  made.outbound.answer(url, { body: "x" });
  const missing = "https://internal.example/secret/b.txt?key=k";
  using accepted = await made.send("", { parts: [{ text: "see" }, { url }, { url: missing, filename: "b.txt" }] });
  const task = await accepted.settled();
  strictEqual(statusText(task), 'Cannot fetch file "b.txt": it cannot be reached or is not allowed');
  deepStrictEqual(await briefly(accepted.events), ["task working", "failed"]);
  deepStrictEqual([made.sessions.turns.length, await inbox(made)], [0, { "alice/": "" }]);
});

Deno.test("a file that is lost in the disk's failure fails the task without a word of the cause", async () => {
  await using made = await makeRuns();
  made.outbound.answer(url, { body: "x" });
  made.disk.rule({ on: "flush", path: "/inbox/", code: "EIO" });
  using accepted = await made.send("", { parts: [{ url }] });
  strictEqual(statusText(await accepted.settled()), "The run failed unexpectedly.");
  strictEqual(made.outbound.open, 0);
});

Deno.test("a message with a file that is too large is not worth a fetch [§5.6 url-limits]", async () => {
  await using made = await makeRuns({ limits: { fileBytesMax: 10 } });
  using accepted = await made.send("", { parts: [{ url }, { raw: btoa("x".repeat(11)), filename: "big.bin" }] });
  strictEqual(statusText(await accepted.settled()), 'file "big.bin" has 11 bytes, the limit is 10');
  strictEqual(made.outbound.requests.length, 0);
});

Deno.test("no limit of a file is no limit of a fetched one either, but for that of its message [§5.6 url-limits]", async () => {
  await using made = await makeRuns({ limits: { fileBytesMax: Infinity } });
  made.outbound.answer(url, { body: "x" });
  using _ = await made.send("", { parts: [{ url }] });
  await made.sessions.next();
  strictEqual(made.outbound.requests[0]?.bytesMax, 256 * 1024 * 1024);
});

const moments = {
  "the head is awaited": { hold: never },
  "the body comes": { body: ["half", never, "whole"] },
} as const;

for (const [moment, answer] of Object.entries(moments)) {
  Deno.test(`a cancel while ${moment} ends the download at once, and its context is free [§5.6 url-abort]`, async () => {
    await using made = await makeRuns();
    made.outbound.answer(url, answer);
    using accepted = await made.send("", { contextId: "c", parts: [{ url }] });
    await made.clock.settle();
    strictEqual(made.outbound.open, 1);
    const canceled = await made.cancel(accepted.task.id);
    ok(canceled.kind === "canceled");
    strictEqual(made.outbound.open, 0);
    using next = await made.send("next", { contextId: "c" });
    strictEqual(next.task.status.state, "TASK_STATE_WORKING");
    strictEqual((await made.sessions.next()).request.text, "next");
    deepStrictEqual([made.clock.elapsed(), await inbox(made)], [
      0,
      answer === moments["the body comes"] ? { "alice/": "" } : {},
    ]);
    deepStrictEqual(await briefly(accepted.events), ["task working", "canceled"]);
    strictEqual(made.sessions.killed.length, 0);
  });
}

Deno.test("the deadline of a run ends its download, and says so [§5.6 url-abort, §7 run-timeout]", async () => {
  await using made = await makeRuns({ limits: { runMs: 20_000 } });
  made.outbound.answer(url, { hold: never });
  using accepted = await made.send("", { parts: [{ url }] });
  await made.clock.advance(20_000);
  strictEqual(statusText(await accepted.settled()), "stopped after 20 s");
  deepStrictEqual([made.outbound.open, made.sessions.turns.length], [0, 0]);
});

Deno.test("drain gives a download its grace, then ends it as a restart would [§5.6 url-abort, SM3 drain]", async () => {
  await using made = await makeRuns();
  made.outbound.answer(url, { hold: never }, { body: [made.clock.sleep(9_000), "x"] });
  using late = await made.send("", { parts: [{ url }] });
  using soon = await made.send("", { parts: [{ url }] });
  await made.clock.settle();
  const draining = made.runs.drain(10_000);
  await made.clock.advance(9_000);
  (await made.sessions.next()).answer("in time");
  strictEqual((await soon.settled()).status.state, "TASK_STATE_COMPLETED");
  await made.clock.advance(1_000);
  await draining;
  strictEqual(statusText((await made.record(late.task.id)).task), "server restarted");
  deepStrictEqual([made.outbound.open, made.clock.elapsed()], [0, 10_000]);
});

Deno.test("a download that ignores its abort is left after 5 s, and comes to nothing when it ends [SM3 stopping-killed, §5.6 url-whole]", async () => {
  await using made = await makeRuns();
  const rest = Promise.withResolvers<void>();
  made.outbound.answer(url, { body: ["half", rest.promise, "whole"], isDeaf: true });
  using accepted = await made.send("", { contextId: "c", parts: [{ url }] });
  await made.clock.settle();
  await made.cancel(accepted.task.id);
  const next = made.send("next", { contextId: "c" });
  await made.clock.advance(4_999);
  strictEqual(made.sessions.turns.length, 0);
  await made.clock.advance(1);
  using continued = await next;
  strictEqual(continued.task.status.state, "TASK_STATE_WORKING");
  (await made.sessions.next()).answer("done");
  await continued.settled();
  rest.resolve();
  await made.clock.settle();
  deepStrictEqual([made.sessions.turns.length, made.outbound.open, await inbox(made)], [1, 0, { "alice/": "" }]);
  deepStrictEqual([made.sessions.killed.length, made.counters.snapshot()["runs.killed"]], [0, 0]);
});

Deno.test("a queued run fetches when it begins, and not before [SM3 opening-downloads]", async () => {
  await using made = await makeRuns({ limits: { runsMax: 1 } });
  made.outbound.answer(url, { body: "x" });
  using first = await made.send("first");
  using queued = await made.send("", { parts: [{ url }] });
  await made.clock.settle();
  deepStrictEqual([await made.state(queued.task.id), made.outbound.requests.length], ["submitted", 0]);
  (await made.sessions.next()).answer("done");
  await first.settled();
  strictEqual((await made.sessions.next()).request.files.length, 1);
});

Deno.test("an answer to a question may bring files by URL, beside those of earlier messages", async () => {
  await using made = await makeRuns();
  made.outbound.answer(url, { body: "1" }, { body: "2" });
  using accepted = await made.send("", { parts: [{ url }] });
  const { id } = accepted.task;
  (await made.sessions.next()).ask("Another?");
  await accepted.settled();
  using _ = await made.send("", { taskId: id, parts: [{ url }] });
  const { request } = await made.sessions.next();
  strictEqual(request.text, `[file inbox/alice/${id}/report-2.pdf, 1 bytes, application/pdf]`);
  deepStrictEqual(await inbox(made), { [`alice/${id}/report.pdf`]: "1", [`alice/${id}/report-2.pdf`]: "2" });
});

Deno.test("an answer with a file that cannot be fetched leaves those of earlier messages [§5.6 url-whole]", async () => {
  await using made = await makeRuns();
  made.outbound.answer(url, { body: "1" }, { status: 404 });
  using accepted = await made.send("", { parts: [{ url }] });
  const { id } = accepted.task;
  (await made.sessions.next()).ask("Another?");
  await accepted.settled();
  using continued = await made.send("", { taskId: id, parts: [{ url }] });
  strictEqual(statusText(await continued.settled()), 'Cannot fetch file "report.pdf": it answered 404');
  deepStrictEqual(await inbox(made), { [`alice/${id}/report.pdf`]: "1" });
});

Deno.test("with less room than the floor a message with a URL is refused, and one accepted before it fails [§5.6 url-room, §5.5 disk-full-refused]", async () => {
  let isRoomLeft = true;
  await using made = await makeRuns({ isRoomLeft: () => isRoomLeft });
  using asked = await made.send("hello");
  (await made.sessions.next()).ask("Which?");
  await asked.settled();
  const head = Promise.withResolvers<void>();
  made.outbound.answer(url, { hold: head.promise, body: "x" });
  using accepted = await made.send("", { parts: [{ url }] });
  isRoomLeft = false;
  const refused = await made.submit("", { taskId: asked.task.id, parts: [{ url }] });
  strictEqual(refused.kind === "refused" && refused.why, "storage full");
  strictEqual(await made.state(asked.task.id), "input-required");
  head.resolve();
  strictEqual(statusText(await accepted.settled()), 'Cannot fetch file "report.pdf": no room is left to store it');
});

Deno.test("a removed caller's downloads end at once [§5.6 url-abort]", async () => {
  await using made = await makeRuns();
  made.outbound.answer(url, { hold: never });
  using accepted = await made.send("", { parts: [{ url }] });
  await made.clock.settle();
  await made.runs.expel(alice);
  strictEqual(made.outbound.open, 0);
  strictEqual(await made.state(accepted.task.id as TaskId), "canceled");
});

/** All that is in the inbox, with its text. */
async function inbox({ paths, clock }: RunFixture): Promise<Record<string, string>> {
  await clock.settle();
  return await Deno.stat(paths.inbox).then(() => filesBelow(paths.inbox), () => ({}));
}
