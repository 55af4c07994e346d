import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { keys, startWireHost, type WireHost } from "@tests/fakes/wire_host.ts";
import { bindings, origin, wireRequest } from "@tests/fakes/wire_request.ts";
import { readReply } from "@tests/fakes/wire_reply.ts";
import { methods } from "@/protocol/methods.ts";
import type { Method } from "@/protocol/request_types.ts";

const id = "00000000-0000-4000-8000-0000000000aa";
const hi = { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }] } };
/** Params that fit each method. */
const params: Readonly<Record<Method, unknown>> = {
  SendMessage: hi,
  SendStreamingMessage: hi,
  GetTask: { id },
  ListTasks: {},
  CancelTask: { id },
  SubscribeToTask: { id },
  CreateTaskPushNotificationConfig: { taskId: id, url: "https://hooks.example/" },
  GetTaskPushNotificationConfig: { taskId: id, id: "c" },
  ListTaskPushNotificationConfigs: { taskId: id },
  DeleteTaskPushNotificationConfig: { taskId: id, id: "c" },
  GetExtendedAgentCard: {},
};

/** Nothing was written since `before`: no task, no transcript, no file; so no engine ran either. */
async function nothingHappened(host: WireHost, before: number): Promise<void> {
  await host.clock.settle();
  strictEqual(host.disk.bytesWritten, before);
}

for (const binding of bindings) {
  for (const method of methods) {
    Deno.test(`${method} over ${binding} without a good key is 401 with a challenge, its body unread [§5.2 key-before-body]`, async () => {
      await using host = await startWireHost();
      const before = host.disk.bytesWritten;
      for (const key of [undefined, "wrong"]) {
        const made = wireRequest(binding, { method, params: params[method] }, { key });
        let pulls = 0;
        const body = new ReadableStream({ pull: () => void pulls++ }, { highWaterMark: 0 });
        const request = made.body === null ? made : new Request(made, { body });
        const answer = await host.fetch(request);
        strictEqual(answer.headers.get("WWW-Authenticate"), 'Bearer realm="a2a", ApiKey realm="a2a"');
        const reply = await readReply(answer);
        ok(reply.kind === "error");
        deepStrictEqual([answer.status, reply.reason, reply.code, pulls], [401, "UNAUTHENTICATED", -32000, 0]);
      }
      await nothingHappened(host, before);
    });
  }

  Deno.test(`${binding} answers 429 with Retry-After after 20 failures of one peer [§5.2 failures-a-minute, §5.10 retry-after]`, async () => {
    await using host = await startWireHost();
    const ask = (address: string, key: string) =>
      host.fetch(wireRequest(binding, { method: "ListTasks" }, { key }), address);
    for (let n = 0; n < 20; n++) strictEqual((await ask("192.0.2.1", "wrong")).status, 401);
    const answer = await ask("192.0.2.1", "wrong");
    const reply = await readReply(answer);
    ok(reply.kind === "error");
    deepStrictEqual([answer.status, reply.reason, reply.retryAfter], [429, "TOO_MANY_REQUESTS", "60"]);
    strictEqual((await ask("192.0.2.2", keys.alice)).status, 200);
  });

  Deno.test(`${binding} answers this machine alone while nobody may call, judged anew each time [§5.2a loopback-only]`, async () => {
    await using host = await startWireHost();
    const ask = async (address: string) => {
      const answer = await host.fetch(wireRequest(binding, { method: "ListTasks" }, { key: keys.alice }), address);
      return answer.status;
    };
    const all = async () => await Promise.all(["127.0.0.1", "::1", "192.0.2.1", ""].map(ask));
    deepStrictEqual(await all(), [200, 200, 200, 200]);
    await host.writeCallers([]);
    deepStrictEqual(await all(), [401, 401, 403, 403]);
    await host.writeCallers("[{ half");
    deepStrictEqual(await all(), [401, 401, 401, 401]);
    await host.writeCallers([{ name: "alice", key: keys.alice }]);
    deepStrictEqual(await all(), [200, 200, 200, 200]);
  });

  Deno.test(`${binding} refuses a foreign Host and a foreign Origin before it looks at the key [§5.2b host-and-origin]`, async () => {
    await using host = await startWireHost();
    for (const name of ["Host", "Origin"]) {
      const headers = { [name]: name === "Host" ? "evil.example" : "https://evil.example" };
      for (const key of [keys.alice, "wrong"]) {
        const reply = await readReply(
          await host.fetch(wireRequest(binding, { method: "SendMessage", params: hi }, { key, headers })),
        );
        ok(reply.kind === "error" && reply.reason === "FORBIDDEN" && reply.http === 403);
      }
    }
    const card = await host.fetch(
      new Request(`${origin}/.well-known/agent-card.json`, { headers: { Origin: "https://evil.example" } }),
    );
    deepStrictEqual([card.status, card.headers.get("Access-Control-Allow-Origin")], [200, "*"]);
    await card.body?.cancel();
  });

  Deno.test(`${binding} serves the workspace whose key it is, and nothing of another [§5.2 exactly-one-caller]`, async () => {
    await using other = await startWireHost();
    await other.writeCallers([{ name: "alice", key: "k_other_0123456789" }]);
    await using host = await startWireHost({ workspaces: [other.served] });
    const mine = await host.call(binding, "SendMessage", hi);
    ok(mine.kind === "result");
    const ask = async (key: string) => {
      return await readReply(await host.fetch(wireRequest(binding, { method: "ListTasks" }, { key })));
    };
    const [here, there] = [await ask(keys.alice), await ask("k_other_0123456789")];
    ok(here.kind === "result" && there.kind === "result");
    deepStrictEqual([here, there].map(({ result }) => (result as { totalSize: number }).totalSize), [1, 0]);
    await other.writeCallers([{ name: "eve", key: keys.alice }]);
    const twice = await ask(keys.alice);
    ok(twice.kind === "error" && twice.reason === "UNAUTHENTICATED");
  });

  const media: readonly (readonly [type: string, status: number])[] = [
    ["application/json", 200],
    ["application/a2a+json; charset=utf-8", 200],
    ["Application/JSON;charset=UTF-8", 200],
    ["", 200],
    ["text/plain", 415],
    ["application/json; charset=latin1", 415],
    ["application/x-www-form-urlencoded", 415],
    ["application/jsonp", 415],
  ];
  for (const [type, status] of media) {
    Deno.test(`${binding} answers ${status} to a body of Content-Type "${type}", before it reads it [§5.10 content-type-first]`, async () => {
      await using host = await startWireHost();
      const before = host.disk.bytesWritten;
      const request = wireRequest(binding, { method: "SendMessage", params: hi }, { key: keys.alice });
      // Not the constructor's headers: they would name a type for a text.
      const headers = new Headers(request.headers);
      headers.delete("Content-Type");
      if (type !== "") headers.set("Content-Type", type);
      const bytes = await request.bytes();
      const answer = await host.fetch(
        new Request(request.url, {
          method: "POST",
          headers,
          body: status === 200 ? bytes : new Blob(["{ no json"]).stream(),
        }),
      );
      strictEqual(answer.status, status);
      const reply = await readReply(answer);
      if (status === 200) return strictEqual(reply.kind, "result");
      ok(reply.kind === "error");
      deepStrictEqual([reply.reason, reply.code], ["CONTENT_TYPE_NOT_SUPPORTED", -32005]);
      await nothingHappened(host, before);
    });
  }

  Deno.test(`${binding} takes a 400 KB file and refuses one over the cap with 413, naming the limit [case 13, §5.6 body-limit]`, async () => {
    await using host = await startWireHost({ bodyBytesMax: 1_000_000 });
    const send = async (bytes: number) => {
      const raw = new Uint8Array(bytes).toBase64();
      const message = { messageId: "m", role: "ROLE_USER", parts: [{ raw, filename: "f.bin" }] };
      return await host.call(binding, "SendMessage", { message });
    };
    strictEqual((await send(400_000)).kind, "result");
    const before = host.disk.bytesWritten;
    const refused = await send(800_000);
    ok(refused.kind === "error");
    deepStrictEqual([refused.http, refused.reason, refused.message], [
      413,
      "PAYLOAD_TOO_LARGE",
      "The body is over the limit of 1000000 bytes",
    ]);
    await nothingHappened(host, before);
  });
}

const wrongVerbs: readonly (readonly [verb: string, path: string, allow: string])[] = [
  ["GET", "/a2a", "POST"],
  ["PUT", "/a2a/", "POST"],
  ["OPTIONS", "/a2a", "POST"],
  ["POST", "/a2a/v1/tasks", "GET"],
  ["GET", "/a2a/v1/message:send", "POST"],
  ["DELETE", `/a2a/v1/tasks/${id}`, "GET"],
  ["GET", `/a2a/v1/tasks/${id}:cancel`, "POST"],
  ["PUT", `/a2a/v1/tasks/${id}:subscribe`, "POST, GET"],
  ["PATCH", `/a2a/v1/tasks/${id}/pushNotificationConfigs`, "POST, GET"],
  ["POST", `/a2a/v1/tasks/${id}/pushNotificationConfigs/c`, "GET, DELETE"],
  ["POST", "/a2a/v1/extendedAgentCard", "GET"],
  ["POST", "/.well-known/agent-card.json", "GET, HEAD, OPTIONS"],
];
const unknown = ["/", "/a2a/x", "/a2a/v1", "/a2a/v1/", "/a2a/v1/nothing", `/a2a/v1/tasks/${id}/x`, "/a2a/v1/tasks/%ff"];

Deno.test("a wrong verb is 405 JSON with Allow, an unknown address 404 JSON [§5.1 wrong-verb, §5.1 unknown-address]", async () => {
  await using host = await startWireHost();
  const ask = (verb: string, path: string) =>
    host.fetch(new Request(origin + path, { method: verb, headers: { "X-API-Key": keys.alice } }));
  for (const [verb, path, allow] of wrongVerbs) {
    const answer = await ask(verb, path);
    const reply = await readReply(answer);
    ok(reply.kind === "error" && reply.reason === "METHOD_NOT_ALLOWED", `${verb} ${path}`);
    deepStrictEqual([answer.status, answer.headers.get("Allow")], [405, allow]);
  }
  for (const path of unknown) {
    const reply = await readReply(await ask("GET", path));
    ok(reply.kind === "error" && reply.reason === "ROUTE_NOT_FOUND" && reply.http === 404, path);
  }
});

Deno.test("GET and POST of :subscribe, and both paths of the card, are one method each [§5.1 both-spellings-of-a-route]", async () => {
  await using host = await startWireHost();
  const ask = async (verb: string, path: string) =>
    await readReply(
      await host.fetch(new Request(`${origin}/a2a/v1/${path}`, { method: verb, headers: { "X-API-Key": keys.alice } })),
    );
  deepStrictEqual(await ask("GET", `tasks/${id}:subscribe`), await ask("POST", `tasks/${id}:subscribe`));
  deepStrictEqual(await ask("GET", "card"), await ask("GET", "extendedAgentCard"));
});

Deno.test("/a2a/ is /a2a, without a redirect [§5.1 trailing-slash]", async () => {
  await using host = await startWireHost();
  const made = wireRequest("JSONRPC", { method: "ListTasks" }, { key: keys.alice });
  const answer = await host.fetch(new Request(`${origin}/a2a/`, made));
  strictEqual((await readReply(answer)).kind, "result");
});

Deno.test("/healthz says alive, /readyz whether it can work, and to this machine what is missing [§5.1 health]", async () => {
  let notReady: string[] = [];
  await using host = await startWireHost({ notReady: () => notReady });
  const ask = async (path: string, address = "192.0.2.1") => {
    const answer = await host.fetch(new Request(origin + path), address);
    return [answer.status, await answer.json()];
  };
  deepStrictEqual(await ask("/healthz"), [200, { status: "ok" }]);
  deepStrictEqual(await ask("/readyz"), [200, { status: "ok" }]);
  notReady = ["the tasks of home"];
  deepStrictEqual(await ask("/readyz"), [503, { status: "not ready" }]);
  deepStrictEqual(await ask("/readyz", "127.0.0.1"), [503, { status: "not ready", notReady }]);
  deepStrictEqual(await ask("/healthz"), [200, { status: "ok" }]);
});

const negotiated: readonly (readonly [accept: string, contentType: string, is: string])[] = [
  ["", "application/json", "application/json"],
  ["*/*", "application/json", "application/json"],
  ["application/a2a+json", "application/json", "application/a2a+json"],
  ["", "application/a2a+json", "application/a2a+json"],
  ["application/json", "application/a2a+json", "application/json"],
];
for (const [accept, contentType, is] of negotiated) {
  Deno.test(`HTTP+JSON answers ${is} to Accept "${accept}" and Content-Type ${contentType}, JSON-RPC always application/json [§5.1 media-types]`, async () => {
    await using host = await startWireHost();
    const headers = { Accept: accept, "Content-Type": contentType };
    for (const sent of [hi, {}]) {
      const rest = await host.open("HTTP+JSON", "SendMessage", sent, { headers });
      const rpc = await host.open("JSONRPC", "SendMessage", sent, { headers });
      deepStrictEqual([rest, rpc].map((answer) => answer.headers.get("Content-Type")), [is, "application/json"]);
      await Promise.all([rest.text(), rpc.text()]);
    }
  });
}
