import type { FilePart, ModelMessage, TextPart } from "ai";
import type { PromptFile } from "@/engine/engine.ts";
import type { SessionFiles } from "@/engine/session_files.ts";
import { isShown, type ModelFiles, type ShownFile } from "./model_tool.ts";

/** Bytes of one file, and of all files of one message, that a model is shown itself. */
const fileBytesMax = 5 * 1024 * 1024;
const messageBytesMax = 20 * 1024 * 1024;

/** Reads the images and documents that came with a message, as far as the model takes them and they are not too large. */
export async function promptFiles(
  given: readonly PromptFile[],
  { files, takes }: { readonly files: SessionFiles | undefined; readonly takes: ModelFiles },
): Promise<readonly ShownFile[]> {
  if (files === undefined) return [];
  const shown: ShownFile[] = [];
  let bytes = 0;
  for (const { path, mediaType, bytes: size } of given) {
    if (!isShown(takes, mediaType) || size > fileBytesMax || bytes + size > messageBytesMax) continue;
    const read = await files.read(path);
    // The sender's word for what it is counts for nothing: what was found there does.
    if (read.kind !== "bytes" || !isShown(takes, read.mediaType) || read.bytes.length > fileBytesMax) continue;
    shown.push({ path, mediaType: read.mediaType, bytes: read.bytes });
    bytes += read.bytes.length;
  }
  return shown;
}

/** A message of the user with files, and the same as it is noted: without their bytes. */
export function messageWithFiles(
  text: string,
  files: readonly ShownFile[],
): { readonly message: ModelMessage; readonly noted: ModelMessage } {
  if (files.length === 0) {
    const message: ModelMessage = { role: "user", content: text };
    return { message, noted: message };
  }
  const first: TextPart = { type: "text", text };
  const parts = files.map(({ mediaType, bytes, path }): FilePart => ({
    ...{ type: "file", mediaType, data: bytes },
    filename: path.split("/").at(-1),
  }));
  return {
    message: { role: "user", content: [first, ...parts] },
    noted: { role: "user", content: [first, ...files.map(placeholder)] },
  };
}

function placeholder({ path, mediaType }: ShownFile): TextPart {
  return { type: "text", text: `[${path}, ${mediaType}: it was shown here; read it to see it again]` };
}
