import type { Disk, WritableFile } from "@/workspace/disk.ts";

/** What a child does to its disk, to be killed in moments that chance seldom finds. */
export interface DiskMoments {
  /** A task file is about to get its name. */
  saving(): void;
  /** How much of a write to `path` comes through, from 0 to 1, before nothing more does; undefined: all, as always. */
  cut(path: string): number | undefined;
  /** A write was cut: the rest never comes. */
  torn(): void;
}

/** A disk with such moments: a write that is cut is what a kill in the middle of it leaves. */
export function createTearingDisk(disk: Disk, moments: DiskMoments): Disk {
  const tearing = (path: string, file: WritableFile): WritableFile => ({
    get stamp() {
      return file.stamp;
    },
    [Symbol.dispose]: () => file[Symbol.dispose](),
    async write(bytes) {
      const share = moments.cut(path);
      if (share === undefined) return await file.write(bytes);
      await file.write(bytes.subarray(0, Math.floor(bytes.length * share)));
      moments.torn();
      await new Promise(() => {});
    },
    flush: () => file.flush(),
    truncate: (length) => file.truncate(length),
  });
  return {
    ...disk,
    openAppend: async (path) => tearing(path, await disk.openAppend(path)),
    createNew: async (path) => tearing(path, await disk.createNew(path)),
    rename(from, to) {
      if (to.includes("/tasks/") && to.endsWith(".json")) moments.saving();
      return disk.rename(from, to);
    },
  };
}
