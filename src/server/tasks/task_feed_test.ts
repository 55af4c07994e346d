import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { after, answered, asked, brief, sampleId, sampleRun, sampleTask, started } from "@tests/fakes/sample_tasks.ts";
import { TaskFeed } from "./task_feed.ts";
import type { FollowItem } from "./task_store.ts";

const record = sampleTask({ working: true });
const { id } = record.task;
const never = new AbortController().signal;
const note = (from: number, text: string) => ({ taskId: id, artifactId: "response", from, text });

/** What a follower has ready now, without waiting for more. */
async function ready(items: AsyncIterator<FollowItem>): Promise<string[]> {
  const got: string[] = [];
  while (true) {
    const next = items.next();
    const item = await Promise.race([next, turns(20)]);
    if (item === undefined) {
      held.push(next);
      return got;
    }
    if (item.done) return [...got, "end"];
    got.push(brief(item.value));
  }
}

/** Reads that still wait: they are answered first. */
const held: Promise<unknown>[] = [];

async function turns(count: number): Promise<undefined> {
  for (let turn = 0; turn < count; turn++) await Promise.resolve();
}

async function rest(items: AsyncIterable<FollowItem>): Promise<string[]> {
  const got: string[] = [];
  for await (const item of items) got.push(brief(item));
  return got;
}

Deno.test("TaskFeed gives a follower the record first, then all in order, and ends [§5.5 in-order-once]", async () => {
  const feed = new TaskFeed();
  const items = feed.follow(sampleTask(), never);
  feed.publish(record);
  feed.progress(note(0, "Hel"));
  feed.progress(note(3, "lo"));
  feed.publish(answered(record));
  deepStrictEqual(await rest(items), ["SUBMITTED", "WORKING", "0:Hello", "COMPLETED"]);
  strictEqual(feed.followers, 0);
});

Deno.test("TaskFeed shows text to a fast follower as it comes [§5.5 partial-text]", async () => {
  const feed = new TaskFeed();
  const items = feed.follow(record, never);
  const got: string[] = [];
  for (const [from, text] of [[0, "He"], [2, "l"], [3, "lo"]] as const) {
    got.push(brief((await items.next()).value));
    feed.progress(note(from, text));
  }
  got.push(brief((await items.next()).value));
  deepStrictEqual(got, ["WORKING", "0:He", "2:l", "3:lo"]);
  await items.return?.();
});

Deno.test("TaskFeed merges text for a slow follower into one item each record [§5.5 subscribers-are-cursors]", async () => {
  const feed = new TaskFeed();
  const items = feed.follow(record, never);
  let now = record;
  for (let n = 0; n < 3000; n++) {
    feed.progress(note(n, "x"));
    if (n === 999) {
      const artifact = { artifactId: "f1", parts: [] };
      feed.publish(now = after(now, { kind: "file sent", runId: now.run!.runId, artifact }));
    }
  }
  feed.publish(answered(now));
  const [first, before, file, behind, end, ...more] = await rest(items);
  deepStrictEqual([first, file, end, more], ["WORKING", "WORKING", "COMPLETED", []]);
  deepStrictEqual([before, behind], [`0:${"x".repeat(1000)}`, `1000:${"x".repeat(2000)}`]);
});

Deno.test("TaskFeed starts a new message from 0, and a slow follower gets only the last [§5.5 new-message-replaces]", async () => {
  const feed = new TaskFeed();
  const fast = feed.follow(record, never);
  const slow = feed.follow(record, never);
  await fast.next();
  feed.progress(note(0, "Thinking"));
  const seen = [brief((await fast.next()).value)];
  feed.progress(note(0, "It"));
  feed.progress(note(2, " is"));
  seen.push(brief((await fast.next()).value));
  feed.publish(answered(record));
  deepStrictEqual([seen, await rest(fast)], [["0:Thinking", "0:It is"], ["COMPLETED"]]);
  deepStrictEqual(await rest(slow), ["WORKING", "0:It is", "COMPLETED"]);
});

Deno.test("TaskFeed shows a late follower the text so far, and nothing of an earlier run [§5.5 partial-text]", async () => {
  const feed = new TaskFeed();
  feed.progress(note(0, "So far"));
  strictEqual(feed.text(id), "So far");
  const late = feed.follow(record, never);
  deepStrictEqual(await ready(late), ["WORKING", "0:So far"]);
  const question = asked(record);
  feed.publish(question);
  strictEqual(feed.text(id), "");
  const later = feed.follow(question, never);
  const message = { messageId: "m2", role: "ROLE_USER" as const, parts: [] };
  const run = { ...sampleRun({ n: 2 }), startedAt: record.createdAt };
  feed.publish(after(question, { kind: "message", message, run }));
  feed.progress(note(0, "Again"));
  feed.close();
  deepStrictEqual(await ready(later), ["end"]);
});

Deno.test("TaskFeed takes text only where it continues", async () => {
  const feed = new TaskFeed();
  feed.progress(note(5, "lost its beginning"));
  strictEqual(feed.text(id), "");
  const items = feed.follow(record, never);
  feed.progress(note(5, "lost its beginning"));
  feed.progress(note(0, "Hello"));
  feed.progress(note(3, "twice"));
  feed.progress(note(9, "a hole"));
  feed.progress(note(5, " you"));
  deepStrictEqual(await ready(items), ["WORKING", "0:Hello you"]);
  feed.close();
});

Deno.test("TaskFeed gives all followers the same, each at its own pace [§5.5 in-order-once]", async () => {
  const feed = new TaskFeed();
  const followers = [1, 2, 3].map(() => feed.follow(sampleTask(), never));
  strictEqual(feed.followers, 3);
  const fast = rest(followers[0]!);
  const working = started(sampleTask());
  feed.publish(working);
  feed.publish(asked(working));
  feed.publish(after(asked(working), { kind: "cancel asked" }));
  const all = [await fast, await rest(followers[1]!), await rest(followers[2]!)];
  for (const one of all) deepStrictEqual(one, ["SUBMITTED", "WORKING", "INPUT_REQUIRED", "CANCELED"]);
});

Deno.test("TaskFeed answers a reader that asks for several items at once", async () => {
  const feed = new TaskFeed();
  const items = feed.follow(sampleTask(), never);
  const asks = [items.next(), items.next(), items.next(), items.next()];
  feed.publish(started(sampleTask()));
  await turns(9);
  feed.publish(answered(started(sampleTask())));
  const got = (await Promise.all(asks)).map((item) => item.done ? "end" : brief(item.value));
  deepStrictEqual(got, ["SUBMITTED", "WORKING", "COMPLETED", "end"]);
});

Deno.test("TaskFeed ends a follower of a terminal task after its record", async () => {
  const feed = new TaskFeed();
  deepStrictEqual(await rest(feed.follow(answered(record), never)), ["COMPLETED"]);
  strictEqual(feed.followers, 0);
});

const ends: readonly {
  name: string;
  end: (feed: TaskFeed, stop: AbortController, items: AsyncIterator<unknown>) => void;
}[] = [
  { name: "an abort", end: (_, stop) => stop.abort() },
  { name: "a return", end: (_, __, items) => void items.return?.() },
  { name: "a removal", end: (feed) => feed.removed(id) },
  { name: "a close", end: (feed) => feed.close() },
];
for (const { name, end } of ends) {
  Deno.test(`TaskFeed ends a follower by ${name}, waiting or not, and keeps nothing of it`, async () => {
    const feed = new TaskFeed();
    const stop = new AbortController();
    const listeners = countListeners(stop.signal);
    const idle = feed.follow(record, stop.signal);
    const waiting = feed.follow(record, stop.signal);
    await waiting.next();
    const next = waiting.next();
    await turns(5);
    end(feed, stop, idle);
    if (name === "a return") end(feed, stop, waiting);
    deepStrictEqual([await idle.next(), await next], Array(2).fill({ done: true, value: undefined }));
    deepStrictEqual([feed.followers, listeners.count], [0, 0]);
    feed.publish(answered(record));
    ok((await waiting.next()).done);
  });
}

Deno.test("TaskFeed keeps no listener of a follower whose task ended [§5.5 subscribers-are-cursors]", async () => {
  const feed = new TaskFeed();
  const stop = new AbortController();
  const listeners = countListeners(stop.signal);
  const items = feed.follow(record, stop.signal);
  strictEqual(listeners.count, 1);
  feed.publish(answered(record));
  deepStrictEqual([listeners.count, feed.followers], [0, 0]);
  deepStrictEqual(await rest(items), ["WORKING", "COMPLETED"]);
});

Deno.test("TaskFeed follow() ends at once when its signal is aborted already", async () => {
  const feed = new TaskFeed();
  deepStrictEqual(await rest(feed.follow(record, AbortSignal.abort())), []);
  strictEqual(feed.followers, 0);
});

Deno.test("TaskFeed tells followers of one task nothing of another", async () => {
  const feed = new TaskFeed();
  const items = feed.follow(record, never);
  feed.publish(answered(sampleTask({ n: 2, working: true })));
  feed.progress({ ...note(0, "other"), taskId: sampleId(2) });
  deepStrictEqual(await ready(items), ["WORKING"]);
  feed.close();
});

function countListeners(signal: AbortSignal): { readonly count: number } {
  let count = 0;
  const { addEventListener, removeEventListener } = AbortSignal.prototype;
  const known = new Set<unknown>();
  Object.assign(signal, {
    addEventListener(...args: Parameters<typeof addEventListener>) {
      known.add(args[1]);
      count = known.size;
      addEventListener.apply(signal, args);
      addEventListener.call(signal, "abort", () => {
        known.delete(args[1]);
        count = known.size;
      });
    },
    removeEventListener(...args: Parameters<typeof removeEventListener>) {
      known.delete(args[1]);
      count = known.size;
      removeEventListener.apply(signal, args);
    },
  });
  return {
    get count() {
      return count;
    },
  };
}
