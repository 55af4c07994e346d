import { deepStrictEqual, ok, rejects, strictEqual, throws } from "node:assert/strict";
import { cutSource } from "@tests/fakes/cut_source.ts";
import { createSeededRandom } from "@tests/fakes/seeded_random.ts";
import { OutboundError } from "./outbound_error.ts";
import { type BodyPieces, readBody } from "./response_body.ts";
import { framingOf, readHead } from "./response_head.ts";
import { ResponseWire } from "./response_wire.ts";

const chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const measured = (length: number) => `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`;
const open = "HTTP/1.1 200 OK\r\n\r\n";

/** Reads a whole answer; gives its status and body, or the code of what is wrong with it. */
async function read(
  content: string | Uint8Array,
  { bytesMax = 1000, nextLength }: { readonly bytesMax?: number; readonly nextLength?: () => number } = {},
): Promise<string> {
  const wire = new ResponseWire(cutSource(content, nextLength));
  try {
    const head = await readHead(wire);
    const body = new TextDecoder("latin1").decode(
      await all(readBody(wire, { framing: framingOf(head, "GET"), bytesMax })),
    );
    return `${head.status} ${body}`;
  } catch (error) {
    if (error instanceof OutboundError) return error.code;
    throw error;
  }
}

async function all(body: BodyPieces): Promise<Uint8Array> {
  const bytes: number[] = [];
  for (let piece = await body.next(); piece !== undefined; piece = await body.next()) {
    ok(piece.length > 0);
    for (const byte of piece) bytes.push(byte);
  }
  strictEqual(await body.next(), undefined);
  return Uint8Array.from(bytes);
}

const answers: readonly (readonly [text: string, outcome: string])[] = [
  [`${measured(5)}hello`, "200 hello"],
  [`${measured(5)}hello, and more`, "200 hello"],
  [`${measured(0)}x`, "200 "],
  [`${open}until close`, "200 until close"],
  [open, "200 "],
  ["HTTP/1.1 204 OK\r\nContent-Length: 3\r\n\r\nabc", "204 "],
  [`${chunks}5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n`, "200 hello world"],
  [`${chunks}5;x\r\nhello\r\n00006 ; a=b\r\n world\r\n0;y\r\nA: b\r\nC: d\r\n\r\n`, "200 hello world"],
  [`${chunks}A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\nmore`, "200 01234567890123456789"],
  [`${chunks}0\r\n\r\n`, "200 "],
  [`HTTP/1.1 100 Continue\r\n\r\n${chunks}5\r\nhello\r\n0\r\n\r\n`, "200 hello"],
  [`${measured(9)}short`, "BODY_TRUNCATED"],
  [measured(9), "BODY_TRUNCATED"],
  [`${chunks}5\r\nhel`, "BODY_TRUNCATED"],
  [`${chunks}5\r\nhello`, "BODY_TRUNCATED"],
  [`${chunks}5\r\nhello\r\n`, "BODY_TRUNCATED"],
  [`${chunks}5\r\nhello\r\n0\r\n`, "BODY_TRUNCATED"],
  [`${chunks}5\r\nhello\r\n0\r\nA: b\r\n`, "BODY_TRUNCATED"],
  [`${chunks}5`, "BODY_TRUNCATED"],
  [`${chunks}5\r\nhelloX`, "BODY_TRUNCATED"],
  [`${chunks}5\r\nhelloX\r\n0\r\n\r\n`, "MALFORMED_RESPONSE"],
  ...["-5", "+5", "0x5", "", " 5", "5 x", "g", "FFFFFFFFF", "5;\u0001", "5;\u00e9", "5,5"].map((size) =>
    [`${chunks}${size}\r\nhello\r\n0\r\n\r\n`, "MALFORMED_RESPONSE"] as const
  ),
  [`${chunks}5\nhello\n0\n\n`, "MALFORMED_RESPONSE"],
  [`${chunks}5;${"x".repeat(300)}\r\nhello\r\n0\r\n\r\n`, "MALFORMED_RESPONSE"],
  [`${chunks}${"0".repeat(9)}\r\n\r\n`, "MALFORMED_RESPONSE"],
  [`${chunks}0\r\nA: b\u0001\r\n\r\n`, "MALFORMED_RESPONSE"],
  [`${chunks}0\r\n folded\r\n\r\n`, "MALFORMED_RESPONSE"],
  [`${chunks}0\r\n${"A: b\r\n".repeat(101)}\r\n`, "MALFORMED_RESPONSE"],
  [`${chunks}0\r\nA: ${"b".repeat(8 * 1024)}\r\n\r\n`, "MALFORMED_RESPONSE"],
  [`${chunks}FFFFFFFF\r\nhello`, "BODY_TOO_LARGE"],
];

for (const [text, outcome] of answers) {
  const shown = text.length > 120 ? `${text.slice(0, 120)}…` : text;
  Deno.test(`readBody() makes ${outcome} of ${JSON.stringify(shown)} however it is cut [§13 narrow-reader]`, async () => {
    strictEqual(await read(text), outcome);
    strictEqual(await read(text, { nextLength: () => 1 }), outcome);
    const random = createSeededRandom(text.length);
    for (let round = 0; round < 30; round++) {
      strictEqual(await read(text, { nextLength: () => 1 + random.below(7) }), outcome);
    }
  });
}

for (const [framing, text] of Object.entries({ measured: `${measured(10)}0123456789`, open: `${open}0123456789` })) {
  Deno.test(`readBody() takes a body of its bound and not one byte more: ${framing} [§13 body-bounded]`, async () => {
    strictEqual(await read(text, { bytesMax: 10 }), "200 0123456789");
    strictEqual(await read(text, { bytesMax: 9 }), "BODY_TOO_LARGE");
  });
}

Deno.test("readBody() takes chunks up to its bound and not one byte more [§13 body-bounded]", async () => {
  const text = `${chunks}5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n`;
  strictEqual(await read(text, { bytesMax: 10 }), "200 0123456789");
  strictEqual(await read(text, { bytesMax: 9 }), "BODY_TOO_LARGE");
});

Deno.test("readBody() refuses a length and a chunk over the bound before a byte of it [§13 body-bounded]", async () => {
  const wire = new ResponseWire(cutSource(""));
  throws(() => readBody(wire, { framing: { kind: "length", length: 11 }, bytesMax: 10 }), { code: "BODY_TOO_LARGE" });
  const chunked = new ResponseWire(cutSource("B\r\n"));
  await rejects(readBody(chunked, { framing: { kind: "chunked" }, bytesMax: 10 }).next(), { code: "BODY_TOO_LARGE" });
});

Deno.test("readBody() joins small chunks that are there, and gives large ones as they are", async () => {
  const lengths = async (text: string) => {
    const body = readBody(new ResponseWire(cutSource(text)), { framing: { kind: "chunked" }, bytesMax: 1e6 });
    const found: number[] = [];
    for (let piece = await body.next(); piece !== undefined; piece = await body.next()) found.push(piece.length);
    return found;
  };
  deepStrictEqual(await lengths(`${"1\r\nx\r\n".repeat(100)}0\r\n\r\n`), [100]);
  deepStrictEqual(await lengths(`${"1\r\nx\r\n".repeat(5)}5000\r\n${"y".repeat(0x5000)}\r\n0\r\n\r\n`), [16_384, 4101]);
  deepStrictEqual(await lengths(`5000\r\n${"y".repeat(0x5000)}\r\n0\r\n\r\n`), [20_480]);
});

Deno.test("readBody() never hangs, breaks or passes its bound, whatever comes [§13 narrow-reader]", async () => {
  const random = createSeededRandom(42);
  const seeds = [
    `${measured(5)}hello`,
    `${chunks}5;x=1\r\nhello\r\n6\r\n world\r\n0\r\nA: b\r\n\r\n`,
    `HTTP/1.1 103 E\r\nA: b\r\n\r\n${open}x`,
  ];
  const outcomes = new Map<string, number>();
  for (let round = 0; round < 20_000; round++) {
    let text = random.pick(seeds);
    for (let change = random.below(4); change >= 0; change--) text = changed(text, random);
    const outcome = await read(text, { bytesMax: 64, nextLength: () => 1 + random.below(40) });
    ok(/^[2-5]\d\d [^]{0,64}$/.test(outcome) || /^[A-Z_]+$/.test(outcome), outcome);
    const kind = /^\d/.test(outcome) ? "read" : outcome;
    outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1);
  }
  ok(outcomes.get("read")! > 100 && outcomes.get("MALFORMED_RESPONSE")! > 1000);
});

function changed(text: string, random: ReturnType<typeof createSeededRandom>): string {
  const at = random.below(text.length);
  const [before, after] = [text.slice(0, at), text.slice(at)];
  switch (random.below(4)) {
    case 0:
      return before + String.fromCharCode(random.below(256)) + after.slice(1);
    case 1:
      return (before + after.slice(1 + random.below(4))) || "A";
    case 2:
      return before + random.pick(["\r\n", "\n", "\0", ":", "0", "ffffffff", "-", " "]) + after;
    default:
      return before + text.slice(random.below(at + 1), at) + after;
  }
}
