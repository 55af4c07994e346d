import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { OutboundRequest } from "@/outbound/outbound_request.ts";
import type { Echo } from "@tests/fakes/ordinary_answers.ts";
import { type Lab, type LabNeeds, labTest, type Sending } from "@tests/fakes/outbound_lab.ts";
import { web } from "@tests/fakes/outbound_web.ts";

async function echoOf(lab: Lab, where: string, sending: Sending = {}): Promise<Echo> {
  return JSON.parse(await (await lab.send(where, sending)).text());
}

labTest(
  "guarded() sends what it is given to the name it is given, and tells who answered [§13 ordinary-answers]",
  {},
  async (lab) => {
    const headers = { "Content-Type": "application/json", Authorization: "Bearer x" };
    const response = await lab.send("/echo", { method: "POST", body: '{"a":1}', headers });
    const { head, ...echo } = JSON.parse(await response.text()) as Echo;
    deepStrictEqual([response.status, response.peer, response.headers.get("content-type")], [
      ...[200, { address: web.public }, "application/json"],
    ]);
    deepStrictEqual(echo, {
      ...{ address: web.public, serverName: "hook.test", version: "1.3", protocol: "http/1.1", body: '{"a":1}' },
    });
    strictEqual(head[0], "POST /echo HTTP/1.1");
    deepStrictEqual(
      new Set(head.slice(1).map((line) => line.toLowerCase())),
      new Set([
        ...[`host: hook.test:${lab.port()}`, "content-type: application/json", "authorization: bearer x"],
        ...["content-length: 7", "accept-encoding: identity", "connection: close", "user-agent: volcanic-a2a"],
      ]),
    );
  },
);

const bodies: readonly {
  readonly what: string;
  readonly path: string;
  readonly bytes: number;
  readonly request?: Pick<OutboundRequest, "method">;
}[] = [
  { what: "in chunks", path: "/chunked/200000", bytes: 200_000 },
  { what: "of a length", path: "/length/200000", bytes: 200_000 },
  { what: "that ends with the connection, when TLS says so too", path: "/close/100000", bytes: 100_000 },
  { what: "that is not there for HEAD", path: "/head", bytes: 0, request: { method: "HEAD" } },
  { what: "that is not there with 204", path: "/204", bytes: 0 },
  { what: "that may not be there with 204", path: "/204-body", bytes: 0 },
  { what: "that is not there with 304", path: "/304", bytes: 0 },
  { what: "behind 100", path: "/100", bytes: 2 },
  { what: "behind two of 103", path: "/103", bytes: 2 },
  { what: "whose length is said twice", path: "/length-twice", bytes: 5 },
  { what: "whose length is a list of the same", path: "/length-list", bytes: 5 },
  { what: "in a million chunks", path: "/chunk-million", bytes: 1_000_000 },
  { what: "of HTTP 1.0", path: "/version-1-0", bytes: 2 },
  { what: "behind a status without a reason", path: "/no-reason", bytes: 2 },
  { what: "behind a status with an empty reason", path: "/empty-reason", bytes: 2 },
  { what: "with Latin-1 in a header", path: "/latin-1-header", bytes: 2 },
];

for (const { what, path, bytes, request } of bodies) {
  labTest(`guarded() takes a body ${what} [§13 ordinary-answers]`, {}, async (lab) => {
    strictEqual((await (await lab.send(path, request)).bytes()).length, bytes);
  });
}

labTest(
  "guarded() reads what comes behind the chunks and does not take it for headers [§13 ordinary-answers]",
  {},
  async (lab) => {
    for (const [path, text] of [["/trailers", "hello world"], ["/trailers-length", "hello"]] as const) {
      const response = await lab.send(path);
      strictEqual(await response.text(), text);
      deepStrictEqual([response.headers.get("x-digest"), response.headers.get("content-length")], [null, null]);
    }
  },
);

const names: readonly {
  readonly what: string;
  readonly needs: LabNeeds;
  readonly host: string;
  readonly expected: Echo;
}[] = [
  {
    what: "a name that has IPv6 only",
    needs: { needs: ["ipv6"] },
    host: "v6.test",
    expected: { address: web.publicV6, serverName: "v6.test", head: ["Host: v6.test"], body: "" },
  },
  {
    what: "an address of IPv6, when the certificate is for it",
    needs: { needs: ["ipv6"], servers: ["addresses"] },
    host: `[${web.publicV6}]`,
    expected: { address: web.publicV6, head: [`Host: [${web.publicV6}]`], body: "" },
  },
  {
    what: "an address of IPv4, when the certificate is for it",
    needs: { servers: ["addresses"] },
    host: web.public,
    expected: { address: web.public, head: [`Host: ${web.public}`], body: "" },
  },
  {
    what: "a name with a final dot, which nobody is told",
    needs: {},
    host: "hook.test.",
    expected: { address: web.public, serverName: "hook.test", head: ["Host: hook.test"], body: "" },
  },
];

for (const { what, needs, host, expected } of names) {
  labTest(`guarded() reaches ${what} [§13 ordinary-answers, §13 tls-verified]`, needs, async (lab) => {
    const { address, serverName, head } = await echoOf(lab, "/echo", { host, door: lab.door({ opensV6: true }) });
    deepStrictEqual([address, serverName], [expected.address, expected.serverName]);
    ok(head.includes(`${expected.head[0]}:${lab.port()}`), head.join("\n"));
  });
}

labTest(
  "guarded() takes an answer that comes before the request is read, and the connection is closed [§13 ordinary-answers]",
  {},
  async (lab) => {
    await using response = await lab.send("/early-413", { method: "POST", body: new Uint8Array(5_000_000) });
    strictEqual(response.status, 413);
  },
);

labTest(
  "guarded() closes the connection of a body that nobody reads, on dispose [§13 ends-whole]",
  {},
  async (lab) => {
    await using response = await lab.send("/length/5000000");
    strictEqual(response.status, 200);
  },
);

labTest(
  "guarded() closes the connection of a body that is no longer read, on cancel [§13 ends-whole]",
  {},
  async (lab) => {
    const response = await lab.send("/length/5000000");
    const reader = response.body.getReader();
    ok((await reader.read()).value!.length > 0);
    await reader.cancel();
  },
);

labTest(
  "guarded() gives statuses of 400 and over as answers, and does nothing that headers ask for [§13 ordinary-answers]",
  {},
  async (lab) => {
    for (const [path, status, body] of [["/500", 500, "err"], ["/429", 429, "err"], ["/refresh", 200, "ok"]] as const) {
      const response = await lab.send(path);
      deepStrictEqual([response.status, await response.text()], [status, body]);
    }
    await echoOf(lab, "/echo");
    strictEqual(lab.connections.at(-1)!.request!.head.some((line) => /^cookie:/i.test(line)), false);
    deepStrictEqual(new Set(lab.attempts), new Set([web.public]));
  },
);

labTest("guarded() speaks TLS 1.2 where there is no newer one [§13 tls-verified]", {
  ...{ servers: ["tls_1_2"], needs: ["node-tls"] },
}, async (lab) => {
  strictEqual(await (await lab.send("/")).text(), "old");
  strictEqual(lab.connections[0]!.version, "1.2");
});

labTest("guarded() ignores what comes behind the end of an answer [§13 ordinary-answers]", {}, async (lab) => {
  strictEqual(await (await lab.send("/more-behind")).text(), "ok");
});
