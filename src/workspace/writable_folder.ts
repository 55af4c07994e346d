import { join } from "node:path";
import type { Random } from "@/random.ts";
import type { Disk } from "./disk.ts";

/** Where it is tried, and how much room must be left. */
export interface WritableFolderOptions {
  readonly disk: Disk;
  readonly random: Random;
  /** Where `host.json` is: a file that a crash leaves is swept with that one's. */
  readonly folder: string;
  readonly freeBytesMin: number;
}

/** Says whether files can be written in a folder now, by writing one: room enough, no error, not read-only. Never rejects. */
export async function isFolderWritable(
  { disk, random, folder, freeBytesMin }: WritableFolderOptions,
): Promise<boolean> {
  const path = join(folder, `host.json.${random.hex(4)}.tmp`);
  try {
    if (freeBytesMin > 0 && await disk.freeBytes(folder) < freeBytesMin) return false;
    using file = await disk.createNew(path);
    await file.write(new TextEncoder().encode("1"));
    return true;
  } catch {
    return false;
  } finally {
    await disk.remove(path).catch(() => {});
  }
}
