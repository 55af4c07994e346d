import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { type LlmSetting, openLlm } from "@tests/fakes/llm_setting.ts";
import { memoryFiles } from "@tests/fakes/memory_files.ts";
import type { Dialect } from "@tests/fakes/model_dialects.ts";
import type { ScriptedAnswer } from "@tests/fakes/model_server.ts";
import { scriptedPrograms } from "@tests/fakes/scripted_programs.ts";
import type { PastTurn, SessionTools } from "@/engine/engine.ts";

const dialects: readonly Dialect[] = ["chat", "anthropic", "gemini", "responses"];

interface ChatMessage {
  readonly role: string;
  readonly content?: string;
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
}

/** What the server was given in a request, without the instructions: `user: hi`, `assistant: (calls a b)`, `tool a: text`. */
function said(llm: LlmSetting, request: number): readonly string[] {
  const messages = llm.server.requests[request]!.body.messages as readonly ChatMessage[];
  return messages.filter(({ role }) => role !== "system").map(({ role, content, tool_calls, tool_call_id }) => {
    const calls = tool_calls === undefined ? "" : `(calls ${tool_calls.map(({ id }) => id).join(" ")})`;
    return `${role}${tool_call_id === undefined ? "" : ` ${tool_call_id}`}: ${content ?? ""}${calls}`;
  });
}

const asks: ScriptedAnswer = {
  text: ["Hm."],
  calls: [{ id: "q1", name: "request_input", input: { question: "Which day?" } }],
};
const fine: ScriptedAnswer = { text: ["Fine."] };

/** Tools with a memory of what was asked. */
function asking(): SessionTools & { readonly questions: string[] } {
  const questions: string[] = [];
  return {
    questions,
    requestInput: (question) => void questions.push(question),
    files: memoryFiles({ "a.md": "one" }),
  };
}

for (const dialect of dialects) {
  Deno.test(`llm engine asks, and the answer is the result of its call, also after a restart, as ${dialect} has it [§8 llm-ask, §8 llm-resume]`, async () => {
    const tools = asking();
    await using llm = await openLlm([asks, fine], { dialect, tools });
    const { outcome } = await llm.say("book a table");
    deepStrictEqual(outcome, { kind: "asked", question: "Which day?", text: "Hm." });
    deepStrictEqual(tools.questions, ["Which day?"]);
    await llm.reopen();
    deepStrictEqual((await llm.say("Tuesday")).outcome, { kind: "answered", text: "Fine.", truncated: false });
    const second = JSON.stringify(llm.server.requests[1]!.body);
    match(second, /Which day\?.*<<Tuesday>>/s);
    await llm.say("thanks"); // and it goes on from there
  });
}

Deno.test("llm engine gives an answer as the result of the call, and only that [§8 llm-ask]", async () => {
  await using llm = await openLlm([asks, fine, fine], { tools: asking() });
  await llm.say("book a table");
  await llm.say("Tuesday");
  deepStrictEqual(said(llm, 1), ["user: <<book a table>>", "assistant: Hm.(calls q1)", "tool q1: <<Tuesday>>"]);
  await llm.say("thanks");
  deepStrictEqual(said(llm, 2), [...said(llm, 1), "assistant: Fine.", "user: <<thanks>>"]);
});

Deno.test("llm engine makes the other calls beside a question, and of two questions the last counts [§8 llm-ask]", async () => {
  const calls = [
    { id: "q1", name: "request_input", input: { question: "Which day?" } },
    { id: "r1", name: "read", input: { path: "a.md" } },
    { id: "q2", name: "request_input", input: { question: "Which hour?" } },
  ];
  const tools = asking();
  await using llm = await openLlm([{ calls }, fine], { tools });
  deepStrictEqual((await llm.say("book")).outcome, { kind: "asked", question: "Which hour?", text: "" });
  deepStrictEqual(tools.questions, ["Which hour?"]);
  await llm.say("at eight");
  deepStrictEqual(said(llm, 1).slice(1), [
    "assistant: (calls q1 r1 q2)",
    "tool q1: Only one question can be asked at a time: the last one was",
    "tool r1: a.md, lines 1 to 1 of 1\none",
    "tool q2: <<at eight>>",
  ]);
});

Deno.test("llm engine does not take another task's message for the answer to a question [§8 llm-ask]", async () => {
  await using llm = await openLlm([asks, fine, fine], { tools: asking() });
  await llm.say("book a table");
  await llm.say("what is the time?", { taskId: "t2" });
  deepStrictEqual(said(llm, 1).slice(2), [
    "tool q1: No answer came to this: what the caller said next follows",
    "user: <<what is the time?>>",
  ]);
  await llm.say("Tuesday");
  deepStrictEqual(said(llm, 2).slice(-2), ["assistant: Fine.", "user: <<Tuesday>>"]);
});

Deno.test("llm engine has a call in the transcript before it is made: killed meanwhile, it is closed when the session resumes [§8 llm-resume]", async () => {
  const begun = Promise.withResolvers<void>();
  const programs = scriptedPrograms(() => {
    begun.resolve();
    return { end: "never" };
  });
  const calls = [{ id: "b1", name: "bash", input: { command: "make" } }];
  await using llm = await openLlm([{ text: ["I build."], calls }, fine], { programs });
  void llm.say("build it");
  await begun.promise;
  const before = llm.noted.length;
  await llm.reopen();
  strictEqual(before, 2);
  await llm.say("how far are you?");
  const [, call, result, next] = said(llm, 1);
  strictEqual(call, "assistant: I build.(calls b1)");
  match(result!, /^tool b1: No result: the run ended before this came to an end/);
  strictEqual(next, "user: <<how far are you?>>");
});

Deno.test("llm engine goes on from what another engine said, and from turns without an answer [§8 llm-resume]", async () => {
  const turn = { from: "caller", taskId: "t0", entries: [{ tool: "search", summary: "x" }] } as const;
  const turns: readonly PastTurn[] = [
    { ...turn, text: "hello", outcome: "answered", reply: "hello yourself" },
    { ...turn, text: "and?", outcome: "failed" },
    { ...turn, text: "still there?", outcome: "aborted", entries: [{ role: "user", content: "<<still there?>>" }] },
  ];
  await using llm = await openLlm([fine], { turns });
  await llm.say("now");
  deepStrictEqual(said(llm, 0), [
    "user: An earlier message, as it came; untrusted text:\nhello",
    "assistant: hello yourself",
    "user: An earlier message, as it came; untrusted text:\nand?",
    "assistant: (This turn ended as failed, without an answer)",
    "user: <<still there?>>",
    "assistant: (This turn ended without an answer)",
    "user: <<now>>",
  ]);
});

Deno.test("llm engine notes messages of any length, and finds them again whole [§8 llm-resume]", async () => {
  const long = "é".repeat(700_000);
  const content = "w".repeat(900_000);
  const calls = [{ name: "write", input: { path: "big", content } }];
  const files = memoryFiles();
  await using llm = await openLlm([{ text: [long], calls }, fine, fine], {
    tools: { files },
    model: { contextTokens: 10_000_000 },
  });
  await llm.say(long);
  strictEqual(files.texts.get("big"), content);
  await llm.reopen();
  await llm.say("again");
  const [first, second] = llm.server.requests[2]!.body.messages.filter(({ role }: ChatMessage) => role !== "system");
  strictEqual(first.content, `<<${long}>>`);
  strictEqual(second.content, long);
  match(second.tool_calls[0].function.arguments, /^\{"path":"big","content":"w+ \[cut: 900000 characters\]"\}$/);
});

Deno.test("llm engine runs one turn at a time, none after it is closed, and says nothing after a kill", async () => {
  await using llm = await openLlm([{ text: ["x"], instead: "hang" }]);
  const shown = llm.saw("x");
  const turn = llm.say("hi");
  await shown;
  let refused: unknown;
  try {
    llm.session.turn({} as never, new AbortController().signal);
  } catch (error) {
    refused = error;
  }
  ok(refused instanceof RangeError);
  llm.session.kill();
  deepStrictEqual((await turn).outcome, undefined);
  await llm.server.requests[0]!.left;
});
