/**
 * Gives base64 in its one standard form (`+`, `/`, padded), or undefined when the text is none.
 *
 * Taken are the standard and the URL-safe alphabet, not mixed, with all of the padding or none; white space between characters is
 * overlooked. A length that no bytes give, and bits behind the last byte that are not zero, mean a damaged text: none.
 */
export function normalizeBase64(text: string): string | undefined {
  const alphabet = /[-_]/.test(text) ? "base64url" : "base64";
  const dense = /[\t\n\f\r ]/.test(text) ? text.replace(/[\t\n\f\r ]+/g, "") : text;
  const padded = dense.endsWith("=") ? dense : dense + "=".repeat((4 - dense.length % 4) % 4);
  try {
    return Uint8Array.fromBase64(padded, { alphabet, lastChunkHandling: "strict" }).toBase64();
  } catch {
    return undefined;
  }
}
