import { createHash } from "node:crypto";

/** The SHA-256 of bytes, or of a text in UTF-8, as 64 lower-case hex digits. */
export function sha256Hex(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** A SHA-256 that takes its bytes piece by piece: `update` as often as needed, then `hex` once. */
export function startSha256(): { update(bytes: Uint8Array): void; hex(): string } {
  const hash = createHash("sha256");
  return { update: (bytes) => void hash.update(bytes), hex: () => hash.digest("hex") };
}
