import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { type LlmSetting, openLlm } from "@tests/fakes/llm_setting.ts";
import { memoryFiles } from "@tests/fakes/memory_files.ts";
import type { ModelRequest, ScriptedAnswer } from "@tests/fakes/model_server.ts";
import type { PastTurn } from "@/engine/engine.ts";

const summarises = ({ body }: ModelRequest) => /You summarise the older part/.test(JSON.stringify(body.messages[0]));

/** Turns of so many tokens each, by the estimate. */
function turnsOf(count: number, tokens: number): readonly PastTurn[] {
  return Array.from({ length: count }, (_, index) => ({
    ...{ from: "caller", taskId: "t0", text: "", outcome: "answered", reply: "" },
    entries: [
      { role: "user", content: `question ${index + 1} ${"x".repeat(tokens * 3.5)}` },
      { role: "assistant", content: `answer ${index + 1}` },
    ],
  }));
}

/** What was sent, in characters. */
function sizeOf(llm: LlmSetting, request: number): number {
  return JSON.stringify(llm.server.requests[request]!.body.messages).length;
}

Deno.test("llm engine summarises older turns when the context is nearly full, and goes on from the summary [§8 llm-compaction]", async () => {
  const usage = { inputTokens: 500, outputTokens: 50 };
  await using llm = await openLlm(
    (request) => summarises(request) ? { text: ["They counted."], usage } : { text: ["Ten."], usage },
    {
      turns: turnsOf(9, 1_000),
      model: { contextTokens: 10_000 },
    },
  );
  const { events, outcome, shown } = await llm.say("go on");
  deepStrictEqual(outcome, { kind: "answered", text: "Ten.", truncated: false });
  strictEqual(shown, "Ten.");
  deepStrictEqual(events.map(({ kind }) => kind), ["usage", "usage", "usage", "aside", "text", "usage", "end"]);
  deepStrictEqual(events[3], { kind: "aside", of: "notice", text: "Summarised 7 older turns to make room" });
  strictEqual(llm.summary, "They counted.");
  deepStrictEqual(llm.turns.length, 3);
  const [first, second] = llm.server.requests.filter(summarises).map(({ body }) => JSON.stringify(body.messages));
  match(first!, /question 1 .*answer 3/s);
  match(second!, /Summary so far:\\nThey counted\..*question 4/s); // the rest is folded into it
  const last = JSON.stringify(llm.server.requests.at(-1)!.body.messages);
  match(last, /A summary of the earlier part.*They counted\..*question 8 .*question 9 .*<<go on>>/s);
  ok(!last.includes("question 7"));
  await llm.reopen();
  await llm.say("and now?");
  match(
    JSON.stringify(llm.server.requests.at(-1)!.body.messages),
    /They counted\..*question 8 .*Ten\..*<<and now\?>>/s,
  );
});

Deno.test("llm engine summarises when the server says that it is too long, and calls once more [§8 llm-compaction]", async () => {
  const tooLong = {
    status: 400,
    body: JSON.stringify({ error: { message: "maximum context length is 4096 tokens" } }),
  };
  let isFirst = true;
  const script = (request: ModelRequest): ScriptedAnswer => {
    if (summarises(request)) return { text: ["In short."] };
    if (!isFirst) return { text: ["Fine."] };
    isFirst = false;
    return tooLong;
  };
  await using llm = await openLlm(script, { turns: turnsOf(6, 500), model: { contextTokens: 100_000 } });
  deepStrictEqual((await llm.say("hi")).outcome, { kind: "answered", text: "Fine.", truncated: false });
  strictEqual(llm.summary, "In short.");
  ok(sizeOf(llm, llm.server.requests.length - 1) < sizeOf(llm, 0));
  await using hopeless = await openLlm(() => tooLong, { model: { contextTokens: 100_000 } });
  const { outcome } = await hopeless.say("hi");
  deepStrictEqual(outcome?.kind === "failed" && outcome.message, "The conversation is too long for the model");
  strictEqual(hopeless.server.requests.length, 2);
});

Deno.test("llm engine leaves out the oldest turns when they cannot be summarised [§8 llm-compaction]", async () => {
  await using llm = await openLlm((request) => summarises(request) ? { status: 400 } : { text: ["Fine."] }, {
    turns: turnsOf(9, 1_000),
    model: { contextTokens: 10_000 },
  });
  const { events, outcome } = await llm.say("go on");
  deepStrictEqual(outcome, { kind: "answered", text: "Fine.", truncated: false });
  match(JSON.stringify(events[0]), /Older turns are left out: The model's server refused the request/);
  strictEqual(llm.summary, undefined);
  const last = JSON.stringify(llm.server.requests.at(-1)!.body.messages);
  ok(!last.includes("question 1 ") && last.includes("question 9 "));
});

Deno.test("llm engine leaves out old outputs when one turn alone fills the context [§8 llm-compaction]", async () => {
  const files = memoryFiles({ "big.md": "y".repeat(40_000) });
  const calls = [{ name: "read", input: { path: "big.md" } }];
  let steps = 0;
  await using llm = await openLlm(
    () => ++steps <= 6 ? { calls, usage: { inputTokens: 0, outputTokens: 1 } } : { text: ["Read."] },
    {
      tools: { files },
      model: { contextTokens: 40_000 },
    },
  );
  deepStrictEqual((await llm.say("read it")).outcome, { kind: "answered", text: "Read.", truncated: false });
  const last = JSON.stringify(llm.server.requests.at(-1)!.body.messages);
  match(last, /\[left out to save room: \d+ characters\]/);
  ok(last.includes("y".repeat(40_000))); // the newest is whole
  ok(last.length < 40_000 * 3.5);
});

const png = { bytes: new Uint8Array([137, 80, 78, 71, 1, 2, 3]), mediaType: "image/png" };
const pdf = { bytes: new TextEncoder().encode("%PDF-1.7 x"), mediaType: "application/pdf" };
const sent = [
  { path: "inbox/bob/t1/a.png", mediaType: "image/png", bytes: 7 },
  { path: "inbox/bob/t1/b.pdf", mediaType: "application/pdf", bytes: 10 },
  { path: "inbox/bob/t1/c.txt", mediaType: "text/plain", bytes: 3 },
  { path: "inbox/bob/t1/liar.png", mediaType: "image/png", bytes: 3 },
];
const inbox = { "inbox/bob/t1/a.png": png, "inbox/bob/t1/b.pdf": pdf, "inbox/bob/t1/liar.png": "not an image" };

for (
  const { dialect, shows } of [
    { dialect: "anthropic", shows: [png.bytes.toBase64(), pdf.bytes.toBase64()] },
    { dialect: "gemini", shows: [png.bytes.toBase64(), pdf.bytes.toBase64()] },
    { dialect: "responses", shows: [png.bytes.toBase64(), pdf.bytes.toBase64()] },
    { dialect: "chat", shows: [] },
  ] as const
) {
  Deno.test(`llm engine shows images and documents to models that take them, and notes only their paths, as ${dialect} has them [§8 llm-files]`, async () => {
    const files = memoryFiles(inbox);
    await using llm = await openLlm([{ text: ["Seen."] }, { text: ["Yes."] }], { dialect, tools: { files } });
    await llm.say("look", { files: sent });
    const body = JSON.stringify(llm.server.requests[0]!.body);
    for (const data of [png.bytes.toBase64(), pdf.bytes.toBase64()]) {
      strictEqual(body.includes(data), (shows as readonly string[]).includes(data));
    }
    ok(!JSON.stringify(llm.turns[0]!.entries).includes(png.bytes.toBase64()));
    await llm.say("did you see it?");
    const second = JSON.stringify(llm.server.requests[1]!.body);
    strictEqual(second.includes("a.png, image/png: it was shown here"), shows.length > 0);
    ok(!second.includes(png.bytes.toBase64()));
  });
}

Deno.test("llm engine shows an image that the model reads behind the results, or says that it cannot [§8 llm-files]", async () => {
  const files = memoryFiles({ "a.png": png });
  const script = [{ calls: [{ name: "read", input: { path: "a.png" } }] }, { text: ["A cat."] }];
  const open = (images: boolean) =>
    openLlm(script, { tools: { files }, model: { files: { images, documents: false } } });
  await using seeing = await open(true);
  strictEqual((await seeing.say("what is it?")).shown, "A cat.");
  const messages = seeing.server.requests[1]!.body.messages;
  deepStrictEqual(messages.slice(-2).map(({ role }: { role: string }) => role), ["tool", "user"]);
  match(JSON.stringify(messages.at(-1)), /data:image\/png;base64,/);
  await using blind = await open(false);
  await blind.say("what is it?");
  match(
    JSON.stringify(blind.server.requests[1]!.body.messages.at(-1)),
    /a\.png is image\/png, 7 bytes: it cannot be shown to you/,
  );
});
