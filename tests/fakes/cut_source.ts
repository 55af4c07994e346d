import type { ByteSource } from "@/outbound/response_wire.ts";

/** Gives the bytes of a text (each letter is a byte) or bytes in parts as long as `nextLength` says, then the end. */
export function cutSource(content: string | Uint8Array, nextLength: () => number = () => Infinity): ByteSource {
  const bytes = typeof content === "string" ? Uint8Array.from(content, (letter) => letter.charCodeAt(0)) : content;
  let at = 0;
  return {
    read(buffer) {
      if (at >= bytes.length) return Promise.resolve(null);
      const part = bytes.subarray(at, at + Math.min(nextLength(), buffer.length));
      buffer.set(part);
      at += part.length;
      return Promise.resolve(part.length);
    },
  };
}
