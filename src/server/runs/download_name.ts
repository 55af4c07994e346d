import { dispositionFileName } from "@/protocol/content_disposition.ts";
import { cleanFileName } from "@/workspace/file_names.ts";
import type { UrlPart } from "./prompt_parts.ts";

/**
 * Returns what a fetched file is called: as its part says, else as the answer says, else as its URL ends, else `file`;
 * always cleaned, and not yet unique.
 */
export function downloadName(part: UrlPart, headers: Headers): string {
  const given = part.filename ?? dispositionFileName(headers.get("content-disposition"));
  return cleanFileName(given ?? urlFileName(part.url) ?? "file");
}

/** The last segment of a URL's path, percent-decoded; undefined when it is empty. Any text: clean it. */
export function urlFileName(url: string): string | undefined {
  const segment = URL.parse(url)?.pathname.split("/").at(-1) ?? "";
  try {
    return decodeURIComponent(segment) || undefined;
  } catch {
    return segment; // no UTF-8: as it stands
  }
}
