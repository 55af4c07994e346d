import { deepStrictEqual, match, notStrictEqual, strictEqual } from "node:assert/strict";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { CacheableAnswers } from "./cacheable_answer.ts";

const plain = { resource: "a", text: "{}", contentType: "application/json", cacheControl: "public, max-age=300" };

function ask(answers: CacheableAnswers, headers: Readonly<Record<string, string>> = {}, content = plain): Response {
  return answers.answer(new Request("http://x/", { headers }), { ...content, headers: { "X-Other": "y" } });
}

Deno.test("CacheableAnswers.answer() has tag, time and policy, and all of them with 304 [§5.3 cacheable]", async () => {
  const answers = new CacheableAnswers({ clock: createTestClock() });
  const first = ask(answers);
  deepStrictEqual([first.status, await first.text(), first.headers.get("Content-Type")], [
    200,
    "{}",
    plain.contentType,
  ]);
  const etag = first.headers.get("ETag")!;
  match(etag, /^"[0-9a-f]{32}"$/);
  const again = ask(answers, { "If-None-Match": etag });
  deepStrictEqual([again.status, await again.text(), again.body], [304, "", null]);
  for (const { headers } of [first, again]) {
    strictEqual(headers.get("ETag"), etag);
    strictEqual(headers.get("Last-Modified"), "Thu, 08 Oct 2026 12:00:00 GMT");
    strictEqual(headers.get("Cache-Control"), "public, max-age=300");
    strictEqual(headers.get("X-Other"), "y");
  }
});

const tag = '"44136fa355b3678a1146ad16f7e8649e"';
const since = "Thu, 08 Oct 2026 12:00:00 GMT";
const rows: readonly { name: string; headers: Readonly<Record<string, string>>; status: number }[] = [
  { name: "the tag", headers: { "If-None-Match": tag }, status: 304 },
  { name: "the tag as a weak one", headers: { "If-None-Match": `W/${tag}` }, status: 304 },
  { name: "a list with the tag", headers: { "If-None-Match": `"x", W/"y,z",${tag}` }, status: 304 },
  { name: "any tag", headers: { "If-None-Match": " * " }, status: 304 },
  { name: "other tags", headers: { "If-None-Match": '"x", "y"' }, status: 200 },
  { name: "a tag without quotes", headers: { "If-None-Match": tag.slice(1, -1) }, status: 200 },
  { name: "the time", headers: { "If-Modified-Since": since }, status: 304 },
  { name: "a later time", headers: { "If-Modified-Since": "Fri, 09 Oct 2026 12:00:00 GMT" }, status: 304 },
  { name: "an earlier time", headers: { "If-Modified-Since": "Thu, 08 Oct 2026 11:59:59 GMT" }, status: 200 },
  { name: "no time", headers: { "If-Modified-Since": "yesterday" }, status: 200 },
  {
    name: "another tag, whatever the time",
    headers: { "If-None-Match": '"x"', "If-Modified-Since": since },
    status: 200,
  },
];

for (const { name, headers, status } of rows) {
  Deno.test(`CacheableAnswers.answer() to who has ${name} is ${status} [§5.3 cacheable]`, () => {
    strictEqual(ask(new CacheableAnswers({ clock: createTestClock() }), headers).status, status);
  });
}

Deno.test("CacheableAnswers.answer() gives content that changed within a second a later time, and back again", () => {
  const answers = new CacheableAnswers({ clock: createTestClock() });
  const timeOf = (text: string) => ask(answers, {}, { ...plain, text }).headers.get("Last-Modified");
  const times = [timeOf("1"), timeOf("1"), timeOf("2"), timeOf("1")];
  deepStrictEqual(times.map((time) => time?.slice(-6)), ["00 GMT", "00 GMT", "01 GMT", "02 GMT"]);
});

Deno.test("CacheableAnswers.answer() keeps resources apart, and forgets the oldest of 1,000", async () => {
  const clock = createTestClock();
  const answers = new CacheableAnswers({ clock });
  const timeOf = (resource: string) => ask(answers, {}, { ...plain, resource }).headers.get("Last-Modified");
  const first = timeOf("0");
  await clock.advance(5000);
  const kept = timeOf("1");
  notStrictEqual(kept, first);
  for (let at = 2; at <= 1000; at++) timeOf(`${at}`);
  await clock.advance(5000);
  strictEqual(timeOf("1"), kept);
  notStrictEqual(timeOf("0"), first);
});
