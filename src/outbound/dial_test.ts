import { deepStrictEqual, rejects } from "node:assert/strict";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { dial } from "./dial.ts";
import { ExchangeSocket } from "./exchange_socket.ts";
import { parseTargetUrl } from "./target_url.ts";

/** Connects and starts TLS in name only, until it is disposed of, and keeps what was done. */
function takeNetwork() {
  const { connect, startTls } = Deno;
  const done: unknown[] = [];
  const connection = {
    remoteAddr: { hostname: "127.0.0.1" },
    setNoDelay: (isSet: boolean) => done.push(["setNoDelay", isSet]),
    setKeepAlive: (isSet: boolean) => done.push(["setKeepAlive", isSet]),
    close: () => done.push("close"),
  };
  Object.assign(Deno, {
    connect({ hostname, port }: Deno.ConnectOptions) {
      done.push(["connect", hostname, port]);
      return Promise.resolve(connection);
    },
    startTls(_: unknown, { hostname }: Deno.StartTlsOptions) {
      done.push(["startTls", hostname]);
      return Promise.reject(new Error("that is enough"));
    },
  });
  return { done, [Symbol.dispose]: () => void Object.assign(Deno, { connect, startTls }) };
}

function dialTo(url: string, done: unknown[]) {
  return dial(parseTargetUrl(url, { allowHttp: true }), {
    policy: { allowPrivate: true, allow: [], deny: [], nat64: "refuse" },
    lookup: () => Promise.resolve(["127.0.0.1"]),
    ...{ isAbsolute: true, caCerts: [], clock: createTestClock(), socket: new ExchangeSocket() },
    limits: { dnsMs: 1_000, connectMs: 1_000, attemptMs: 1_000, tlsMs: 1_000 },
    signal: new AbortController().signal,
    onPhase: (phase) => done.push(phase),
    beforeTls: () => Promise.resolve(void done.push("before TLS")),
  });
}

const before = [
  "dns",
  "connect",
  ["connect", "127.0.0.1", 8080],
  ["setNoDelay", true],
  ["setKeepAlive", true],
];

Deno.test("dial() lets the kernel send at once, and end what has vanished, before TLS begins [§13 left-bounded]", async () => {
  using network = takeNetwork();
  await rejects(dialTo("https://hook.test:8080/", network.done), { code: "TLS_FAILED" });
  deepStrictEqual(network.done, [...before, "wait", "before TLS", "tls", ["startTls", "hook.test"]]);
});

Deno.test("dial() begins no TLS for http, and waits for nothing before it", async () => {
  using network = takeNetwork();
  await dialTo("http://hook.test:8080/", network.done);
  deepStrictEqual(network.done, before);
});
