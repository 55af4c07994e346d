import type { Answers, Exchange } from "./hostile_connection.ts";

const ok = (headers: string, body = "ok") => `HTTP/1.1 200 OK\r\n${headers}\r\n\r\n${body}`;
const chunked = "5\r\nhello\r\n0\r\n\r\n";
const statusLine = (line: string) => `${line}\r\nContent-Length: 2\r\n\r\nok`;

/** Never anything, or never an end. */
const late: Answers = {
  "/never": ({ gone }) => gone(),
  "/slow-head": ({ drip }) => drip(ok(`X-A: ${"a".repeat(8_000)}\r\nContent-Length: 2`)),
  "/slow-lines": async ({ write, drip }) => {
    await write("HTTP/1.1 200 OK\r\n");
    await drip(endless((count) => count < 90 ? `x-${count}: a\r\n` : ""));
  },
  "/interim-flood": ({ write }) => repeat(write, "HTTP/1.1 100 Continue\r\n\r\n", 200_000),
  "/endless-header": async ({ write }) => {
    await write("HTTP/1.1 200 OK\r\nX-A: ");
    await repeat(write, "a".repeat(64 * 1024), Infinity);
  },
};

/** Two answers in one, or none that can be told apart. */
const framings: Answers = {
  "/101": async ({ write, gone }) => {
    await write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nrawrawraw");
    await gone();
  },
  "/length-and-chunked": ok("Content-Length: 50\r\nTransfer-Encoding: chunked", chunked),
  "/gzip-chunked": ok("Transfer-Encoding: gzip, chunked", chunked),
  "/coding-identity": ok("Transfer-Encoding: identity\r\nContent-Length: 5", "hello"),
  "/coding-unknown": ok("Transfer-Encoding: xchunked", chunked),
  "/coding-twice": ok("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", chunked),
  "/coding-on-1-0": `HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`,
  "/coding-space-colon": ok("Transfer-Encoding : chunked", chunked),
  "/length-negative": ok("Content-Length: -5", "hello"),
  "/length-plus": ok("Content-Length: +5", "hello"),
  "/length-hex": ok("Content-Length: 0x5", "hello"),
  "/length-empty": ok("Content-Length: ", "hello"),
  "/length-huge": ok("Content-Length: 99999999999999999999999", "hello"),
  "/lengths-differ": ok("Content-Length: 5\r\nContent-Length: 9", "helloxxxx"),
  "/length-list-differs": ok("Content-Length: 5, 9", "helloxxxx"),
};

const lines: Answers = {
  "/header-cr": ok("X-A: foo\rX-Injected: yes\r\nContent-Length: 2"),
  "/header-nul": ok("X-A: fo\0o\r\nContent-Length: 2"),
  "/header-lf": "HTTP/1.1 200 OK\nX-A: foo\nContent-Length: 2\n\nok",
  "/header-folded": ok("X-A: foo\r\n bar\r\nContent-Length: 2"),
  "/header-no-colon": ok("X-A foo\r\nContent-Length: 2"),
  "/header-no-name": ok(": foo\r\nContent-Length: 2"),
  "/header-space-in-name": ok("X A: foo\r\nContent-Length: 2"),
  "/status-20": statusLine("HTTP/1.1 20 OK"),
  "/status-abc": statusLine("HTTP/1.1 abc OK"),
  "/status-099": statusLine("HTTP/1.1 099 OK"),
  "/status-600": statusLine("HTTP/1.1 600 OK"),
  "/status-999": statusLine("HTTP/1.1 999 OK"),
  "/status-2000": statusLine("HTTP/1.1 2000 OK"),
  "/version-2": statusLine("HTTP/2.0 200 OK"),
  "/version-1-2": statusLine("HTTP/1.2 200 OK"),
  "/version-icy": statusLine("ICY 200 OK"),
  "/version-0-9": "<html>hello</html>",
  "/space-first": statusLine(" HTTP/1.1 200 OK"),
  "/line-first": statusLine("\r\nHTTP/1.1 200 OK"),
  "/noise": noise(4096),
};

const sizes: Answers = {
  "/header-1-mb": ok(`X-A: ${"a".repeat(1 << 20)}\r\nContent-Length: 2`),
  "/header-60-kb": ok(`X-A: ${"a".repeat(60_000)}\r\nContent-Length: 2`),
  "/headers-10000": ok(`${headers(10_000)}Content-Length: 2`),
  "/headers-150": ok(`${headers(150)}Content-Length: 2`),
  "/reason-1-mb": statusLine(`HTTP/1.1 200 ${"a".repeat(1 << 20)}`),
};

const ends: Answers = {
  "/cut-in-head": "HTTP/1.1 200 OK\r\nContent-Len",
  "/empty": "",
};

const redirect = (status: string, location?: string) =>
  `HTTP/1.1 ${status}\r\n${location === undefined ? "" : `Location: ${location}\r\n`}Content-Length: 0\r\n\r\n`;

const redirects: Answers = {
  "/300": redirect("300 Multiple Choices"),
  "/301-nowhere": redirect("301 Moved Permanently"),
  "/302-to-loopback": redirect("302 Found", "http://127.0.0.1:8080/secret"),
  "/307-to-loopback": redirect("307 Temporary Redirect", "https://127.0.0.1:8443/secret"),
  "/308-to-itself": redirect("308 Permanent Redirect", "/echo"),
};

function headers(count: number): string {
  return Array.from({ length: count }, (_, at) => `X-${at}: a\r\n`).join("");
}

/** Bytes without any sense, the same in every run. */
function noise(bytes: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, at) => (at * 7919 + (at * at * 31)) % 251 + 4);
}

/** Sends the same again and again. */
export async function repeat(write: Exchange["write"], text: string, times: number): Promise<void> {
  const perPiece = Math.max(1, Math.floor(64 * 1024 / text.length));
  for (let sent = 0; sent < times; sent += perPiece) await write(text.repeat(perPiece));
}

/** Pieces without end. */
export function* endless(piece: (count: number) => string): Generator<string> {
  for (let count = 0;; count++) yield piece(count);
}

/** Answers whose head must not be taken. */
export const hostileHeads: Answers = { ...late, ...framings, ...lines, ...sizes, ...ends, ...redirects };
