import { deepStrictEqual, ok, strictEqual, throws } from "node:assert/strict";
import { createSeededRandom } from "@tests/fakes/seeded_random.ts";
import { formatSseComment, formatSseEvent, SseReader } from "./sse.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function eventsOf(text: string): readonly string[] {
  return new SseReader({ eventBytesMax: 1_000_000 }).push(bytes(text)).events;
}

Deno.test("formatSseEvent() writes one data line and a blank one", () => {
  strictEqual(formatSseEvent(`{"a":1}`), `data: {"a":1}\n\n`);
  throws(() => formatSseEvent("{\n}"), RangeError);
  throws(() => formatSseEvent("{\r}"), RangeError);
});

Deno.test("formatSseComment() writes a line that readers ignore, and nothing else", () => {
  strictEqual(formatSseComment(), ": \n\n");
  strictEqual(formatSseComment("ping\r\ndata: x"), ": ping data: x\n\n");
  deepStrictEqual(eventsOf(formatSseComment("ping\n\ndata: x\n\n") + formatSseEvent("{}")), ["{}"]);
});

const rows: readonly (readonly [id: string, name: string, text: string, events: readonly string[]])[] = [
  ["case 1", "a comment before an event", `: ping\n\ndata: {"a":1}\n\n`, [`{"a":1}`]],
  ["case 1", "a comment inside an event", `data: {"a":\n: ping\ndata: 1}\n\n`, [`{"a":\n1}`]],
  ["case 1", "an event with empty data", `data:\n\ndata: \n\ndata\n\ndata:\ndata:\n\ndata: x\n\n`, ["x"]],
  ["case 1", "an event without data", `event: ping\nid: 7\nretry: 1\n\ndata: x\n\n`, ["x"]],
  ["case 2", "no space", `data:{"a":1}\n\n`, [`{"a":1}`]],
  ["case 2", "one space", `data: {"a":1}\n\n`, [`{"a":1}`]],
  ["case 2", "two spaces", `data:  {"a":1}\n\n`, [` {"a":1}`]],
  ["case 2", "a tab", `data:\tx\n\n`, ["\tx"]],
  ["case 2", "CRLF", `data: a\r\n\r\ndata: b\r\n\r\n`, ["a", "b"]],
  ["case 2", "CR", `data: a\r\rdata: b\r\r`, ["a", "b"]],
  ["case 2", "mixed ends of lines", `data: a\r\n\ndata: b\r\r\ndata: c\n\r`, ["a", "b", "c"]],
  ["case 2", "many lines of data", `data: a\ndata:b\ndata\n\n`, ["a\nb\n"]],
  ["case 2", "many lines of data that end in CRLF", `data: a\r\ndata: b\r\n\r\n`, ["a\nb"]],
  ["case 2", "other fields around it", `event: x\ndata: a\nid: 1\nunknown: data\ndata2: no\n data: no\n\n`, ["a"]],
  ["case 2", "a byte-order mark", `\uFEFFdata: a\n\n`, ["a"]],
  ["case 2", "a mark that is not the first", `data: a\n\n\uFEFFdata: b\n\n`, ["a"]],
  ["case 2", "a cut event at the end", `data: a\n\ndata: {"b":`, ["a"]],
  ["case 2", "an event without its blank line", `data: a\n\ndata: b\n`, ["a"]],
  ["case 2", "characters of several bytes", `data: ü€😀\n\n`, ["ü€😀"]],
];
for (const [id, name, text, events] of rows) {
  Deno.test(`SseReader reads ${name} [${id}]`, () => deepStrictEqual(eventsOf(text), events));
  Deno.test(`SseReader reads ${name}, byte by byte [${id}]`, () => {
    const reader = new SseReader({ eventBytesMax: 1000 });
    deepStrictEqual([...bytes(text)].flatMap((byte) => reader.push(new Uint8Array([byte])).events), events);
  });
}

Deno.test("SseReader gives an event of 200 KiB whole [case 5]", () => {
  const json = JSON.stringify({ text: "a".repeat(200 * 1024) });
  const reader = new SseReader({ eventBytesMax: 1024 * 1024 });
  const stream = bytes(formatSseEvent(json));
  const events = [];
  for (let at = 0; at < stream.length; at += 1460) events.push(...reader.push(stream.subarray(at, at + 1460)).events);
  deepStrictEqual(events, [json]);
});

const endless: readonly (readonly [name: string, line: string])[] = [
  ["a line that never ends", "data: aaaaaaaaaa"],
  ["an event that never ends", "data: aaaaaaaaaa\n"],
  ["a comment that never ends", ":aaaaaaaaaa"],
  ["a field that never ends", "aaaaaaaaaa"],
];
for (const [name, text] of endless) {
  Deno.test(`SseReader gives up on ${name}, and keeps what came before [case 5]`, () => {
    const reader = new SseReader({ eventBytesMax: 100 });
    deepStrictEqual(reader.push(bytes("data: a\n\ndata: b")), { events: ["a"], tooLong: false });
    deepStrictEqual(reader.push(bytes("\n\n" + text.repeat(20) + "\n\ndata: c\n\n")), { events: ["b"], tooLong: true });
    deepStrictEqual(reader.push(bytes("\n\ndata: d\n\n")), { events: [], tooLong: true });
  });
}

Deno.test("SseReader lets comments pass without end, and counts an event's bytes anew [case 1]", () => {
  const reader = new SseReader({ eventBytesMax: 20 });
  for (let n = 0; n < 1000; n++) {
    const { events, tooLong } = reader.push(bytes(`: keep alive\n\ndata: ${n}\n\n`));
    deepStrictEqual([events, tooLong], [[`${n}`], false]);
  }
});

Deno.test("SseReader takes linear time for a megabyte byte by byte", () => {
  const reader = new SseReader({ eventBytesMax: 2_000_000 });
  const before = performance.now();
  const one = bytes("a");
  reader.push(bytes("data: "));
  for (let n = 0; n < 1_000_000; n++) reader.push(one);
  strictEqual(reader.push(bytes("\n\n")).events[0]!.length, 1_000_000);
  ok(performance.now() - before < 5000);
});

Deno.test("SseReader gives what was formatted, however the stream is cut, for 500 random streams", () => {
  const random = createSeededRandom(5);
  for (let n = 0; n < 500; n++) {
    const sent = Array.from(
      { length: random.below(6) },
      () => JSON.stringify({ text: random.pick(["", "ü😀", "data: x\n\n", "\r", ":"]) }),
    );
    const end = random.pick(["\n", "\r\n", "\r"]);
    const text = sent.map((json) => (random.chance(0.3) ? formatSseComment("x") : "") + formatSseEvent(json)).join("");
    const stream = bytes(text.replaceAll("\n", end));
    const reader = new SseReader({ eventBytesMax: 200 });
    const got: string[] = [];
    for (let at = 0; at < stream.length;) {
      const next = at + 1 + random.below(9);
      const { events, tooLong } = reader.push(stream.subarray(at, next));
      strictEqual(tooLong, false);
      got.push(...events);
      at = next;
    }
    deepStrictEqual(got, sent);
  }
});
