import { deepStrictEqual, ok } from "node:assert/strict";
import { goodCalls, goodParams, mutateBytes, mutateCall, mutateValue } from "@tests/fakes/mutated_calls.ts";
import { createSeededRandom, type SeededRandom } from "@tests/fakes/seeded_random.ts";
import { takeLog } from "@tests/fakes/log_lines.ts";
import { keys, startWireHost, type WireHost } from "@tests/fakes/wire_host.ts";
import { type Binding, bindings, wireRequest } from "@tests/fakes/wire_request.ts";
import type { Method } from "@/protocol/request_types.ts";

/** Mutations of each binding's body; `A2A_TEST_FUZZ` names another number. */
const mutations = Number(Deno.env.get("A2A_TEST_FUZZ") ?? 2000);
/** As long as one request may take of the real clock: it was none that hangs. */
const patienceMs = 60_000;

/** Sends that are taken: without a webhook and a task, which are always refused, and with dedupe or not. */
const { message, metadata, tenant } = goodParams.SendMessage as Record<string, Record<string, unknown>>;
const { taskId, ...newMessage } = message!;
const configuration = { historyLength: 3, returnImmediately: false };
const { contextId: _context, metadata: _metadata, ...plain } = newMessage;
const sends = [{ message: newMessage, configuration, metadata, tenant }, { message: plain, configuration }];

/** Calls of 0.3 that are taken. */
const legacyCalls = [
  {
    method: "message/send",
    params: {
      message: {
        kind: "message",
        messageId: "m",
        role: "user",
        parts: [
          { kind: "text", text: "hi" },
          { kind: "file", file: { bytes: "aGk=", name: "x.txt", mimeType: "text/plain" } },
          { kind: "data", data: { a: 1 } },
        ],
      },
      configuration: { blocking: true, historyLength: 1 },
    },
  },
  { method: "tasks/get", params: { id: taskId, historyLength: 1 } },
  {
    method: "message/stream",
    params: { message: { messageId: "m", role: "user", parts: [{ kind: "text", text: "a" }] } },
  },
].map((call) => ({ jsonrpc: "2.0", id: 1, ...call }));

function requestOf(binding: Binding, random: SeededRandom): Request {
  const method = random.pick<Method>(["SendMessage", "SendStreamingMessage"]);
  const query = random.chance(0.05) ? `?A2A-Version=${random.pick(["1.0", "2.0", "%00", "1.0.9"])}` : "";
  if (binding === "JSONRPC") {
    if (random.chance(0.2)) {
      const body = mutateCall(random.pick(legacyCalls), random);
      return wireRequest(binding, { method }, { key: keys.alice, body, headers: { "A2A-Version": "" } });
    }
    const call = random.chance(0.8)
      ? { jsonrpc: "2.0", id: random.pick([1, "x", null]), method, params: random.pick(sends) }
      : random.pick(goodCalls);
    return wireRequest(binding, { method }, { key: keys.alice, body: mutateCall(call, random), query });
  }
  const params = random.chance(0.8) ? random.pick(sends) : goodParams.SendMessage;
  const text = new TextEncoder().encode(JSON.stringify(random.chance(0.6) ? mutateValue(params, random) : params));
  const body = random.chance(0.4) ? mutateBytes(text, random) : text;
  const headers = { "A2A-Version": random.chance(0.1) ? "0.3" : "1.0" };
  return wireRequest(binding, { method, params }, { key: keys.alice, headers, body, query });
}

/** The status of a request, and its answer as text; undefined when it hangs. */
async function answerOf(host: WireHost, request: Request): Promise<{ status: number; text: string } | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const patience = new Promise<undefined>((resolve) => timer = setTimeout(() => resolve(undefined), patienceMs));
  const answering = host.fetch(request).then(async (answer) => ({ status: answer.status, text: await answer.text() }));
  try {
    return await Promise.race([answering, patience]);
  } finally {
    clearTimeout(timer);
  }
}

for (const binding of bindings) {
  Deno.test(`${binding} answers ${mutations} mutated bodies without a hang, and with no 5xx that is not logged [§5.1 fuzz]`, async () => {
    using log = takeLog("error");
    const { lines } = log;
    await using host = await startWireHost({ flags: { durability: "process", "stored-tasks": "200" } });
    const random = createSeededRandom(binding.length);
    const seen: Record<string, number> = { taken: 0 };
    for (let n = 0; n < mutations; n++) {
      const request = requestOf(binding, random);
      const sent = await request.clone().text();
      const before = lines.length;
      const answer = await answerOf(host, request);
      ok(answer !== undefined, `hangs: ${sent}`);
      const { status, text } = answer;
      seen[status] = (seen[status] ?? 0) + 1;
      if (text.includes('"status":{')) seen.taken!++;
      if (status >= 500 || text.includes('"INTERNAL"')) ok(lines.length > before, `${status} for ${sent}: ${text}`);
      if (!text.startsWith("data:")) JSON.parse(text);
    }
    // Else the mutations prove nothing, or break something.
    deepStrictEqual(Object.keys(seen).filter((status) => Number(status) >= 500), [], lines.join("\n"));
    ok(seen.taken! > mutations / 50, JSON.stringify(seen));
  });
}
