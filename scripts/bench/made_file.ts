import { startSha256 } from "@/workspace/sha256.ts";

const blockBytes = 64 * 1024;

/** The bytes of the made file of this size: the same on every run, no two blocks alike, nothing that could be packed. */
export function* madeFile(bytes: number): Generator<Uint8Array<ArrayBuffer>> {
  const block = new Uint8Array(blockBytes);
  for (let at = 0, state = 1; at < blockBytes; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    block[at] = state >>> 16;
  }
  for (let number = 0, left = bytes; left > 0; number++, left -= blockBytes) {
    const next = block.slice(0, Math.min(left, blockBytes));
    if (next.length >= 4) new DataView(next.buffer).setUint32(0, number);
    yield next;
  }
}

/** The SHA-256 of pieces that follow each other. */
export async function digestOf(pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<string> {
  const hash = startSha256();
  for await (const piece of pieces) hash.update(piece);
  return hash.hex();
}
