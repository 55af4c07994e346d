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
