import { deepStrictEqual, strictEqual } from "node:assert/strict";
import {
  addressRanges,
  baseUrl,
  bytes,
  choice,
  duration,
  flag,
  line,
  listenAddress,
  optional,
  path,
  setting,
  wholeNumber,
} from "./setting_kinds.ts";

const durations: readonly [string, number | undefined][] = [
  ["00:30:00", 1_800_000],
  ["1.00:00:00", 86_400_000],
  ["12.01:02:03.5", 12 * 86_400_000 + 3_723_500],
  ["30m", 1_800_000],
  ["1d", 86_400_000],
  ["2h", 7_200_000],
  ["15s", 15_000],
  ["500ms", 500],
  ["1.5h", 5_400_000],
  ["90", 90_000],
  ["0.25", 250],
  ["0", 0],
  ["36500d", 36_500 * 86_400_000],
  ["36501d", undefined],
  ["99999999999999", undefined],
  ["24:00:00", undefined],
  ["00:60:00", undefined],
  ["1:00:00", undefined],
  ["00:30", undefined],
  ["-5s", undefined],
  ["5 minutes", undefined],
  ["1e3", undefined],
  ["", undefined],
];
for (const [text, ms] of durations) {
  Deno.test(`duration() reads ${JSON.stringify(text)} as ${ms} ms [§16 durations]`, () => {
    strictEqual(duration().parse(text), ms);
  });
}

const sizes: readonly [string, number | undefined][] = [
  ["0", 0],
  ["10485760", 10_485_760],
  ["10MiB", 10_485_760],
  ["10 mib", 10_485_760],
  ["1GiB", 1_073_741_824],
  ["1.5KiB", 1536],
  ["2TiB", 2 ** 41],
  ["1.5", undefined],
  ["10MB", undefined],
  ["-1", undefined],
  ["999999TiB", undefined],
  ["", undefined],
];
for (const [text, size] of sizes) {
  Deno.test(`bytes() reads ${JSON.stringify(text)} as ${size} [§16 sizes]`, () =>
    strictEqual(bytes().parse(text), size));
}

const counts: readonly [string, number | undefined][] = [
  ["0", 0],
  ["32", 32],
  ["1000000000", 1e9],
  ["1000000001", undefined],
  ["1.5", undefined],
  ["-1", undefined],
  ["0x10", undefined],
  ["", undefined],
];
for (const [text, count] of counts) {
  Deno.test(`wholeNumber() reads ${JSON.stringify(text)} as ${count}`, () => {
    strictEqual(wholeNumber().parse(text), count);
  });
}

Deno.test("0 is no limit where the kind says so [§7 zero-is-none]", () => {
  const kinds = [wholeNumber, duration, bytes];
  deepStrictEqual(kinds.map((kind) => kind("0 is none").parse("0")), [Infinity, Infinity, Infinity]);
  deepStrictEqual(kinds.map((kind) => kind().parse("0")), [0, 0, 0]);
});

Deno.test("choice() compares without case and gives the word as the table has it", () => {
  deepStrictEqual(["DISK", "disk", "disc"].map(choice("disk", "process").parse), ["disk", "disk", undefined]);
});

Deno.test("setting() makes the three names of a key, a nested and a client one too [§16 names]", () => {
  const row = { default: "1", doc: "" };
  const named = ["MaxHops", "Card:Name", "Client:WatchTimeout"].map((key) => setting(key, wholeNumber(), row));
  deepStrictEqual(named.map(({ env, flag }) => [env, flag]), [
    ["A2A__MaxHops", "max-hops"],
    ["A2A__Card__Name", "card-name"],
    ["A2AClient__WatchTimeout", "client-watch-timeout"],
  ]);
});

Deno.test("optional() makes a row without a default", () => {
  strictEqual(optional("Engine", choice("faux"), { doc: "" }).default, undefined);
});

const flags: readonly [string, boolean | undefined][] = [
  ["true", true],
  ["False", false],
  ["1", undefined],
  ["yes", undefined],
  ["constructor", undefined],
  ["", undefined],
];
for (const [text, value] of flags) {
  Deno.test(`flag() reads ${JSON.stringify(text)} as ${value}`, () => strictEqual(flag().parse(text), value));
}

const lines: readonly [string, string | undefined][] = [
  ["Eugene's assistant", "Eugene's assistant"],
  ["x".repeat(20), "x".repeat(20)],
  ["x".repeat(21), undefined],
  ["two\nlines", undefined],
  ["a\u001bb", undefined],
  ["", undefined],
];
for (const [text, value] of lines) {
  Deno.test(`line() reads ${JSON.stringify(text)} as ${value}`, () => strictEqual(line(20).parse(text), value));
}

const listens: readonly [string, { hostname: string; port: number } | undefined][] = [
  ["127.0.0.1:5099", { hostname: "127.0.0.1", port: 5099 }],
  ["0.0.0.0:0", { hostname: "0.0.0.0", port: 0 }],
  ["LocalHost:80", { hostname: "localhost", port: 80 }],
  ["[::1]:5099", { hostname: "::1", port: 5099 }],
  ["[::]:65535", { hostname: "::", port: 65_535 }],
  ["::1:5099", undefined],
  ["[::1]", undefined],
  ["[::g]:1", undefined],
  ["[::1/128]:1", undefined],
  ["[127.0.0.1]:1", undefined],
  ["127.0.0.1", undefined],
  ["127.0.0.1:65536", undefined],
  ["127.0.0.1:", undefined],
  [":5099", undefined],
  ["5099", undefined],
  ["http://127.0.0.1:5099", undefined],
  ["a b:1", undefined],
  ["", undefined],
];
for (const [text, value] of listens) {
  Deno.test(`listenAddress() reads ${JSON.stringify(text)} as ${JSON.stringify(value)} [§3 listen]`, () => {
    deepStrictEqual(listenAddress().parse(text), value);
  });
}

const urls: readonly [string, string | undefined][] = [
  ["https://a2a.example.com", "https://a2a.example.com/"],
  ["HTTP://Example.com:8080/peer/", "http://example.com:8080/peer/"],
  ["https://example.com/?x=1", undefined],
  ["https://example.com/?", undefined],
  ["https://example.com/#x", undefined],
  ["https://bob:pw@example.com", undefined],
  ["ftp://example.com", undefined],
  ["https:example.com", undefined],
  ["example.com", undefined],
  ["/a2a", undefined],
  ["https://", undefined],
  [`https://example.com/${"x".repeat(2000)}`, undefined],
  ["", undefined],
];
for (const [text, value] of urls) {
  Deno.test(`baseUrl() reads ${JSON.stringify(text.slice(0, 40))} as ${value} [§5.3 public-url]`, () => {
    strictEqual(baseUrl().parse(text)?.href, value);
  });
}

const ranges: readonly [string, number | undefined][] = [
  ["", 0],
  ["127.0.0.1", 1],
  ["127.0.0.1, ::1,10.0.0.0/8 fd00::/8", 4],
  ["127.0.0.1,proxy.example.com", undefined],
  ["10.0.0.1/8", undefined],
];
for (const [text, count] of ranges) {
  Deno.test(`addressRanges() reads ${JSON.stringify(text)} as ${count} ranges [case 20]`, () => {
    strictEqual(addressRanges().parse(text)?.length, count);
  });
}

Deno.test("path() reads a line, whatever it leads to", () => {
  strictEqual(path().parse("./certs/ours ca.pem"), "./certs/ours ca.pem");
  strictEqual(path().parse(""), undefined);
  strictEqual(path().parse("a\nb"), undefined);
});
