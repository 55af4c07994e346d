import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { after, answered, asked, sampleRun, sampleTask, started } from "@tests/fakes/sample_tasks.ts";
import type { StreamJson } from "@/protocol/task.ts";
import { partCharsMax } from "./lifecycle.ts";
import { taskEvents } from "./task_events.ts";
import { TaskFeed } from "./task_feed.ts";
import type { Fence, TaskRecord } from "./task_record.ts";

const record = sampleTask({ working: true });
const never = new AbortController().signal;
const artifact = { artifactId: "f1", name: "a.txt", parts: [{ raw: "QQ==" }] };
const note = (from: number, text: string) => ({ taskId: record.task.id, artifactId: "response", from, text });

function follow(until: "settled" | "terminal" = "terminal", from = record) {
  const feed = new TaskFeed();
  return { feed, events: taskEvents(feed.follow(from, never), until) };
}

/** `task WORKING`, `append+ "text" last`, `file f1`, `status WORKING`. */
function brief(event: StreamJson): string {
  if ("task" in event) return `task ${short(event.task.status.state)}`;
  if ("statusUpdate" in event) return `status ${short(event.statusUpdate.status.state)}`;
  const { artifact, append, lastChunk } = event.artifactUpdate;
  const name = artifact.artifactId === "response" ? "" : `${artifact.artifactId} `;
  const text = artifact.parts.map((part) => part.text ?? "").join("");
  return `${name}append${append ? "+" : "-"} "${text}"${lastChunk ? " last" : ""}`;
}

const short = (state: string) => state.replace("TASK_STATE_", "");

async function all(events: AsyncIterable<StreamJson>): Promise<string[]> {
  const got: string[] = [];
  for await (const event of events) got.push(brief(event));
  return got;
}

const after1 = async (events: AsyncIterator<StreamJson>) => brief((await events.next()).value);

Deno.test("taskEvents() gives the task, the text as it comes, its last chunk, then the status [§5.5 last-chunk, SM1 T3, SM1 T6]", async () => {
  const { feed, events } = follow();
  const got = [await after1(events)];
  for (const [from, text] of [[0, "Hel"], [3, "lo"]] as const) {
    feed.progress(note(from, text));
    got.push(await after1(events));
  }
  feed.publish(answered(record, "Hello!"));
  got.push(...await all(events));
  deepStrictEqual(got, [
    "task WORKING",
    'append- "Hel"',
    'append+ "lo"',
    'append+ "!" last',
    "status COMPLETED",
  ]);
});

Deno.test("taskEvents() shows a reply that was not streamed as one last chunk [§5.5 last-chunk]", async () => {
  const { feed, events } = follow();
  feed.publish(answered(record, "Done"));
  deepStrictEqual(await all(events), ["task WORKING", 'append- "Done" last', "status COMPLETED"]);
});

Deno.test("taskEvents() starts each message of the assistant with append:false [§5.5 new-message-replaces]", async () => {
  const { feed, events } = follow();
  const got = [await after1(events)];
  for (const [from, text] of [[0, "Let me "], [7, "see"], [0, "It is"], [5, " 4"]] as const) {
    feed.progress(note(from, text));
    got.push(await after1(events));
  }
  feed.publish(answered(record, "It is 4"));
  got.push(...await all(events));
  deepStrictEqual(got.slice(1), [
    'append- "Let me "',
    'append+ "see"',
    'append- "It is"',
    'append+ " 4"',
    'append+ "" last',
    "status COMPLETED",
  ]);
});

Deno.test("taskEvents() gives a slow reader fewer, longer chunks, of the last message only [§5.5 subscribers-are-cursors]", async () => {
  const { feed, events } = follow();
  feed.progress(note(0, "Let me see"));
  for (let n = 0; n < 10_000; n++) feed.progress(note(n, "x"));
  feed.publish(answered(record, "x".repeat(10_000)));
  const got = await all(events);
  deepStrictEqual(got, ["task WORKING", `append- "${"x".repeat(10_000)}"`, 'append+ "" last', "status COMPLETED"]);
});

Deno.test("taskEvents() shows a file when it is sent, between the texts around it [SM1 T4]", async () => {
  const { feed, events } = follow();
  feed.progress(note(0, "Here"));
  const sent = after(record, { kind: "file sent", runId: record.run!.runId, artifact });
  feed.publish(sent);
  feed.progress(note(4, " it is"));
  feed.publish(answered(sent, "Here it is"));
  deepStrictEqual(await all(events), [
    "task WORKING",
    'append- "Here"',
    'f1 append- "" last',
    'append+ " it is"',
    'append+ "" last',
    "status COMPLETED",
  ]);
});

const runId = record.run!.runId;
const ends: readonly { id: string; name: string; end: TaskRecord; gives: readonly string[] }[] = [
  {
    id: "T5",
    name: "a question with text",
    end: after(record, { kind: "asked", runId, question: "?", text: "So far" }),
    gives: ['append+ "" last', "status INPUT_REQUIRED"],
  },
  { id: "T5", name: "a question without text", end: asked(record), gives: ["status INPUT_REQUIRED"] },
  {
    id: "T7",
    name: "an answer with nothing",
    end: after(record, { kind: "answered", runId, text: "", truncated: false, files: 0 }),
    gives: ["status FAILED"],
  },
  {
    id: "T8",
    name: "a failure",
    end: after(record, { kind: "failed", runId, message: "no" }),
    gives: ["status FAILED"],
  },
  {
    id: "T10",
    name: "a cancel, though its text was kept",
    end: after(record, { kind: "cancel asked", text: "So far" }),
    gives: ["status CANCELED"],
  },
  { id: "T14", name: "a lost host", end: after(record, { kind: "host lost" }), gives: ["status FAILED"] },
  { id: "T15", name: "an expulsion", end: after(record, { kind: "caller removed" }), gives: ["status CANCELED"] },
];
for (const { id, name, end, gives } of ends) {
  Deno.test(`taskEvents() gives what belongs to ${name}, and no more [SM1 ${id}]`, async () => {
    const { feed, events } = follow("settled");
    const got = [await after1(events)];
    feed.progress(note(0, "So far"));
    got.push(await after1(events));
    feed.publish(end);
    got.push(...await all(events));
    deepStrictEqual(got, ["task WORKING", 'append- "So far"', ...gives]);
    strictEqual(feed.followers, 0);
  });
}

Deno.test("taskEvents() goes on over a question until terminal, and replaces the text of the run before [SM1 T11, §5.5 response]", async () => {
  const { feed, events } = follow("terminal");
  const question = after(record, { kind: "asked", runId, question: "?", text: "First" });
  feed.publish(question);
  const message = { messageId: "m2", role: "ROLE_USER" as const, parts: [] };
  const queued = after(question, { kind: "message", message, run: sampleRun({ n: 2 }) });
  feed.publish(queued);
  const working = started(queued);
  feed.publish(working);
  feed.progress(note(0, "Second"));
  feed.publish(answered(working, "Second"));
  deepStrictEqual(await all(events), [
    "task WORKING",
    'append- "First" last',
    "status INPUT_REQUIRED",
    "status SUBMITTED",
    "status WORKING",
    'append- "Second"',
    'append+ "" last',
    "status COMPLETED",
  ]);
});

Deno.test("taskEvents() sends the same text of a later run again", async () => {
  const question = after(record, { kind: "asked", runId, question: "?", text: "Same" });
  const message = { messageId: "m2", role: "ROLE_USER" as const, parts: [] };
  const run = { ...sampleRun({ n: 2 }), startedAt: record.createdAt };
  const working = after(question, { kind: "message", message, run });
  const { feed, events } = follow("terminal", working);
  feed.publish(answered(working, "Same"));
  deepStrictEqual((await all(events)).slice(1), ['append- "Same" last', "status COMPLETED"]);
});

Deno.test("taskEvents() says nothing when a run is queued again [SM1 T13]", async () => {
  const queued = sampleTask();
  const { feed, events } = follow("terminal", queued);
  const again = after(queued, { kind: "queued again", fence: 2 as Fence });
  feed.publish(again);
  feed.publish(after(again, { kind: "cancel asked" }));
  deepStrictEqual(await all(events), ["task SUBMITTED", "status CANCELED"]);
});

const settled: readonly { name: string; record: TaskRecord }[] = [
  { name: "terminal", record: answered(record) },
  { name: "waiting for its caller", record: asked(record) },
];
for (const { name, record } of settled) {
  Deno.test(`taskEvents() gives only the task when it is ${name} already, until settled`, async () => {
    const { feed, events } = follow("settled", record);
    deepStrictEqual(await all(events), [`task ${short(record.task.status.state)}`]);
    strictEqual(feed.followers, 0);
  });
}

Deno.test("taskEvents() leaves the store when its reader leaves, waiting or not", async () => {
  const { feed, events } = follow();
  await events.next();
  const waiting = events.next();
  await events.return?.();
  ok((await waiting).done);
  ok((await events.next()).done);
  strictEqual(feed.followers, 0);
});

Deno.test("taskEvents() spreads a long text over parts of 1 Mi characters", async () => {
  const { feed, events } = follow();
  await events.next();
  feed.publish(answered(record, "x".repeat(partCharsMax + 1)));
  const { value } = await events.next();
  deepStrictEqual(value.artifactUpdate.artifact.parts.map((part: { text: string }) => part.text.length), [
    partCharsMax,
    1,
  ]);
  await events.return?.();
});
