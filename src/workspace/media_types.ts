import { extname } from "node:path";

const byExtension: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".pdf": "application/pdf",
  ".txt": "text/plain",
  ".md": "text/markdown",
  ".json": "application/json",
  ".csv": "text/csv",
};

/** The media type of a file by its name; `application/octet-stream` when the ending says nothing (seed 000 "Files in"). */
export function mediaTypeOf(name: string): string {
  return byExtension[extname(name).toLowerCase()] ?? "application/octet-stream";
}

/** The media type of an image or document that some models read, by its first bytes; undefined for anything else. */
export function shownMediaType(head: Uint8Array): string | undefined {
  const text = String.fromCharCode(...head.subarray(0, 12));
  return shownTypes.find(([begins]) => begins.test(text))?.[1];
}

const shownTypes: readonly (readonly [begins: RegExp, mediaType: string])[] = [
  [/^\x89PNG\r\n\x1a\n/, "image/png"],
  [/^\xff\xd8\xff/, "image/jpeg"],
  [/^GIF8[79]a/, "image/gif"],
  [/^RIFF[^]{4}WEBP/, "image/webp"],
  [/^%PDF-/, "application/pdf"],
];
