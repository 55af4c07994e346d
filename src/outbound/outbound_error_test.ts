import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { type OutboundCode, OutboundError, type OutboundPhase } from "./outbound_error.ts";

const made = (code: OutboundCode, phase: OutboundPhase) =>
  new OutboundError(code, phase, { message: "10.0.0.1 is closed", details: { address: "10.0.0.1" } });

Deno.test("OutboundError tells a stranger the same of every place that cannot be had [§13 one-answer]", () => {
  const told = [
    made("DNS_NOT_FOUND", "dns"),
    made("DNS_TIMEOUT", "dns"),
    made("ADDRESS_FORBIDDEN", "policy"),
    made("CONNECT_FAILED", "connect"),
    made("PEER_MISMATCH", "connect"),
    made("TLS_FAILED", "tls"),
  ].map(({ publicMessage }) => publicMessage);
  deepStrictEqual(new Set(told), new Set(["it cannot be reached or is not allowed"]));
});

Deno.test("OutboundError tells no details, and what is wrong with a URL in full", () => {
  for (const phase of ["wait", "send", "head", "body"] as const) {
    strictEqual(made("ABORTED", phase).publicMessage.includes("10.0.0.1"), false);
  }
  strictEqual(new OutboundError("URL_INVALID", "url", { message: "it is bad" }).publicMessage, "it is bad");
});

Deno.test("OutboundError knows what may go better and what the guard refused", () => {
  const of = (code: OutboundCode) => [made(code, "head").isRetryable, made(code, "head").isRefusal];
  deepStrictEqual(of("CONNECT_FAILED"), [true, false]);
  deepStrictEqual(of("ADDRESS_FORBIDDEN"), [false, true]);
  deepStrictEqual(of("PEER_MISMATCH"), [true, true]);
  deepStrictEqual(of("BODY_TOO_LARGE"), [false, false]);
});
