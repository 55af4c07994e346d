import { deepStrictEqual, match, ok, rejects, strictEqual, throws } from "node:assert/strict";
import { createTestClock, type TestClock } from "@tests/fakes/test_clock.ts";
import { systemClock } from "@/time/clock.ts";
import type { EngineEvent, PastTurn, Prompt, SessionTools, TurnOutcome } from "./engine.ts";
import { EngineUnavailable } from "./engine.ts";
import type { SessionFiles } from "./session_files.ts";
import { createFauxEngine } from "./faux_engine.ts";

interface Setting {
  readonly clock?: TestClock;
  readonly tools?: SessionTools;
  readonly turns?: readonly PastTurn[];
}

async function openFaux({ clock = createTestClock(), turns = [] }: Setting = {}) {
  const notes: unknown[] = [];
  const note = (entry: unknown) => Promise.resolve(void notes.push(entry));
  const session = await createFauxEngine({ clock }).open({
    scope: "ws-a2a-bob_1",
    trust: "isolated",
    conversation: { turns, note, compact: () => Promise.resolve() },
  });
  return { session, notes, clock };
}

function promptOf(text: string, tools: SessionTools = {}): Prompt {
  const framed = `[framed] ${text}`;
  return { runId: "r1", from: "caller", text, framed, instructions: "Be kind.", files: [], hops: 0, tools };
}

async function gather(events: AsyncIterable<EngineEvent>, into: EngineEvent[] = []): Promise<EngineEvent[]> {
  for await (const event of events) into.push(event);
  return into;
}

async function play(text: string, setting: Setting = {}): Promise<EngineEvent[]> {
  const { session } = await openFaux(setting);
  return await gather(session.turn(promptOf(text, setting.tools), new AbortController().signal));
}

const text = (text: string): EngineEvent => ({ kind: "text", text });
const end = (outcome: TurnOutcome): EngineEvent => ({ kind: "end", outcome });
const answered = (text: string, truncated = false): EngineEvent => end({ kind: "answered", text, truncated });

const asked: string[] = [];
const done = () => Promise.resolve({ kind: "done" } as const);
const refuses = () => Promise.resolve({ kind: "refused", why: "the disk quota is used up" } as const);
const allTools: SessionTools = {
  send: done,
  write: (name) => Promise.resolve({ kind: "done", path: `work/bob/${name}` }),
  notifyOwner: done,
  requestInput: (question) => void asked.push(question),
};

const noFile = { kind: "refused", why: "no such file" } as const;
const files: SessionFiles = {
  read(path) {
    if (path === "hidden") return Promise.resolve(noFile);
    if (path === "a.png") return Promise.resolve({ kind: "bytes", bytes: new Uint8Array(3), mediaType: "image/png" });
    return Promise.resolve({ kind: "text", text: `${path}, its text`, from: 1, lines: 1, isCut: false });
  },
  list: (path) =>
    Promise.resolve({ kind: "entries", names: path === "empty" ? [] : ["a/", "b"], isCut: path !== "empty" }),
  write: (path, text) =>
    Promise.resolve(path === "hidden" ? noFile : (strictEqual(text, "two words"), { kind: "done" })),
  edit: () => Promise.resolve(noFile),
  search: () => Promise.resolve(noFile),
};

const rows: readonly { name: string; message: string; tools?: SessionTools; events: readonly EngineEvent[] }[] = [
  {
    name: "echoes a message [§8 faux-echo]",
    message: "hello\n\nthere",
    events: [text("hello\n\nthere"), answered("hello\n\nthere")],
  },
  { name: "answers an empty message with nothing", message: "", events: [answered("")] },
  {
    name: "say: joins lines with a line break",
    message: "one\nsay: two\nthree",
    events: [text("one"), text("\ntwo"), text("\nthree"), answered("one\ntwo\nthree")],
  },
  {
    name: "stream: streams chunks",
    message: "stream: 3 x 4\nend",
    events: [text("1ab "), text("2ab "), text("3ab "), text("\nend"), answered("1ab 2ab 3ab \nend")],
  },
  {
    name: "message: starts anew [case 37]",
    message: "old\nmessage\nnew",
    events: [text("old"), { kind: "message" }, text("new"), answered("new")],
  },
  {
    name: "think: is an aside [case 37]",
    message: "think: hm\nyes",
    events: [{ kind: "aside", of: "reasoning", text: "hm" }, text("yes"), answered("yes")],
  },
  {
    name: "notice: is an aside [case 37]",
    message: "notice: slow",
    events: [{ kind: "aside", of: "notice", text: "slow" }, answered("")],
  },
  {
    name: "tool: shows a start and an end",
    message: "tool: search two files",
    events: [
      { kind: "tool", name: "search", phase: "start", summary: "two files" },
      { kind: "tool", name: "search", phase: "end", summary: "two files" },
      answered(""),
    ],
  },
  { name: "file: writes and sends", message: "file: a.txt hi", tools: allTools, events: [answered("")] },
  {
    name: "file: refused by write",
    message: "file: a.txt hi",
    tools: { ...allTools, write: refuses },
    events: [text("file refused: the disk quota is used up"), answered("file refused: the disk quota is used up")],
  },
  {
    name: "file: refused by send",
    message: "file: a.txt hi",
    tools: { ...allTools, send: refuses },
    events: [text("file refused: the disk quota is used up"), answered("file refused: the disk quota is used up")],
  },
  { name: "send: sends", message: "send: a.txt", tools: allTools, events: [answered("")] },
  {
    name: "send: without the tool",
    message: "send: a.txt",
    events: [
      text("send refused: there is no such tool in this session"),
      answered("send refused: there is no such tool in this session"),
    ],
  },
  {
    name: "read: answers with lines",
    message: "read: a.txt",
    tools: { files },
    events: [text("a.txt, its text"), answered("a.txt, its text")],
  },
  {
    name: "read: answers with what an image is",
    message: "read: a.png",
    tools: { files },
    events: [text("3 bytes, image/png"), answered("3 bytes, image/png")],
  },
  {
    name: "list: answers with names",
    message: "list: .",
    tools: { files },
    events: [text("a/\nb\n(it goes on)"), answered("a/\nb\n(it goes on)")],
  },
  {
    name: "list: answers with nothing",
    message: "list: empty",
    tools: { files },
    events: [text("(it is empty)"), answered("(it is empty)")],
  },
  {
    name: "read: refused",
    message: "read: hidden",
    tools: { files },
    events: [text("read refused: no such file"), answered("read refused: no such file")],
  },
  {
    name: "read: without the tool",
    message: "read: a.txt",
    events: [
      text("read refused: there is no such tool in this session"),
      answered("read refused: there is no such tool in this session"),
    ],
  },
  {
    name: "write: writes",
    message: "write: a.txt two words",
    tools: { files },
    events: [text("wrote a.txt"), answered("wrote a.txt")],
  },
  {
    name: "write: refused",
    message: "write: hidden x",
    tools: { files },
    events: [text("write refused: no such file"), answered("write refused: no such file")],
  },
  { name: "notify: tells the owner", message: "notify: x", tools: allTools, events: [answered("")] },
  {
    name: "notify: refused",
    message: "notify: x",
    tools: { notifyOwner: refuses },
    events: [text("notify refused: the disk quota is used up"), answered("notify refused: the disk quota is used up")],
  },
  {
    name: "usage: reports tokens",
    message: "usage: 5 6",
    events: [{ kind: "usage", inputTokens: 5, outputTokens: 6 }, answered("")],
  },
  {
    name: "silence: shows no text at all",
    message: "one\nstream: 5\nsilence\nthink: hm\ntwo",
    events: [{ kind: "aside", of: "reasoning", text: "hm" }, answered("")],
  },
  { name: "truncated: marks the answer", message: "cut\ntruncated", events: [text("cut"), answered("cut", true)] },
  {
    name: "ask: ends with the question",
    message: "Well.\nask: Which?\nsay: not reached",
    tools: allTools,
    events: [text("Well."), end({ kind: "asked", question: "Which?", text: "Well." })],
  },
  {
    name: "ask: without the tool goes on",
    message: "ask: Which?",
    events: [
      text("ask refused: there is no such tool in this session"),
      answered("ask refused: there is no such tool in this session"),
    ],
  },
  { name: "fail: ends as failed", message: "fail: no\nsay: x", events: [end({ kind: "failed", message: "no" })] },
  { name: "drop: ends without an end", message: "half\ndrop", events: [text("half")] },
  { name: "ignore abort: goes on", message: "ignore abort\nsay: x", events: [text("x"), answered("x")] },
];

for (const { name, message, tools, events } of rows) {
  Deno.test(`faux turn() ${name} [§8 faux]`, async () => deepStrictEqual(await play(message, { tools }), events));
}

Deno.test("faux turn() asks with the session's own tool [§8 faux]", async () => {
  asked.length = 0;
  await play("ask: Which?", { tools: allTools });
  deepStrictEqual(asked, ["Which?"]);
});

Deno.test("faux turn() makes the bytes that `file` names and sends the path that `write` gave [§8 faux]", async () => {
  const calls: unknown[] = [];
  const tools: SessionTools = {
    write: (name, bytes) => {
      calls.push([name, bytes.length, bytes[250], bytes[251]]);
      return Promise.resolve({ kind: "done", path: `work/bob/${name}` });
    },
    send: (path) => {
      calls.push(path);
      return Promise.resolve({ kind: "done" });
    },
  };
  await play("file: a.bin 20000 bytes", { tools });
  deepStrictEqual(calls, [["a.bin", 20_000, 250, 0], "work/bob/a.bin"]);
});

Deno.test("faux turn() throws when the script says crash [§8 faux]", async () => {
  await rejects(play("say: x\ncrash"), /The script says crash/);
});

Deno.test("faux turn() recalls how many turns came before, and their first lines [§8 faux]", async () => {
  const turn = (text: string): PastTurn => ({ from: "caller", text, entries: [], outcome: "answered" });
  const [first] = await play("recall", { turns: [turn("hello\nmore"), turn("x".repeat(100))] });
  deepStrictEqual(first, text(`2 turns before this one\n1. hello\n2. ${"x".repeat(80)}...`));
  const [many] = await play("recall", { turns: Array.from({ length: 30 }, (_, index) => turn(`t${index + 1}`)) });
  ok(many?.kind === "text");
  match(many.text, /^30 turns before this one\n11\. t11\n/);
});

Deno.test("faux turn() shows the prompt and the instructions [§8 faux]", async () => {
  const [first] = await play("show prompt");
  deepStrictEqual(first, text("Instructions:\nBe kind.\nPrompt:\n[framed] show prompt"));
});

Deno.test("faux turn() notes an entry a tool line [DM7 entry]", async () => {
  const { session, notes } = await openFaux();
  await gather(session.turn(promptOf("tool: search two files"), new AbortController().signal));
  deepStrictEqual(notes, [{ tool: "search", summary: "two files" }]);
});

Deno.test("faux turn() waits on the clock [§8 faux]", async () => {
  const { session, clock } = await openFaux();
  const events: EngineEvent[] = [];
  const turn = gather(session.turn(promptOf("wait: 2s\nsay: x"), new AbortController().signal), events);
  await clock.advance(1999);
  deepStrictEqual(events, []);
  await clock.advance(1);
  deepStrictEqual(await turn, [text("x"), answered("x")]);
});

const aborts: readonly string[] = ["wait: 2s\nsay: x", "hang", "say: x\nsend: stuck", "file: stuck x"];
for (const message of aborts) {
  Deno.test(`faux turn() ends aborted while it is at ${JSON.stringify(message)} [SM3 turning abort]`, async () => {
    const { session, clock } = await openFaux();
    const cancel = new AbortController();
    const stuck = () => new Promise<never>(() => {});
    const turn = gather(session.turn(promptOf(message, { send: stuck, write: stuck }), cancel.signal));
    await clock.settle();
    cancel.abort();
    deepStrictEqual((await turn).at(-1), end({ kind: "aborted" }));
    strictEqual(clock.pending, 0);
  });
}

Deno.test("faux turn() ends aborted when it was aborted before [SM3 turning abort]", async () => {
  const { session } = await openFaux();
  deepStrictEqual(await gather(session.turn(promptOf("say: x"), AbortSignal.abort())), [end({ kind: "aborted" })]);
  deepStrictEqual(await gather(session.turn(promptOf(""), AbortSignal.abort())), [end({ kind: "aborted" })]);
});

Deno.test("faux turn() does not look at the signal after `ignore abort`, but waits end [§8 faux]", async () => {
  const { session, clock } = await openFaux();
  const cancel = new AbortController();
  const turn = gather(session.turn(promptOf("ignore abort\nwait: 2s\nsay: x"), cancel.signal));
  await clock.settle();
  cancel.abort();
  await clock.advance(2000);
  deepStrictEqual(await turn, [text("x"), answered("x")]);
});

for (const message of ["ignore abort\nhang", "ignore abort\nwait: 1h\nsay: x", "hang"]) {
  Deno.test(`faux kill() ends ${JSON.stringify(message)} without another event [SM4 kill]`, async () => {
    const { session, clock } = await openFaux();
    const turn = gather(session.turn(promptOf(message), new AbortController().signal));
    await clock.settle();
    session.kill();
    deepStrictEqual(await turn, []);
    strictEqual(clock.pending, 0);
    throws(() => session.turn(promptOf("x"), new AbortController().signal), /the session is closed/);
  });
}

Deno.test("faux kill() stops a stream between two chunks [SM4 kill]", async () => {
  const { session } = await openFaux();
  const events: EngineEvent[] = [];
  for await (const event of session.turn(promptOf("stream: 1000"), new AbortController().signal)) {
    if (events.push(event) === 10) session.kill();
  }
  strictEqual(events.length, 10);
});

Deno.test("faux turn() throws RangeError while another one runs, and none after it", async () => {
  const { session, clock } = await openFaux();
  const signal = new AbortController().signal;
  const first = gather(session.turn(promptOf("wait: 1s"), signal));
  throws(() => session.turn(promptOf("x"), signal), RangeError);
  await rejects(session.close(), /a turn runs/);
  await clock.advance(1000);
  await first;
  deepStrictEqual(await gather(session.turn(promptOf("x"), signal)), [text("x"), answered("x")]);
  await session.close();
  throws(() => session.turn(promptOf("x"), signal), /the session is closed/);
});

Deno.test("faux engine kills its sessions when it is disposed of and opens none after", async () => {
  const clock = createTestClock();
  const engine = createFauxEngine({ clock });
  const options = {
    scope: "ws-owner",
    trust: "owner",
    conversation: { turns: [], note: () => Promise.resolve(), compact: () => Promise.resolve() },
  } as const;
  const session = await engine.open(options);
  const turn = gather(session.turn(promptOf("hang"), new AbortController().signal));
  await clock.settle();
  await engine[Symbol.asyncDispose]();
  deepStrictEqual(await turn, []);
  await rejects(engine.open(options), EngineUnavailable);
});

Deno.test("faux turn() streams a million chunks, hears an abort in the middle, and holds little more than the text", async () => {
  const { session } = await openFaux();
  const signal = new AbortController().signal;
  let chunks = 0;
  let bytes = 0;
  let outcome: TurnOutcome | undefined;
  for await (const event of session.turn(promptOf("stream: 1000000 x 8"), signal)) {
    if (event.kind === "text") chunks++, bytes += event.text.length;
    if (event.kind === "end") outcome = event.outcome;
  }
  strictEqual(chunks, 1_000_000);
  strictEqual(bytes, 8_000_000);
  ok(outcome?.kind === "answered");
  strictEqual(outcome.text.length, 8_000_000);
  match(outcome.text, /999999a 1000000 $/);

  const cancel = new AbortController();
  const aborted = gather(session.turn(promptOf("stream: 1000000 x 8"), cancel.signal));
  await systemClock.sleep(1); // a timer comes in between: the stream lets the event loop run
  cancel.abort();
  const events = await aborted;
  ok(events.length < 1_000_000);
  deepStrictEqual(events.at(-1), end({ kind: "aborted" }));
});
