import { dirname, join } from "node:path";
import type { Disk, WritableFile } from "@/workspace/disk.ts";

/** A folder as a crash leaves it: the bytes of each file by its path below the root. */
export type LeftBehind = ReadonlyMap<string, Uint8Array>;

/**
 * A disk that knows at every moment what a crash would leave of one folder.
 *
 * Writes go out in two halves, so a crash in the middle of one is a moment too.
 */
export interface CrashingDisk extends Disk {
  left(how: Crash): LeftBehind;
}

/**
 * `kill` leaves all that was written. `power` leaves only what was flushed, under names whose folders were synced.
 * `power, removed` is the same, but what was removed is gone at once: a file system may keep either order.
 */
export type Crash = "kill" | "power" | "power, removed";

export interface CrashingDiskOptions {
  /** The folder that is looked at. */
  readonly root: string;
  /** Runs before everything that changes what a crash leaves. */
  readonly beforeChange: () => void;
  /** What is in the folder already, durably. */
  readonly initial?: LeftBehind;
}

export function createCrashingDisk(disk: Disk, { root, beforeChange, initial }: CrashingDiskOptions): CrashingDisk {
  const shadow = new Shadow(root, initial ?? new Map());
  const change = async <T>(work: Promise<T>, effect: () => void): Promise<T> => {
    const result = await work;
    beforeChange();
    effect();
    return result;
  };
  const create = (path: string, opened: Promise<WritableFile>) =>
    opened.then((file) => {
      beforeChange();
      return writable(file, shadow.create(path), beforeChange);
    });
  return {
    ...disk,
    left: (how) => shadow.left(how),
    openAppend: (path) => create(path, disk.openAppend(path)),
    createNew: (path) => create(path, disk.createNew(path)),
    openWrite: (path) => create(path, disk.openWrite(path)),
    rename: (from, to) => change(disk.rename(from, to), () => shadow.rename(from, to)),
    remove: (path) => change(disk.remove(path), () => shadow.remove(path)),
    makeFolder: (path) => change(disk.makeFolder(path), () => shadow.makeFolder(path)),
    syncFolder: (path) => change(disk.syncFolder(path), () => shadow.sync(path)),
  };
}

/** Writes what a crash left to a real folder. */
export async function restore(left: LeftBehind, folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  for (const [path, bytes] of left) {
    await Deno.mkdir(dirname(join(folder, path)), { recursive: true });
    await Deno.writeFile(join(folder, path), bytes);
  }
}

interface Node {
  written: Uint8Array;
  flushed: Uint8Array;
}

const folderNode = "folder";

/** What is in a folder, as written and as it would be after a loss of power. */
class Shadow {
  readonly #root: string;
  #names = new Map<string, Node | typeof folderNode>();
  #durable = new Map<string, Node | typeof folderNode>();
  /** Names that were removed since their folder was synced. */
  readonly #removed = new Set<string>();

  constructor(root: string, initial: LeftBehind) {
    this.#root = root;
    for (const [name, bytes] of initial) {
      if (dirname(name) !== ".") this.#names.set(dirname(name), folderNode);
      this.#names.set(name, { written: bytes, flushed: bytes });
    }
    this.#durable = new Map(this.#names);
  }

  create(path: string): Node {
    const node = { written: new Uint8Array(), flushed: new Uint8Array() };
    this.#names.set(this.#below(path), node);
    return node;
  }

  makeFolder(path: string): void {
    if (path !== this.#root) this.#names.set(this.#below(path), folderNode);
  }

  rename(from: string, to: string): void {
    const node = this.#names.get(this.#below(from))!;
    this.#names.delete(this.#below(from));
    this.#names.set(this.#below(to), node);
  }

  remove(path: string): void {
    const name = this.#below(path);
    for (const other of [...this.#names.keys()]) {
      if (other !== name && !other.startsWith(`${name}/`)) continue;
      this.#names.delete(other);
      this.#removed.add(other);
    }
  }

  sync(folder: string): void {
    const isIn = (name: string) => join(this.#root, dirname(name)) === folder;
    for (const name of [...this.#durable.keys()]) if (isIn(name)) this.#durable.delete(name);
    for (const [name, node] of this.#names) if (isIn(name)) this.#durable.set(name, node);
    for (const name of [...this.#removed]) if (isIn(name)) this.#removed.delete(name);
  }

  left(how: Crash): LeftBehind {
    const names = how === "kill" ? this.#names : this.#durable;
    const found = new Map<string, Uint8Array>();
    for (const [name, node] of names) {
      const isReached = dirname(name) === "." || names.has(dirname(name));
      if (how === "power, removed" && this.#removed.has(name)) continue;
      if (node !== folderNode && isReached) found.set(name, how === "kill" ? node.written : node.flushed);
    }
    return found;
  }

  #below(path: string): string {
    if (!path.startsWith(`${this.#root}/`)) throw new RangeError(`Cannot follow ${path}: it is not in ${this.#root}`);
    return path.slice(this.#root.length + 1);
  }
}

function writable(file: WritableFile, node: Node, beforeChange: () => void): WritableFile {
  const write = async (bytes: Uint8Array) => {
    await file.write(bytes);
    beforeChange();
    const written = new Uint8Array(node.written.length + bytes.length);
    written.set(node.written);
    written.set(bytes, node.written.length);
    node.written = written;
  };
  return {
    get stamp() {
      return file.stamp;
    },
    [Symbol.dispose]: () => file[Symbol.dispose](),
    async write(bytes) {
      const half = bytes.length >> 1;
      await write(bytes.subarray(0, half));
      await write(bytes.subarray(half));
    },
    async flush() {
      await file.flush();
      beforeChange();
      node.flushed = node.written;
    },
    async truncate(length) {
      await file.truncate(length);
      beforeChange();
      node.written = node.written.slice(0, length);
    },
  };
}
