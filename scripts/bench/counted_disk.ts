import type { Disk, WritableFile } from "@/workspace/disk.ts";

/** A disk that counts the bytes that go into files. */
export interface CountedDisk extends Disk {
  /** Bytes written so far to files whose path has `part` in it. */
  bytesTo(part: string): number;
}

/** Counts over another disk. With `durable` false nothing is flushed: for benches that do not measure the disk. */
export function countedDisk(disk: Disk, { durable = true }: { readonly durable?: boolean } = {}): CountedDisk {
  const written = new Map<string, number>();
  const counted = (path: string, file: WritableFile): WritableFile => ({
    get stamp() {
      return file.stamp;
    },
    [Symbol.dispose]: () => file[Symbol.dispose](),
    async write(bytes) {
      await file.write(bytes);
      written.set(path, (written.get(path) ?? 0) + bytes.length);
    },
    flush: () => durable ? file.flush() : Promise.resolve(),
    truncate: (length) => file.truncate(length),
  });
  return {
    ...disk,
    openAppend: async (path) => counted(path, await disk.openAppend(path)),
    createNew: async (path) => counted(path, await disk.createNew(path)),
    openWrite: async (path) => counted(path, await disk.openWrite(path)),
    syncFolder: (path) => durable ? disk.syncFolder(path) : Promise.resolve(),
    bytesTo(part) {
      let sum = 0;
      for (const [path, bytes] of written) if (path.includes(part)) sum += bytes;
      return sum;
    },
  };
}
