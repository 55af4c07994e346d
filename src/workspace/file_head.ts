import { getLogger } from "@logtape/logtape";
import { openConfined, type OpenOptions } from "./confined_files.ts";
import type { Confinement } from "./confined_path.ts";

const logger = getLogger(["a2a", "workspace"]);

/** As much of a file that the owner writes in prose as is ever read (data-model.md 2). */
export const headBytesMax = 64 * 1024;

/** The beginning of a file. */
export interface FileHead {
  readonly text: string;
  /** The file goes on. */
  readonly isCut: boolean;
}

/**
 * Reads the first 64 KiB of a regular file in the root, through `openConfined`; undefined when there is none, and when it may
 * not be read, then with a warning. Rejects only when the disk fails.
 */
export async function readHead(
  within: Confinement,
  path: string,
  options: OpenOptions,
): Promise<FileHead | undefined> {
  // Most of the files that are asked for are not there: one look says so, the whole way to one takes three, in turn.
  const isThere = () => within.disk.linkStampSync(`${within.root}/${path}`) !== undefined;
  if (!isThere()) return undefined;
  const opened = await openConfined(within, path, options);
  if (opened.kind === "refused") {
    if (isThere()) logger.warning("Left {file} out: {why}", { file: path, why: opened.why });
    return undefined;
  }
  using file = opened.file;
  const bytes = await file.readAt(0, headBytesMax);
  const isCut = file.stamp.bytes > bytes.length;
  // A character that the limit cuts in two is left out, and not shown as damage.
  return { text: new TextDecoder().decode(bytes, { stream: isCut }), isCut };
}
