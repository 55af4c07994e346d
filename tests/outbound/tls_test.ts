import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { ServerName } from "@tests/fakes/outbound_lab.ts";
import { failsWith } from "@tests/outbound/failure.ts";
import { labTest } from "@tests/fakes/outbound_lab.ts";
import { web } from "@tests/fakes/outbound_web.ts";

const bad: readonly { readonly server: ServerName; readonly what: string }[] = [
  { server: "wrong_name", what: "with a certificate for another name" },
  { server: "self_signed", what: "that vouches for itself" },
  { server: "expired", what: "whose certificate is over" },
  { server: "common_name", what: "whose certificate has its name in the subject alone" },
  { server: "hangs_up", what: "that closes in the handshake" },
  { server: "http_2", what: "that speaks HTTP 2 only" },
  { server: "tls_1_1", what: "that knows TLS 1.1 only" },
  { server: "not_tls", what: "that answers in plain HTTP" },
];
for (const { server, what } of bad) {
  labTest(`guarded() sends no request to a server ${what} [§13 tls-verified]`, { servers: [server] }, async (lab) => {
    const { isRetryable } = await failsWith(lab.send("/echo"), ["TLS_FAILED", "tls"]);
    strictEqual(isRetryable, true);
    await lab.allSeen();
    deepStrictEqual(lab.connections.map(({ address, request }) => [address, request]), [[web.public, undefined]]);
  });
}

labTest("guarded() trusts no authority that it was not told of [§13 tls-verified]", {}, async (lab) => {
  await failsWith(lab.send("/echo", { door: lab.door({ caCerts: [] }) }), ["TLS_FAILED", "tls"]);
  strictEqual(lab.connections[0]!.request, undefined);
});

labTest("guarded() does not take a certificate for a name at an address [§13 tls-verified]", {}, async (lab) => {
  await failsWith(lab.send("/echo", { host: web.public }), ["TLS_FAILED", "tls"]);
  strictEqual(lab.connections[0]!.request, undefined);
});

labTest("guarded() waits for TLS no longer than 10 s [§13 time-limits]", { servers: ["silent"] }, async (lab) => {
  const failing = failsWith(lab.send("/"), ["TLS_TIMEOUT", "tls"]);
  await lab.until(([first]) => first !== undefined && first.received > 0);
  await lab.clock.advance(9_999);
  strictEqual(lab.connections[0]!.isOpen, true);
  await lab.clock.advance(1);
  await failing;
  lab.release(); // closed in the handshake, Deno keeps the socket until the server hangs up
});
