import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { decodeDataUrl, isDataUrl } from "./data_url.ts";

const ascii = "text/plain;charset=US-ASCII";
const rows: readonly (readonly [url: string, content: string | undefined, mediaType?: string])[] = [
  ["data:,hi", "hi", ascii],
  ["data:text/plain,hi%20you", "hi you", "text/plain"],
  ["data:text/plain;charset=utf-8,%C3%BC", "ü", "text/plain;charset=utf-8"],
  ["data:;charset=utf-8,ü", "ü", "text/plain;charset=utf-8"],
  ["data:text/plain;base64,aGk=", "hi", "text/plain"],
  ["data:text/plain;charset=utf-8;BASE64,aGk", "hi", "text/plain;charset=utf-8"],
  ["data:;base64,aGk%3D", "hi", ascii],
  ["data:image/png;base64,-_8", "\xfb\xff", "image/png"],
  [" DATA:Text/HTML,<p>", "<p>", "Text/HTML"],
  ["data:text/plain,a#b", "a", "text/plain"],
  ["data:text/plain,100%", "100%", "text/plain"],
  ["data:text/plain,%zz%4", "%zz%4", "text/plain"],
  ["data:nonsense,hi", "hi", ascii],
  ["data:,", "", ascii],
  ["data:text/plain;base64,a*b", undefined],
  ["data:text/plain", undefined],
  ["https://example.com/,x", undefined],
];
for (const [url, content, mediaType] of rows) {
  Deno.test(`decodeDataUrl() ${content === undefined ? "refuses" : "decodes"} ${url} [§5.6 data-urls]`, () => {
    const decoded = decodeDataUrl(url);
    if (content === undefined) return strictEqual(decoded, undefined);
    const bytes = /base64,-/.test(url)
      ? Uint8Array.from(content, (char) => char.charCodeAt(0))
      : new TextEncoder().encode(content);
    deepStrictEqual(decoded, { base64: bytes.toBase64(), mediaType });
  });
}

Deno.test("isDataUrl() knows one by its scheme only", () => {
  deepStrictEqual(["data:,", "\t Data:,", "https://a/data:", "data", "xdata:,"].map(isDataUrl), [
    true,
    true,
    false,
    false,
    false,
  ]);
});

Deno.test("decodeDataUrl() takes linear time for 16 million characters in escapes", () => {
  const before = performance.now();
  strictEqual(decodeDataUrl(`data:,${"%41".repeat(5_000_000)}`)!.base64.length, 4 * Math.ceil(5_000_000 / 3));
  ok(performance.now() - before < 2000);
});
