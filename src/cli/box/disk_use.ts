import { join } from "node:path";
import type { Clock } from "@/time/clock.ts";
import type { Disk } from "@/workspace/disk.ts";
import { isMissing } from "@/workspace/disk.ts";

/** How long a measure counts, and the most entries that are looked at: a caller with more is taken for one whose disk is full. */
const measureMs = 1_500;
const entriesMax = 200_000;

/** Measures what is in callers' folders, at most once in a while each. */
export class DiskUse {
  readonly #disk: Disk;
  readonly #clock: Clock;
  readonly #measures = new Map<string, { readonly at: number; readonly bytes: Promise<number> }>();

  constructor({ disk, clock }: { readonly disk: Disk; readonly clock: Clock }) {
    this.#disk = disk;
    this.#clock = clock;
  }

  /**
   * The bytes below folders, links not followed; `Infinity` when there is too much to look at, or what cannot be looked at: a
   * program may lock its folders, and must gain nothing by it. A file counts as long as it says it is, and each as one block at
   * least, so that many small ones are not free. What goes meanwhile is not counted. Never rejects.
   */
  bytesIn(folders: readonly string[]): Promise<number> {
    const key = folders.join("\n");
    const now = this.#clock.elapsed();
    for (const [old, { at }] of this.#measures) if (now - at >= measureMs) this.#measures.delete(old);
    const known = this.#measures.get(key);
    if (known !== undefined) return known.bytes;
    const bytes = this.#measure(folders).catch(() => Infinity);
    this.#measures.set(key, { at: now, bytes });
    return bytes;
  }

  async #measure(folders: readonly string[]): Promise<number> {
    const open = [...folders];
    let [bytes, entries] = [0, 0];
    for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
      const names = await this.#disk.list(folder).catch((error) => {
        if (isMissing(error)) return [];
        throw error;
      });
      entries += names.length;
      if (entries > entriesMax) return Infinity;
      for (const { name, kind } of names) {
        const path = join(folder, name);
        if (kind === "folder") open.push(path);
        bytes += Math.max(blockBytes, this.#disk.linkStampSync(path)?.bytes ?? 0);
      }
    }
    return bytes;
  }
}

const blockBytes = 4096;
