import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { type LlmSetting, openLlm } from "@tests/fakes/llm_setting.ts";
import { memoryFiles } from "@tests/fakes/memory_files.ts";
import type { ScriptedCall } from "@tests/fakes/model_dialects.ts";
import { scriptedPrograms } from "@tests/fakes/scripted_programs.ts";
import type { SessionTools } from "@/engine/engine.ts";
import { outputBytesMax } from "@/engine/llm/output_text.ts";

const done = { text: ["Done."] };

/** What the model was given for its calls, in their order. */
function resultsIn(llm: LlmSetting, request = 1): readonly string[] {
  const messages = llm.server.requests[request]!.body.messages as readonly { role: string; content: string }[];
  return messages.filter(({ role }) => role === "tool").map(({ content }) => content);
}

/** The names of the tools that the model was told of. */
function toolsIn(llm: LlmSetting): readonly string[] {
  return (llm.server.requests[0]!.body.tools ?? []).map(({ function: { name } }: { function: { name: string } }) =>
    name
  );
}

const rows: readonly {
  readonly name: string;
  readonly call: ScriptedCall;
  readonly gives: RegExp;
}[] = [
  {
    name: "read",
    call: { name: "read", input: { path: "a.md" } },
    gives: /^a\.md, lines 1 to 3 of 3\none\ntwo\nthree$/,
  },
  {
    name: "read some lines",
    call: { name: "read", input: { path: "a.md", from: 2, count: 1 } },
    gives: /^a\.md, lines 2 to 2 of 3; there is more, read on from line 3\ntwo$/,
  },
  {
    name: "read what is refused",
    call: { name: "read", input: { path: "secret/x" } },
    gives: /secret\/x is not for you/,
  },
  { name: "write", call: { name: "write", input: { path: "b.md", content: "x" } }, gives: /^Wrote b\.md$/ },
  { name: "edit", call: { name: "edit", input: { path: "a.md", old: "two", new: "2" } }, gives: /^Changed a\.md$/ },
  {
    name: "edit nothing",
    call: { name: "edit", input: { path: "a.md", old: "zwei", new: "2" } },
    gives: /nowhere in a\.md/,
  },
  { name: "list", call: { name: "list", input: {} }, gives: /^a\.md\nbig\.md$/ },
  { name: "list nothing", call: { name: "list", input: { path: "none/" } }, gives: /^The folder is empty$/ },
  { name: "search", call: { name: "search", input: { pattern: "t[wh]" } }, gives: /^a\.md:2: two\na\.md:3: three$/ },
  { name: "search nothing", call: { name: "search", input: { pattern: "zwei" } }, gives: /^Nothing matches$/ },
  { name: "send", call: { name: "send", input: { path: "a.md" } }, gives: /^Sent a\.md$/ },
  { name: "send what is refused", call: { name: "send", input: { path: "z" } }, gives: /^Refused: there is no z$/ },
  { name: "notify_owner", call: { name: "notify_owner", input: { text: "psst" } }, gives: /^The owner is told$/ },
  { name: "a tool that there is not", call: { name: "rm_rf", input: {} }, gives: /rm_rf/ },
  { name: "input that is no JSON", call: { name: "read", input: '{"path": ' }, gives: /JSON|parse|invalid/i },
  { name: "input of another shape", call: { name: "read", input: { file: 7 } }, gives: /path|invalid/i },
];

for (const { name, call, gives } of rows) {
  Deno.test(`llm engine gives the model a result for: ${name} [§8 llm-tools]`, async () => {
    const files = memoryFiles({ "a.md": "one\ntwo\nthree\n", "big.md": "" });
    const told: string[] = [];
    const tools: SessionTools = {
      files,
      send: (path) => Promise.resolve(path === "z" ? { kind: "refused", why: "there is no z" } : { kind: "done" }),
      notifyOwner: (text) => Promise.resolve((told.push(text), { kind: "done" } as const)),
    };
    await using llm = await openLlm([{ calls: [call] }, done], { tools });
    const { outcome } = await llm.say("go");
    deepStrictEqual(outcome, { kind: "answered", text: "Done.", truncated: false });
    const results = resultsIn(llm);
    strictEqual(results.length, 1);
    match(results[0]!, gives);
    deepStrictEqual(told, call.name === "notify_owner" ? ["psst"] : []);
  });
}

Deno.test("llm engine offers the tools that a turn is lent, and says what is missing [§8 llm-tools]", async () => {
  await using bare = await openLlm([done]);
  await bare.say("hi");
  deepStrictEqual(toolsIn(bare), []);
  match(JSON.stringify(bare.server.requests[0]!.body.messages), /no bash in this session/);
  const tools: SessionTools = { files: memoryFiles(), send: () => Promise.reject(), requestInput: () => {} };
  await using llm = await openLlm([done], { tools, programs: scriptedPrograms(() => ({})) });
  await llm.say("hi");
  deepStrictEqual(toolsIn(llm).toSorted(), [
    "bash",
    "edit",
    "list",
    "read",
    "request_input",
    "search",
    "send",
    "write",
  ]);
  ok(!JSON.stringify(llm.server.requests[0]!.body.messages).includes("no bash in this session"));
});

Deno.test("llm engine makes the calls of one message at once, but changes one after another in their order [§8 llm-parallel]", async () => {
  const gate = Promise.withResolvers<void>();
  const files = memoryFiles({ "a.md": "one" }, (path) => path === "first" ? gate.promise : Promise.resolve());
  const calls = [
    { name: "write", input: { path: "first", content: "1" } },
    { name: "write", input: { path: "second", content: "2" } },
    { name: "read", input: { path: "a.md" } },
  ];
  await using llm = await openLlm([{ calls }, done], { tools: { files } });
  const seen: string[] = [];
  const turn = llm.say("go", {
    tools: {
      files: {
        ...files,
        async read(path, range) {
          const read = await files.read(path, range);
          seen.push(...files.log); // the first change is still held
          gate.resolve();
          return read;
        },
      },
    },
  });
  await turn;
  deepStrictEqual(seen, ["begin first"]);
  deepStrictEqual(files.log, ["begin first", "write first", "begin second", "write second"]);
  match(resultsIn(llm).join("|"), /^Wrote first\|Wrote second\|a\.md/);
});

Deno.test("llm engine makes a tool that breaks a result, and goes on [§8 llm-tools]", async () => {
  const files = { ...memoryFiles(), list: () => Promise.reject(new RangeError("/home/owner/secret")) };
  await using llm = await openLlm([{ calls: [{ name: "list", input: {} }] }, done], { tools: { files } });
  strictEqual((await llm.say("go")).shown, "Done.");
  deepStrictEqual(resultsIn(llm), ["The tool broke: RangeError"]);
});

Deno.test("llm engine cuts a long output, and marks it [§8 llm-output-cut]", async () => {
  const files = memoryFiles({ "big.md": "x".repeat(2 * outputBytesMax) });
  await using llm = await openLlm([{ calls: [{ name: "read", input: { path: "big.md" } }] }, done], {
    tools: { files },
  });
  await llm.say("go");
  const [result] = resultsIn(llm);
  match(result!, /^big\.md.*\n\[cut: \d+ more bytes\]$/s);
  ok(result!.length < outputBytesMax + 100);
});

Deno.test("llm engine shows one line of a call, whatever it says [§8 llm-tools]", async () => {
  const input = { command: `echo "\u001b[31m"\n${"y".repeat(500)}` };
  const programs = scriptedPrograms(() => ({}));
  await using llm = await openLlm([{ calls: [{ name: "bash", input }] }, done], { programs });
  const { events } = await llm.say("go");
  const [start] = events.filter((event) => event.kind === "tool");
  ok(start!.summary.length <= 201 && !/\p{Cc}/u.test(start!.summary), start!.summary);
  match(start!.summary, /^echo " \[31m" y+…$/);
});

const programs = scriptedPrograms((command) => {
  if (command === "both") return { writes: ["out 1\n", { error: "err 1\n" }, "out 2\n"], end: { code: 3 } };
  if (command === "much") return { writes: Array.from({ length: 40 }, (_, at) => `${at}`.padEnd(8192, ".")) };
  if (command === "late") return { end: { code: 137, because: "time" } };
  if (command === "forever") return { writes: ["begun\n"], end: "never" };
  return "there is no box on this machine";
});

for (
  const [command, gives] of [
    ["both", /^out 1\nerr 1\nout 2\n\n\[exit code 3\]$/],
    ["much", /^0\.+.*\n\[cut: \d+ bytes left out here\]\n.*39\.+\n\[exit code 0\]$/s],
    ["late", /^\n\[killed: it ran over 5 seconds\]$/],
    ["refused", /^there is no box on this machine$/],
  ] as const
) {
  Deno.test(`llm engine tells the model what came of a command: ${command} [§8 llm-bash]`, async () => {
    const input = { command, timeoutSeconds: 5 };
    await using llm = await openLlm([{ calls: [{ name: "bash", input }] }, done], { programs });
    await llm.say("go");
    match(resultsIn(llm)[0]!, gives);
    const { kind, command: words, timeoutMs } = programs.started.at(-1)!;
    deepStrictEqual([kind, words, timeoutMs], ["bash", ["bash", "-c", command], 5000]);
  });
}

Deno.test("llm engine kills a command when it is cancelled, and ends [§8 llm-bash, §8 llm-abort]", async () => {
  const cancel = new AbortController();
  const forever = scriptedPrograms(() => {
    setTimeout(() => cancel.abort(), 0);
    return { end: "never" };
  });
  await using llm = await openLlm([{ calls: [{ name: "bash", input: { command: "sleep inf" } }] }, done], {
    programs: forever,
  });
  deepStrictEqual((await llm.say("go", { signal: cancel.signal })).outcome, { kind: "aborted" });
  strictEqual(forever.killed, 1);
  await llm.say("and now?");
  match(resultsIn(llm)[0]!, /^Stopped/);
});

Deno.test("llm engine stops after its steps with what there is, and says so [§8 llm-steps]", async () => {
  const again = { text: ["Still at it."], calls: [{ name: "list", input: {} }] };
  await using llm = await openLlm(() => again, { stepsMax: 3, tools: { files: memoryFiles() } });
  const text = "Still at it.\n\n(Stopped after 3 steps: the work may not be done.)";
  deepStrictEqual((await llm.say("go")).outcome, { kind: "answered", text, truncated: false });
  strictEqual(llm.server.requests.length, 3);
});

Deno.test("llm engine makes no call of a message that was cut by its length [§8 llm-length]", async () => {
  const files = memoryFiles();
  const calls = [{ name: "write", input: { path: "a", content: "half of" } }];
  await using llm = await openLlm([{ calls, finish: "length" }, done], { tools: { files } });
  await llm.say("go");
  deepStrictEqual(files.log, []);
  match(resultsIn(llm)[0]!, /cut by its length limit/);
});

Deno.test("llm engine keeps the last message that was not empty as the answer [§5.5 last-message]", async () => {
  const calls = [{ name: "list", input: {} }];
  const script = [{ text: ["First."], calls }, { text: ["Second."], calls }, {}];
  await using llm = await openLlm(script, { tools: { files: memoryFiles() } });
  const { outcome, shown, events } = await llm.say("go");
  deepStrictEqual(outcome, { kind: "answered", text: "Second.", truncated: false });
  strictEqual(shown, "Second.");
  strictEqual(events.filter(({ kind }) => kind === "message").length, 1);
});
