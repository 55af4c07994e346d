import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { OutboundCode } from "@/outbound/outbound_error.ts";
import { failsWith } from "@tests/outbound/failure.ts";
import { labTest } from "@tests/fakes/outbound_lab.ts";

const urls: readonly (readonly [string, OutboundCode])[] = [
  ["http://hook.test/", "SCHEME_FORBIDDEN"],
  ["ftp://hook.test/", "SCHEME_FORBIDDEN"],
  ["file:///etc/passwd", "SCHEME_FORBIDDEN"],
  ["data:,x", "SCHEME_FORBIDDEN"],
  ["https://u:p@hook.test/", "USERINFO_FORBIDDEN"],
  ["https://hook.test@127.0.0.1/", "USERINFO_FORBIDDEN"],
  ["https://hook.test:25/", "PORT_FORBIDDEN"],
  ["https://hook.test:6666/", "PORT_FORBIDDEN"],
  ["https://hook.test:0/", "PORT_FORBIDDEN"],
  ["https://hook.test:99999/", "URL_INVALID"],
  ["https://", "URL_INVALID"],
  ["not a url", "URL_INVALID"],
  ["https://hook.test\\@127.0.0.1/", "URL_INVALID"],
  ["https://hook.test/\r\nX: y", "URL_INVALID"],
  ["https://a..b/", "URL_INVALID"],
  ["https://-x.test/", "URL_INVALID"],
  ["https://[fe80::1%25eth0]/", "URL_INVALID"],
  ["https://hook.test%00.evil/", "URL_INVALID"],
  ["https://hook.test#@127.0.0.1/ ", "URL_INVALID"],
  [`https://${"a".repeat(64)}.test/`, "URL_INVALID"],
  ["https://1.2.3.4.5/", "URL_INVALID"],
  ["https://256.1.1.1/", "URL_INVALID"],
  [`https://hook.test/${"a".repeat(10_000)}`, "URL_INVALID"],
];

for (const [url, code] of urls) {
  labTest(`guarded() sends nothing to ${JSON.stringify(url.slice(0, 40))} [§13 url-form]`, {}, async (lab) => {
    const { isRetryable, isRefusal } = await failsWith(lab.send(url), [code, "url"]);
    deepStrictEqual([isRetryable, isRefusal], [false, true]);
    const door = lab.door();
    strictEqual(door.problemWith(url)?.code, code);
    deepStrictEqual([lab.dns.queries, lab.attempts], [[], []]);
  });
}

const headers: readonly Readonly<Record<string, string>>[] = [
  { "x-a": "1\r\nHost: evil" },
  { "x-a": "1\nb" },
  { "x-a": "1\0" },
  { "x\r\n": "1" },
  { "x a": "1" },
  { "": "1" },
  { Host: "evil" },
  { "content-length": "5" },
  { "Transfer-Encoding": "chunked" },
  { connection: "keep-alive" },
  { "accept-encoding": "gzip" },
  { upgrade: "websocket" },
  { te: "trailers" },
  { "proxy-authorization": "x" },
  { expect: "100-continue" },
  { "x-a": "caf\u00e9\u2603" },
];

for (const header of headers) {
  labTest(`guarded() sends no header like ${JSON.stringify(header)} [§13 request-whole]`, {}, async (lab) => {
    const sending = lab.send("/echo", { headers: header });
    const { code, isRetryable } = await failsWith(sending, ["REQUEST_INVALID", "url"]);
    deepStrictEqual([code, isRetryable, lab.attempts], ["REQUEST_INVALID", false, []]);
  });
}
