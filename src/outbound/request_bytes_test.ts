import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { OutboundError } from "./outbound_error.ts";
import { encodeRequest, type RequestParts } from "./request_bytes.ts";
import { parseTargetUrl } from "./target_url.ts";

function encode(parts: Partial<RequestParts> & { readonly url?: string } = {}) {
  const target = parseTargetUrl(parts.url ?? "https://hook.test:8443/a?b=c", { allowHttp: true });
  return encodeRequest(target, { userAgent: "us/1", ...parts });
}

const textOf = (parts: Parameters<typeof encode>[0]) => new TextDecoder("latin1").decode(encode(parts).pieces[0]);

Deno.test("encodeRequest() writes one request that ends with its body, and closes the connection", () => {
  strictEqual(
    textOf({ method: "POST", body: "h\u00e9", headers: { "Content-Type": "text/plain" } }),
    "POST /a?b=c HTTP/1.1\r\nHost: hook.test:8443\r\nContent-Type: text/plain\r\nUser-Agent: us/1\r\n" +
      "Content-Length: 3\r\nAccept-Encoding: identity\r\nConnection: close\r\n\r\nh\u00c3\u00a9",
  );
});

Deno.test("encodeRequest() names the host as its URL does: no default port, IPv6 in brackets, no fragment", () => {
  const hostOf = (url: string) => /Host: (.*)\r\n/.exec(textOf({ url }))?.[1];
  strictEqual(hostOf("https://hook.test:443/"), "hook.test");
  strictEqual(hostOf("https://[2606:4700:0:0::1]:8443/"), "[2606:4700::1]:8443");
  ok(textOf({ url: "https://hook.test#secret" }).startsWith("GET / HTTP/1.1\r\n"));
});

Deno.test("encodeRequest() says a length where a body may be, and none where not", () => {
  const lengthOf = (parts: Partial<RequestParts>) => /Content-Length: (\d+)/.exec(textOf(parts))?.[1];
  deepStrictEqual(
    [lengthOf({}), lengthOf({ method: "HEAD" }), lengthOf({ method: "DELETE" })],
    Array(3).fill(undefined),
  );
  deepStrictEqual([lengthOf({ method: "POST" }), lengthOf({ method: "PUT" }), lengthOf({ body: "" })], ["0", "0", "0"]);
});

Deno.test("encodeRequest() takes the caller's own user agent, whatever its case", () => {
  strictEqual(textOf({ headers: { "USER-AGENT": "me" } }).match(/user-agent/gi)?.length, 1);
});

Deno.test("encodeRequest() writes a small request at once, and leaves a large body as it is", () => {
  const body = new Uint8Array(16 * 1024 + 1);
  strictEqual(encode({ method: "POST", body: body.subarray(1) }).pieces.length, 1);
  strictEqual(encode({ method: "POST", body }).pieces[1], body);
});

const bad: readonly Partial<RequestParts>[] = [
  { headers: { "x-a": "1\r\nHost: evil" } },
  { headers: { "x-a": "1\nb" } },
  { headers: { "x-a": "1\rb" } },
  { headers: { "x-a": "\0" } },
  { headers: { "x-a": "caf\u00e9\u2603" } },
  { headers: { "x\r\n": "1" } },
  { headers: { "": "1" } },
  { headers: { "x y": "1" } },
  { headers: { "x:": "1" } },
  { headers: { "X-A": "1", "x-a": "2" } },
  ...["host", "Content-Length", "transfer-encoding", "connection", "proxy-authorization", "proxy-connection"].map((
    name,
  ) => ({
    headers: { [name]: "1" },
  })),
  ...["expect", "TE", "trailer", "upgrade", "keep-alive", "accept-encoding"].map((name) => ({
    headers: { [name]: "1" },
  })),
  { method: "CONNECT" as "GET" },
  { method: "get" as "GET" },
  { method: "GET / HTTP/1.1\r\nX: y\r\n\r\nGET" as "GET" },
];

for (const parts of bad) {
  Deno.test(`encodeRequest() refuses ${JSON.stringify(parts)} [§13 request-whole]`, () => {
    try {
      encode(parts);
    } catch (error) {
      ok(error instanceof OutboundError);
      deepStrictEqual([error.code, error.phase], ["REQUEST_INVALID", "url"]);
      return;
    }
    throw new Error("it was encoded");
  });
}

Deno.test("encodeRequest() takes printable Latin-1 and tabs in a value, and never shows a value in an error", () => {
  ok(textOf({ headers: { "x-a": "caf\u00e9\t~" } }).includes("x-a: caf\u00e9\t~\r\n"));
  try {
    encode({ headers: { authorization: "Bearer s3cret\n" } });
  } catch (error) {
    strictEqual(String(error).includes("s3cret"), false);
  }
});
