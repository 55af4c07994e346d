import { dirname } from "node:path";
import type { Disk, WritableFile } from "./disk.ts";
import { ownLikeFolder } from "./owned_folder.ts";
import { startSha256 } from "./sha256.ts";

/** What is streamed, and where to. */
export interface StreamWrite {
  /** Read to its end, or left at the first failure. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** `Infinity` is no limit. */
  readonly bytesMax: number;
  /** The path of the whole file, in the folder of the temporary one. What it throws fails the write. */
  readonly pathOf: (written: StreamedFile) => string;
}

/** A file that was written whole. */
export interface StreamedFile {
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Streams bytes to the new file `temporary` and gives it its path when it is whole and flushed: never a part of it stands
 * there. The folder must be there; `writeAtomically` does the same with bytes that are in memory already.
 *
 * The file has mode 0600 and, when root writes into another user's folder, that user. The caller makes its name durable,
 * with `Disk.syncFolder`. Over `bytesMax`, and when this rejects, the temporary file is removed as far as that is possible;
 * what a crash leaves is swept at the next start when the name is one of `temporaryPath`. Rejects with the disk's error,
 * or that of `bytes`.
 */
export async function writeStream(
  disk: Disk,
  temporary: string,
  write: StreamWrite,
): Promise<StreamedFile | "too large"> {
  using file = await disk.createNew(temporary);
  let isWhole = false;
  try {
    const written = await writePieces(file, write);
    if (written === "too large") return written;
    await ownLikeFolder(disk, temporary, { owner: file.stamp.owner, folder: dirname(temporary) });
    await file.flush();
    file[Symbol.dispose](); // Windows renames no open file
    await disk.rename(temporary, write.pathOf(written));
    isWhole = true;
    return written;
  } finally {
    file[Symbol.dispose]();
    if (!isWhole) await disk.remove(temporary).catch(() => {}); // the first error says more
  }
}

async function writePieces(
  file: WritableFile,
  { bytes, bytesMax }: Pick<StreamWrite, "bytes" | "bytesMax">,
): Promise<StreamedFile | "too large"> {
  const hash = startSha256();
  let size = 0;
  for await (const piece of bytes) {
    size += piece.length;
    if (size > bytesMax) return "too large";
    hash.update(piece);
    await file.write(piece);
  }
  return { bytes: size, sha256: hash.hex() };
}
