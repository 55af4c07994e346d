import type { Disk, WritableFile } from "@/workspace/disk.ts";

/** A moment in which a kill leaves the most behind. */
export type DiskMoment =
  /** A task file gets its name. */
  | "saving"
  /** Megabytes are about to be appended to a transcript. */
  | "appending";

const longBytes = 1024 * 1024;

/** A disk that says when such a moment comes, just before it. */
export function createTellingDisk(disk: Disk, tell: (moment: DiskMoment) => void): Disk {
  return {
    ...disk,
    async openAppend(path) {
      const file = await disk.openAppend(path);
      return telling(file, () => tell("appending"));
    },
    rename(from, to) {
      if (to.includes("/tasks/") && to.endsWith(".json")) tell("saving");
      return disk.rename(from, to);
    },
  };
}

function telling(file: WritableFile, tell: () => void): WritableFile {
  return {
    get stamp() {
      return file.stamp;
    },
    [Symbol.dispose]: () => file[Symbol.dispose](),
    write(bytes) {
      if (bytes.length >= longBytes) tell();
      return file.write(bytes);
    },
    flush: () => file.flush(),
    truncate: (length) => file.truncate(length),
  };
}
