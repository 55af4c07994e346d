import { strictEqual } from "node:assert/strict";
import { guardRequest, isLoopbackAddress } from "./request_guard.ts";

interface Row {
  readonly host?: string;
  readonly origin?: string;
  /** The listener. */
  readonly at?: string;
  readonly publicUrl?: string;
  readonly allowed: boolean;
}

const publicUrl = "https://a2a.example.com/base";
const rows: readonly Row[] = [
  ...["127.0.0.1:5099", "localhost:5099", "LOCALHOST", "localhost:80", "127.0.0.5:1", "[::1]:5099", "[::1]"].map(
    (host) => ({ host, allowed: true }),
  ),
  ...[
    "evil.example",
    "evil.example:5099",
    "localhost.evil.example",
    "127.0.0.1.evil.example:5099",
    "a2a.example.com",
    "192.168.1.5:5099",
    "[fd00::1]:5099",
    "[::1].evil.example",
    "localhost:5099@evil.example",
    "",
    "0.0.0.0:5099",
  ].map((host) => ({ host, allowed: false })),
  { host: "a2a.example.com", publicUrl, allowed: true },
  { host: "A2A.Example.Com:443", publicUrl, allowed: true },
  { host: "b2b.example.com", publicUrl, allowed: false },
  { host: "localhost:5099", at: "::1", allowed: true },
  { host: "evil.example", at: "::1", allowed: false },
  { host: "evil.example", at: "LocalHost", allowed: false },
  { host: "evil.example", at: "127.0.0.9", allowed: false },
  // On a listener of the network nobody knows all its names, and there is nothing to rebind to.
  { host: "anything.example", at: "0.0.0.0", allowed: true },
  { host: "anything.example", at: "192.168.1.5", allowed: true },
  { host: "anything.example", at: "fd00::1", allowed: true },

  { origin: "http://127.0.0.1:5099", allowed: true },
  { origin: "http://localhost:5099", host: "localhost:5099", allowed: true },
  { origin: "http://[::1]:5099", host: "[::1]:5099", allowed: true },
  { origin: "http://localhost", host: "localhost", allowed: true },
  { origin: "http://localhost", host: "localhost:80", allowed: true },
  { origin: "https://a2a.example.com", publicUrl, allowed: true },
  { origin: "https://a2a.example.com", host: "a2a.example.com", at: "0.0.0.0", publicUrl, allowed: true },
  { origin: "http://192.168.1.5:5099", host: "192.168.1.5:5099", at: "192.168.1.5", allowed: true },
  { origin: "http://[fd00::1]:5099", host: "[fd00::1]:5099", at: "fd00::1", allowed: true },
  ...[
    "http://evil.example",
    "http://127.0.0.1:3000",
    "http://localhost:5099",
    "https://evil.example:5099",
    "http://127.0.0.1.evil.example:5099",
    "http://a2a.example.com",
    "https://a2a.example.com:444",
    "https://sub.a2a.example.com",
    "null",
    "",
    "file://",
    "chrome-extension://abc",
    "no url",
  ].map((origin) => ({ origin, publicUrl, allowed: false })),
  // A name that was made to lead here is not ours because it asks for itself.
  { origin: "http://evil.example:5099", host: "evil.example:5099", at: "0.0.0.0", allowed: false },
  { origin: "https://a2a.example.com", at: "0.0.0.0", host: "a2a.example.com", allowed: false },
];
for (const { host = "127.0.0.1:5099", origin, at = "127.0.0.1", publicUrl, allowed } of rows) {
  const from = [`Host ${host || "without a name"}`, ...(origin === undefined ? [] : [`Origin ${origin || "blank"}`])];
  const where = `listener ${at}${publicUrl === undefined ? "" : " with a public URL"}`;
  Deno.test(`guardRequest() ${allowed ? "lets in" : "refuses"} ${from.join(", ")} on ${where} [§5.2b host-and-origin]`, () => {
    const headers = { Host: host, ...(origin !== undefined && { Origin: origin }) };
    const request = new Request("http://127.0.0.1:5099/a2a", { headers });
    const guard = { hostname: at, publicUrl: publicUrl === undefined ? undefined : new URL(publicUrl) };
    strictEqual(guardRequest(request, guard)?.reason, allowed ? undefined : "FORBIDDEN");
  });
}

Deno.test("guardRequest() takes the address that was asked for when there is no Host [§5.2b host-and-origin]", () => {
  const guard = { hostname: "127.0.0.1", publicUrl: undefined };
  strictEqual(guardRequest(new Request("http://localhost:5099/a2a"), guard), undefined);
  strictEqual(guardRequest(new Request("http://evil.example/a2a"), guard)?.reason, "FORBIDDEN");
});

const addresses: readonly (readonly [address: string, isLoopback: boolean])[] = [
  ["127.0.0.1", true],
  ["127.255.0.3", true],
  ["::1", true],
  ["::ffff:127.0.0.1", true],
  ["::FFFF:127.0.0.1", true],
  ["128.0.0.1", false],
  ["::2", false],
  ["::ffff:10.0.0.1", false],
  ["127.0.0.1.evil.example", false],
  ["localhost", false],
  ["", false],
];
for (const [address, isLoopback] of addresses) {
  Deno.test(`isLoopbackAddress() says ${isLoopback} of "${address}" [§5.2a loopback-only]`, () => {
    strictEqual(isLoopbackAddress(address), isLoopback);
  });
}
