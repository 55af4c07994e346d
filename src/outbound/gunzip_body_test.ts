import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { GunzipBody } from "./gunzip_body.ts";
import { OutboundError } from "./outbound_error.ts";
import type { BodyPieces } from "./response_body.ts";

async function gzip(content: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([content]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Gives bytes in pieces of `length`, then the end or a failure, and counts how many were asked for. */
function piecesOf(bytes: Uint8Array<ArrayBuffer>, { length = 7, failure = undefined as Error | undefined } = {}) {
  let at = 0;
  const seen = { asked: 0 };
  const pieces: BodyPieces = {
    next() {
      seen.asked++;
      const piece = bytes.subarray(at, at += length);
      if (piece.length > 0) return Promise.resolve(piece);
      return failure === undefined ? Promise.resolve(undefined) : Promise.reject(failure);
    },
  };
  return { pieces, seen };
}

async function all(body: BodyPieces): Promise<Uint8Array> {
  const bytes: number[] = [];
  for (let piece = await body.next(); piece !== undefined; piece = await body.next()) bytes.push(...piece);
  return Uint8Array.from(bytes);
}

const text = new TextEncoder().encode('{"hello":"gzip"}');

Deno.test("GunzipBody decodes what comes in any pieces", async () => {
  const encoded = await gzip(text);
  for (const length of [1, 7, 1000]) {
    await using body = new GunzipBody(piecesOf(encoded, { length }).pieces, text.length);
    deepStrictEqual(await all(body), text);
  }
});

Deno.test("GunzipBody stops a bomb at its bound, long before it is decoded [§13 body-bounded]", async () => {
  const encoded = await gzip(new Uint8Array(50_000_000));
  const { pieces, seen } = piecesOf(encoded, { length: 1024 });
  await using body = new GunzipBody(pieces, 3_000_000);
  await rejects(
    async () => {
      while (await body.next());
    },
    { code: "BODY_TOO_LARGE", phase: "body" },
  );
  ok(seen.asked < 12, `${seen.asked} of ${Math.ceil(encoded.length / 1024)} pieces`);
});

Deno.test("GunzipBody refuses what is no gzip, is cut short, or has more behind it", async () => {
  const encoded = await gzip(text);
  const more = new Uint8Array([...encoded, ...encoded]);
  for (const bad of [text, encoded.slice(0, -3), encoded.slice(0, 12), new Uint8Array(), more]) {
    await using body = new GunzipBody(piecesOf(bad).pieces, 1000);
    await rejects(all(body), { code: "MALFORMED_RESPONSE", phase: "body" });
  }
});

Deno.test("GunzipBody refuses what is cut short when that is seen before it is read", async () => {
  const encoded = await gzip(text);
  await using body = new GunzipBody(piecesOf(encoded.slice(0, -3), { length: 1000 }).pieces, 1000);
  deepStrictEqual(await body.next(), text);
  await new Promise((resolve) => setTimeout(resolve, 0));
  await rejects(body.next(), { code: "MALFORMED_RESPONSE", phase: "body" });
});

Deno.test("GunzipBody passes on why the body could not be read", async () => {
  const failure = new OutboundError("BODY_TRUNCATED", "body", { message: "cut" });
  await using body = new GunzipBody(piecesOf((await gzip(text)).slice(0, -3), { failure }).pieces, 1000);
  await rejects(all(body), failure);
});

Deno.test("GunzipBody asks for nothing before it is read, and leaves nothing when it is disposed of [§13 ends-whole]", async () => {
  const { pieces, seen } = piecesOf(await gzip(new Uint8Array(5_000_000)), { length: 100 });
  {
    await using _unread = new GunzipBody(pieces, 1000);
    strictEqual(seen.asked, 0);
  }
  await using begun = new GunzipBody(pieces, 5_000_000);
  ok((await begun.next())!.length > 0);
});
