/** The longest beginning of a text that is at most `bytesMax` bytes of UTF-8, cut between two characters. */
export function cutText(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax) return text;
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= bytesMax) return text;
  let end = bytesMax;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--; // the middle of a character
  return new TextDecoder().decode(bytes.subarray(0, end));
}
