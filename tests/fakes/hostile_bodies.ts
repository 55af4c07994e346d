import { gzipSync } from "node:zlib";
import { type Answer, type Answers, latin1 } from "./hostile_connection.ts";
import { endless, repeat } from "./hostile_heads.ts";

const chunked = (body: string) => `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}`;
const counted = (bytes: number, body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n${body}`;

const late: Answers = {
  "/slow-body": async ({ write, drip }) => {
    await write(counted(10_000_000, ""));
    await drip(endless(() => "x"));
  },
  "/stalled-body": stays(counted(10_000, "abcdef")),
  "/stalled-chunk": stays(chunked("5\r\nhello\r\n")),
};

/** Ends too soon; `/rst-body` of the prototype is a server of its own. */
const truncated: Answers = {
  "/short-of-length": counted(1000, "short"),
  "/short-of-chunk": chunked("10\r\nshort"),
  "/no-last-chunk": chunked("5\r\nhello\r\n"),
  "/close-without-notify": async ({ write, withholdEnd }) => {
    withholdEnd();
    await write("HTTP/1.1 200 OK\r\n\r\nhello until it is cut");
  },
};

const chunks: Answers = {
  "/chunk-no-number": chunked("zz\r\nhello\r\n0\r\n\r\n"),
  "/chunk-negative": chunked("-5\r\nhello\r\n0\r\n\r\n"),
  "/chunk-0x": chunked("0x5\r\nhello\r\n0\r\n\r\n"),
  "/chunk-overflow": chunked("10000000000000005\r\nhello\r\n0\r\n\r\n"),
  "/chunk-too-long": chunked("5\r\nhelloXX0\r\n\r\n"),
  "/chunk-lf": chunked("5\nhello\n0\n\n"),
  "/chunk-extension-lf": chunked("5;a\nb\r\nhello\r\n0\r\n\r\n"),
  "/chunk-zeros": chunked("000000000000000000000000000005\r\nhello\r\n0\r\n\r\n"),
  "/chunk-extension-flood": async ({ write }) => {
    await write(chunked("5;"));
    await repeat(write, "a".repeat(64 * 1024), 400);
    await write("\r\nhello\r\n0\r\n\r\n");
  },
  "/trailer-flood": async ({ write }) => {
    await write(chunked("5\r\nhello\r\n0\r\n"));
    await repeat(write, `X-T: ${"a".repeat(100)}\r\n`, 200_000);
    await write("\r\n");
  },
  "/chunk-million": async ({ write }) => {
    await write(chunked(""));
    for (let tenth = 0; tenth < 10; tenth++) await write("1\r\na\r\n".repeat(100_000));
    await write("0\r\n\r\n");
  },
};

const bombBytes = 300 * 1024 * 1024;
let bomb: Uint8Array | undefined;

const encoded: Answers = {
  "/gzip": gzipped(() => gzipSync('{"hello":"gzip"}')),
  "/gzip-bomb": gzipped(() => bomb ??= gzipSync(new Uint8Array(bombBytes))),
  "/gzip-cut": gzipped(() => gzipSync(latin1(hardToPack(100_000))).subarray(0, -20)),
  "/gzip-none": gzipped(() => latin1("not gzip")),
  "/gzip-twice": gzipped(() => gzipSync(gzipSync("hi")), "gzip, gzip"),
  "/brotli": gzipped(() => latin1("whatever"), "br"),
};

function hardToPack(length: number): string {
  return Array.from({ length }, (_, at) => String.fromCharCode((at * 7919) % 251)).join("");
}

function gzipped(body: () => Uint8Array, encoding = "gzip"): Answer {
  return async ({ write }) => {
    const bytes = body();
    await write(`HTTP/1.1 200 OK\r\nContent-Encoding: ${encoding}\r\nContent-Length: ${bytes.length}\r\n\r\n`);
    await write(bytes);
  };
}

/** Sends this, and no more, and no end. */
function stays(text: string): Answer {
  return async ({ write, gone }) => {
    await write(text);
    await gone();
  };
}

/** Answers whose head is good and whose body must not be taken, or only with care. */
export const hostileBodies: Answers = { ...late, ...truncated, ...chunks, ...encoded };
