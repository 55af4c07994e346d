import type { PromptFile } from "@/engine/engine.ts";
import type { MessageJson, PartJson } from "@/protocol/task.ts";
import { cleanFileName } from "@/workspace/file_names.ts";

/** A caller's message as an engine gets it, or what must be fetched first, or why it cannot be worked on. */
export type PromptParts =
  | { readonly kind: "prompt"; readonly text: string; readonly files: readonly PromptFile[] }
  | { readonly kind: "to fetch"; readonly parts: readonly UrlPart[] }
  | { readonly kind: "bad file"; readonly message: string };

/** A part whose bytes are elsewhere. */
export type UrlPart = PartJson & { readonly url: string };

/** What stands in the history for a file part whose bytes are in the inbox (data-model.md 5). */
export interface ReceivedFile {
  readonly bytes: number;
  readonly sha256?: string;
  /** From the workspace's root. Absent: it was over the limit and was not kept. */
  readonly path?: string;
}

/** The member of `data` that marks a received file. */
export const receivedFileKey = "volcanic.file";

/** What is known of the files of a message. */
export interface PromptPartsOptions {
  readonly fileBytesMax: number;
  /** Where this task's files are, from the workspace's root. */
  readonly folder: string;
  /** What was fetched, by its part. Absent: nothing yet. */
  readonly fetched?: ReadonlyMap<PartJson, PromptFile>;
}

/**
 * Turns the parts of a stored message into what an engine is prompted with: all parts in their order, text as it is, `data`
 * as JSON, a file by a line that says where it is (product.md §5.6). A message with a bad file is not worth a fetch.
 *
 * A caller can write the note of a received file too: one that names another place than `folder` is what it looks like,
 * `data`.
 */
export function promptParts(message: MessageJson, { fileBytesMax, folder, fetched }: PromptPartsOptions): PromptParts {
  const lines: string[] = [];
  const files: PromptFile[] = [];
  const missing: UrlPart[] = [];
  const addFile = (file: PromptFile) => {
    files.push(file);
    lines.push(`[file ${file.path}, ${file.bytes} bytes, ${file.mediaType}]`);
  };
  for (const part of message.parts) {
    const received = receivedFile(part, folder);
    if (part.text !== undefined) {
      lines.push(part.text);
    } else if (isUrlPart(part)) {
      const file = fetched?.get(part);
      if (file === undefined) missing.push(part);
      else addFile(file);
    } else if (received === undefined) {
      lines.push(JSON.stringify(part.data));
    } else if (received.path === undefined) {
      return { kind: "bad file", message: tooLargeText(fileLabel(part.filename), received.bytes, { fileBytesMax }) };
    } else {
      const { path, bytes } = received;
      addFile({ path, bytes, mediaType: part.mediaType ?? "application/octet-stream" });
    }
  }
  if (missing.length > 0) return { kind: "to fetch", parts: missing };
  return { kind: "prompt", text: lines.join("\n"), files };
}

/** How a caller is told of one of its files. */
export function fileLabel(name: string | undefined): string {
  return `file "${name ?? "without a name"}"`;
}

/** What is said of a file over the limit. `bytes` is a text when only a bound is known. */
export function tooLargeText(
  label: string,
  bytes: number | string,
  { fileBytesMax }: { readonly fileBytesMax: number },
): string {
  return `${label} has ${bytes} bytes, the limit is ${fileBytesMax}`;
}

function isUrlPart(part: PartJson): part is UrlPart {
  return part.url !== undefined;
}

/** What a part says of a file that was received into `folder`, or was over the limit; undefined when it is none. */
function receivedFile(part: PartJson, folder: string): ReceivedFile | undefined {
  const data = part.data as Record<string, Partial<ReceivedFile>> | null | undefined;
  const { bytes, sha256, path } = (typeof data === "object" ? data?.[receivedFileKey] : undefined) ?? {};
  if (typeof bytes !== "number") return undefined;
  if (path === undefined) return { bytes };
  const isThere = typeof path === "string" && path.startsWith(`${folder}/`) &&
    isPlainName(path.slice(folder.length + 1));
  return isThere ? { bytes, sha256, path } : undefined;
}

function isPlainName(name: string): boolean {
  return name === cleanFileName(name);
}
