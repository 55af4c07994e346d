import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { modelKey, openLlm, type PlayedTurn, silenceMs } from "@tests/fakes/llm_setting.ts";
import { type ScriptedAnswer, startModelServer } from "@tests/fakes/model_server.ts";

const fine: ScriptedAnswer = { text: ["Fine."] };
const busy: ScriptedAnswer = { status: 503 };

/** What the caller is told, and what the log is. */
function failureOf({ outcome }: PlayedTurn): { readonly message: string; readonly cause: string } {
  ok(outcome?.kind === "failed", JSON.stringify(outcome));
  return { message: outcome.message, cause: String(outcome.cause) };
}

const pauses: readonly {
  readonly name: string;
  readonly script: readonly ScriptedAnswer[];
  readonly slept: readonly number[];
}[] = [
  {
    name: "as Retry-After says, in seconds",
    script: [{ status: 429, headers: { "retry-after": "3" } }, fine],
    slept: [3_000],
  },
  {
    name: "as retry-after-ms says",
    script: [{ status: 529, headers: { "retry-after-ms": "1500", "retry-after": "2" } }, fine],
    slept: [1_500],
  },
  {
    name: "as Retry-After says, as a date",
    script: [{ status: 503, headers: { "retry-after": "Thu, 08 Oct 2026 12:00:07 GMT" } }, fine],
    slept: [7_000],
  },
  {
    name: "longer each time when nothing is said",
    script: [busy, busy, busy, busy, fine],
    slept: [1e3, 2e3, 4e3, 8e3],
  },
];

for (const { name, script, slept } of pauses) {
  Deno.test(`llm engine tries again ${name} [§8 llm-retries]`, async () => {
    await using llm = await openLlm(script);
    const { outcome } = await llm.say("hi");
    deepStrictEqual(outcome, { kind: "answered", text: "Fine.", truncated: false });
    deepStrictEqual(llm.slept, slept);
  });
}

for (const dialect of ["chat", "anthropic", "gemini", "responses"] as const) {
  for (const instead of ["break", "end", "garbage"] as const) {
    Deno.test(`llm engine makes a step again when its stream comes to ${instead}, and what it showed counts no more, as ${dialect} has it [§8 llm-retries]`, async () => {
      await using llm = await openLlm([{ text: ["I am g", "oin"], instead }, { text: ["I am here."] }], { dialect });
      const { events, outcome, shown } = await llm.say("where are you?");
      deepStrictEqual(outcome, { kind: "answered", text: "I am here.", truncated: false });
      strictEqual(shown, "I am here.");
      deepStrictEqual(events.map(({ kind }) => kind).slice(-4), ["message", "text", "usage", "end"]);
      strictEqual(llm.slept.length, 1);
    });
  }
}

const failures: readonly {
  readonly name: string;
  readonly script: readonly ScriptedAnswer[];
  readonly message: string;
  readonly cause: RegExp;
  readonly tries: number;
}[] = [
  {
    name: "is busy at every try",
    script: [busy, busy, busy, busy, busy],
    message: "The model's server failed (HTTP 503), after 5 tries",
    cause: /HTTP 503/,
    tries: 5,
  },
  {
    name: "asks to wait for an hour",
    script: [{ status: 429, headers: { "retry-after": "3600" } }],
    message: "The model takes no more requests now (HTTP 429)",
    cause: /HTTP 429/,
    tries: 1,
  },
  {
    name: "refuses the key, and says it",
    script: [{ status: 401, body: JSON.stringify({ error: { message: `Incorrect API key: ${modelKey}` } }) }],
    message: "The model's server refused the key (HTTP 401)",
    cause: /HTTP 401: Incorrect API key: \[key\]/,
    tries: 1,
  },
  {
    name: "does not know the model",
    script: [{ status: 404, body: JSON.stringify({ error: { message: "no such model" } }) }],
    message: "The model's server does not know the model (HTTP 404)",
    cause: /no such model/,
    tries: 1,
  },
  {
    name: "refuses the request",
    script: [{ status: 400, body: JSON.stringify({ error: { message: "bad tools" } }) }],
    message: "The model's server refused the request (HTTP 400)",
    cause: /bad tools/,
    tries: 1,
  },
  {
    name: "answers with no stream at all",
    script: Array.from({ length: 5 }, () => ({ status: 200, body: "<html>hello</html>" })),
    message: "The model's answer broke off, after 5 tries",
    cause: /./,
    tries: 5,
  },
];

for (const { name, script, message, cause, tries } of failures) {
  Deno.test(`llm engine fails the turn when the server ${name} [§8 llm-failures]`, async () => {
    await using llm = await openLlm(script);
    const failure = failureOf(await llm.say("hi"));
    strictEqual(failure.message, message);
    match(failure.cause, cause);
    ok(!failure.cause.includes(modelKey));
    strictEqual(llm.server.requests.length, tries);
  });
}

Deno.test("llm engine follows no redirect: a key would go along [§8 llm-failures]", async () => {
  await using other = startModelServer([fine]);
  const headers = { location: `${other.address}/v1/chat/completions` };
  await using llm = await openLlm([{ status: 307, headers }]);
  const { message } = failureOf(await llm.say("hi"));
  strictEqual(message, "The model's server sent the request elsewhere (HTTP 307)");
  strictEqual(other.requests.length, 0);
});

Deno.test("llm engine fails the turn when there is nobody at the address [§8 llm-failures]", async () => {
  const gone = startModelServer([]);
  await gone[Symbol.asyncDispose]();
  await using llm = await openLlm([], { model: { baseUrl: new URL(`${gone.address}/v1`) } });
  strictEqual(failureOf(await llm.say("hi")).message, "The model's server could not be reached, after 5 tries");
});

Deno.test("llm engine tells a silence from a cancel, leaves, and does not try again [§8 llm-time-out]", async () => {
  await using llm = await openLlm([{ text: ["Well"], instead: "hang" }]);
  const shown = llm.saw("Well");
  const turn = llm.say("hi");
  await shown;
  await llm.clock.advance(silenceMs);
  strictEqual(failureOf(await turn).message, "The model said nothing for 5 minutes");
  await llm.server.requests[0]!.left;
  deepStrictEqual([llm.server.requests.length, llm.clock.pending], [1, 0]);
});

Deno.test("llm engine ends as aborted when it is cancelled in the middle of a message, and keeps what was said [§8 llm-abort]", async () => {
  await using llm = await openLlm([{ text: ["Well", ", "], instead: "hang" }, fine]);
  const cancel = new AbortController();
  const shown = llm.saw("Well, ");
  const turn = llm.say("hi", { signal: cancel.signal });
  await shown;
  cancel.abort(new DOMException("canceled", "AbortError"));
  const { outcome } = await turn;
  deepStrictEqual(outcome, { kind: "aborted" });
  await llm.server.requests[0]!.left;
  strictEqual(llm.clock.pending, 0);
  await llm.say("and now?");
  match(JSON.stringify(llm.server.requests[1]!.body.messages), /Well.*\[interrupted\]/);
});

Deno.test("llm engine ends as aborted when it is cancelled before a new try [§8 llm-abort]", async () => {
  const cancel = new AbortController();
  await using llm = await openLlm(() => {
    cancel.abort();
    return busy;
  });
  deepStrictEqual((await llm.say("hi", { signal: cancel.signal })).outcome, { kind: "aborted" });
  deepStrictEqual((await llm.say("hi", { signal: cancel.signal })).outcome, { kind: "aborted" });
  strictEqual(llm.server.requests.length, 1);
});

Deno.test("llm engine fails the turn when the answer is withheld [§8 llm-failures]", async () => {
  await using llm = await openLlm([{ finish: "filter" }]);
  strictEqual(failureOf(await llm.say("hi")).message, "The model's provider withheld the answer");
});

Deno.test("llm engine answers with nothing when the model says nothing, which is a failure upstream", async () => {
  await using llm = await openLlm([{}]);
  deepStrictEqual((await llm.say("hi")).outcome, { kind: "answered", text: "", truncated: false });
});

Deno.test("llm engine asks for the key in the first turn, keeps it, and asks again when it was refused [§8 llm-key]", async () => {
  const asked: string[] = [];
  await using llm = await openLlm([fine, fine, { status: 403 }, fine], {
    model: {
      findKey(reference) {
        asked.push(reference);
        return Promise.resolve({ kind: "key", key: { reveal: () => `key-${asked.length}` } });
      },
    },
  });
  deepStrictEqual(asked, []);
  for (let turn = 0; turn < 4; turn++) await llm.say("hi");
  deepStrictEqual(asked, ["setting:ModelKey", "setting:ModelKey"]);
  const keys = llm.server.requests.map(({ headers }) => headers.get("authorization"));
  deepStrictEqual(keys, ["Bearer key-1", "Bearer key-1", "Bearer key-1", "Bearer key-2"]);
});
