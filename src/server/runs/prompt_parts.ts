import type { PromptFile } from "@/engine/engine.ts";
import type { MessageJson, PartJson } from "@/protocol/task.ts";
import { cleanFileName } from "@/workspace/file_names.ts";

/** A caller's message as an engine gets it, or why it cannot be worked on. */
export type PromptParts =
  | { readonly kind: "prompt"; readonly text: string; readonly files: readonly PromptFile[] }
  | { readonly kind: "bad file"; readonly message: string };

/** What stands in the history for a file part whose bytes are in the inbox (data-model.md 5). */
export interface ReceivedFile {
  readonly bytes: number;
  readonly sha256?: string;
  /** From the workspace's root. Absent: it was over the limit and was not kept. */
  readonly path?: string;
}

/** The member of `data` that marks a received file. */
export const receivedFileKey = "volcanic.file";

/**
 * Turns the parts of a stored message into what an engine is prompted with: all parts in their order, text as it is, `data`
 * as JSON, a file by a line that says where it is (product.md §5.6).
 *
 * `folder` is where this task's files are, from the workspace's root. A caller can write the note of a received file too:
 * one that names another place is what it looks like, `data`.
 */
export function promptParts(
  message: MessageJson,
  { fileBytesMax, folder }: { readonly fileBytesMax: number; readonly folder: string },
): PromptParts {
  const lines: string[] = [];
  const files: PromptFile[] = [];
  for (const part of message.parts) {
    const file = receivedFile(part, folder);
    if (part.text !== undefined) {
      lines.push(part.text);
    } else if (part.url !== undefined) {
      return { kind: "bad file", message: `Cannot fetch ${nameOf(part)}: this server takes files as bytes only` };
    } else if (file === undefined) {
      lines.push(JSON.stringify(part.data));
    } else if (file.path === undefined) {
      return { kind: "bad file", message: `${nameOf(part)} has ${file.bytes} bytes, the limit is ${fileBytesMax}` };
    } else {
      const mediaType = part.mediaType ?? "application/octet-stream";
      files.push({ path: file.path, mediaType, bytes: file.bytes });
      lines.push(`[file ${file.path}, ${file.bytes} bytes, ${mediaType}]`);
    }
  }
  return { kind: "prompt", text: lines.join("\n"), files };
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

function nameOf(part: PartJson): string {
  return `file "${part.filename ?? "without a name"}"`;
}
