import { strictEqual } from "node:assert/strict";
import { answerMediaType, bareMediaType, isJsonContentType } from "./content_types.ts";

const requests: readonly (readonly [contentType: string | null, fits: boolean])[] = [
  ["application/json", true],
  ["application/a2a+json", true],
  ["Application/JSON; charset=UTF-8", true],
  [`application/json;charset="utf-8"`, true],
  ["application/json; profile=x", true],
  [null, true],
  ["", true],
  ["application/json; charset=iso-8859-1", false],
  ["text/plain", false],
  ["application/x-www-form-urlencoded", false],
  ["multipart/form-data; boundary=application/json", false],
  ["application/problem+json", false],
  ["application/jsonp", false],
  ["application/json, text/plain", false],
];
for (const [contentType, fits] of requests) {
  Deno.test(`isJsonContentType() ${fits ? "takes" : "refuses"} ${contentType} [P3, P9]`, () => {
    strictEqual(isJsonContentType(contentType), fits);
  });
}

const [json, a2a] = ["application/json", "application/a2a+json"] as const;
const answers: readonly (readonly [accept: string | null, contentType: string | null, gives: string])[] = [
  [null, null, json],
  ["*/*", null, json],
  ["*/*", json, json],
  ["*/*", a2a, a2a],
  [null, `${a2a}; charset=utf-8`, a2a],
  [a2a, null, a2a],
  ["Application/A2A+JSON", json, a2a],
  [json, a2a, json],
  [`${json}, ${a2a}`, null, a2a],
  [`${a2a};q=0.5, ${json}`, null, json],
  [`${json};q=0.5, ${a2a};q=0.9`, null, a2a],
  [`${a2a};q=0`, a2a, json],
  [`${a2a};q=x`, null, a2a],
  ["text/event-stream", null, json],
  [`text/event-stream, ${a2a}`, json, a2a],
  ["application/*", null, json],
  [",;,", null, json],
];
for (const [accept, contentType, gives] of answers) {
  Deno.test(`answerMediaType() gives ${gives} for Accept ${accept} and Content-Type ${contentType} [C2]`, () => {
    strictEqual(answerMediaType({ accept, contentType }), gives);
  });
}

const bare: readonly (readonly [contentType: string | null, gives: string | undefined])[] = [
  ["text/plain", "text/plain"],
  [" Text/HTML ; charset=utf-8", "text/html"],
  ["application/vnd.api+json;x", "application/vnd.api+json"],
  [null, undefined],
  ["", undefined],
  ["text", undefined],
  ["text/", undefined],
  ["text/plain, text/html", undefined],
  ["text/plain]\n[file /etc/passwd", undefined],
  [`text/${"x".repeat(128)}`, undefined],
];
for (const [contentType, gives] of bare) {
  Deno.test(`bareMediaType() gives ${gives} for ${JSON.stringify(contentType)} [§5.6 url-type]`, () => {
    strictEqual(bareMediaType(contentType), gives);
  });
}
