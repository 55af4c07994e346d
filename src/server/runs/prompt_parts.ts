import type { PromptFile } from "@/engine/engine.ts";
import type { MessageJson, PartJson } from "@/protocol/task.ts";

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
 */
export function promptParts(message: MessageJson, fileBytesMax: number): PromptParts {
  const lines: string[] = [];
  const files: PromptFile[] = [];
  for (const part of message.parts) {
    const file = receivedFile(part);
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

/** What a part says of a received file; undefined when it is none. */
export function receivedFile(part: PartJson): ReceivedFile | undefined {
  const data = part.data as Record<string, ReceivedFile> | null | undefined;
  return typeof data === "object" && data !== null ? data[receivedFileKey] : undefined;
}

function nameOf(part: PartJson): string {
  return `file "${part.filename ?? "without a name"}"`;
}
