import * as fs from "node:fs";
import { promisify } from "node:util";
import type { Clock } from "@/time/clock.ts";
import { streamFile } from "./file_stream.ts";
import { createLockQueue, takeLock } from "./lock_turns.ts";

/**
 * The only door to the file system. No other module calls `Deno.open`, `Deno.rename` and their like, so tests can make
 * any of it slow, failing or short (`tests/fakes/faulty_disk.ts`).
 *
 * Paths are absolute. Everything rejects with the runtime's own errors; `isDiskFull` and `isMissing` tell two apart.
 * Nothing here follows our rules about which paths a stranger may name: that is `confined_files.ts`.
 */
export interface Disk {
  /** What is at `path`, links followed; undefined when nothing is. Synchronous, about 4 µs: cheap enough for each use. */
  stampSync(path: string): FileStamp | undefined;
  /** What is at `path` itself: a link is a link. */
  linkStampSync(path: string): FileStamp | undefined;
  /** Opens to read, without waiting for the other end of a FIFO. Refuses nothing: look at `stamp` first. */
  openRead(path: string): Promise<ReadableFile>;
  /** The same, synchronous: for the small files that are looked at on every request. */
  openReadSync(path: string): ReadableFile;
  /** Opens at the end, making the file (mode 0600) when it is missing. */
  openAppend(path: string): Promise<WritableFile>;
  /** Makes a file that was not there (mode 0600). */
  createNew(path: string): Promise<WritableFile>;
  /** Opens a file that is there to write from its start, without waiting and without cutting it: look at `stamp` first. */
  openWrite(path: string): Promise<WritableFile>;
  /** Takes the lock of the file at `path`, which is made when missing; undefined when `waitMs` passed without it. */
  lock(path: string, waitMs: number): Promise<FileLock | undefined>;
  rename(from: string, to: string): Promise<void>;
  /** Gives what is at `path` itself (a link is a link) to a user and a group. Only root may. */
  own(path: string, owner: number, group: number): Promise<void>;
  /** Removes a file, or a folder and all in it. Nothing to remove is fine. */
  remove(path: string): Promise<void>;
  /** Makes a folder and those above it (mode 0700). One that is there is fine. */
  makeFolder(path: string): Promise<void>;
  /** The entries of a folder in no order; none when the folder is missing. */
  list(path: string): Promise<readonly FolderEntry[]>;
  /** Makes names in a folder durable: what was created, renamed or removed in it. */
  syncFolder(path: string): Promise<void>;
  /** The path that `path` leads to when all links are followed. */
  realPath(path: string): Promise<string>;
  /** Bytes that may still be written in the file system of `path`. */
  freeBytes(path: string): Promise<number>;
}

/** Which file this is and when it last changed. Two stamps of one unchanged file are equal in all fields. */
export interface FileStamp {
  readonly kind: "file" | "folder" | "link" | "other";
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly device: number;
  readonly inode: number;
  readonly owner: number;
  readonly group: number;
  readonly mode: number;
}

/** A name in a folder; a link is not followed. */
export interface FolderEntry {
  readonly name: string;
  readonly kind: FileStamp["kind"];
}

/** An open file to read. Dispose it; `stream` disposes it by itself. */
export interface ReadableFile extends Disposable {
  /** Of the open file itself, not of the path. */
  readonly stamp: FileStamp;
  /** Up to `bytesMax` bytes from the start. */
  readSync(bytesMax: number): Uint8Array<ArrayBuffer>;
  /** Up to `length` bytes from `position` on; fewer only at the end of the file. */
  readAt(position: number, length: number): Promise<Uint8Array<ArrayBuffer>>;
  /** The whole file, as long as it was when opened. */
  read(): Promise<Uint8Array<ArrayBuffer>>;
  /** The whole file in pieces of 64 KiB, read as they are asked for. Closes the file at its end, on cancel, after an error. */
  stream(): ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** An open file to write. Dispose it: what was not flushed may be lost with the power. */
export interface WritableFile extends Disposable {
  readonly stamp: FileStamp;
  /** Writes all of `bytes`. When it rejects, some of them may be in the file. */
  write(bytes: Uint8Array): Promise<void>;
  /** Resolves when what was written survives a loss of power. */
  flush(): Promise<void>;
  truncate(length: number): Promise<void>;
}

/** A lock on a file, held until it is disposed of or the process ends. */
export interface FileLock extends Disposable {
  /** Says whether the path still leads to the file that is locked. */
  holds(): boolean;
}

/** Says whether `error` means that no room is left (or the quota is used up). */
export function isDiskFull(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === "ENOSPC" || code === "EDQUOT";
}

/** Says whether `error` means that there is nothing at the path. */
export function isMissing(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return error instanceof Deno.errors.NotFound || code === "ENOENT" || code === "ENOTDIR";
}

/** Says whether `error` is about the path (no right, a loop of links, a folder in the way) and not about the disk. */
export function isPathTrouble(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === "string" && pathTrouble.has(code)) return true;
  const { NotCapable, PermissionDenied, FilesystemLoop, AlreadyExists, IsADirectory } = Deno.errors;
  return [NotCapable, PermissionDenied, FilesystemLoop, AlreadyExists, IsADirectory].some((kind) =>
    error instanceof kind
  );
}

const pathTrouble = new Set(
  ["EACCES", "EPERM", "ELOOP", "ENXIO", "ENAMETOOLONG", "EISDIR", "EEXIST", "EINVAL", "ETXTBSY", "EROFS", "EOPNOTSUPP"],
);

/**
 * At most this many file operations that write run at once: 83 % of the full rate, and other requests' p99 stays at
 * 11 ms instead of 135 ms (compile.md 10).
 */
const writesMax = 8;

/** The machine's file system, within the rights of this thread. `clock` bounds the wait for a lock. */
export function createDisk(clock: Clock): Disk {
  const turn = limiter(writesMax);
  const queue = createLockQueue<FileLock>(clock);
  return {
    stampSync: (path) => found(() => stampOfDeno(Deno.statSync(path))),
    linkStampSync: (path) => found(() => stampOfDeno(Deno.lstatSync(path))),
    openRead: async (path) => readable(await openFile(path, readFlags)),
    openReadSync: (path) => readable(fs.openSync(path, readFlags)),
    openAppend: async (path) =>
      writable(await turn(() => Deno.open(path, { append: true, create: true, mode: 0o600 })), turn),
    createNew: async (path) =>
      writable(await turn(() => Deno.open(path, { write: true, createNew: true, mode: 0o600 })), turn),
    openWrite: async (path) => writableFd(await turn(() => openFile(path, writeFlags)), turn),
    lock: (path, waitMs) => queue(path, waitMs, (leftMs) => lockFile(path, { waitMs: leftMs, clock })),
    rename: (from, to) => turn(() => renameFile(from, to, clock)),
    own: (path, owner, group) => turn(() => fs.promises.lchown(path, owner, group)),
    remove: (path) => turn(() => removeAll(path)),
    makeFolder: (path) => turn(() => Deno.mkdir(path, { recursive: true, mode: 0o700 })),
    list: listFolder,
    syncFolder: (path) => turn(() => syncFolder(path)),
    realPath: (path) => Deno.realPath(path),
    async freeBytes(path) {
      const { bavail, bsize } = await fs.promises.statfs(path);
      return Number(bavail) * Number(bsize);
    },
  };
}

const readFlags = fs.constants.O_RDONLY | fs.constants.O_NONBLOCK;
const writeFlags = fs.constants.O_WRONLY | fs.constants.O_NONBLOCK;
const openFile = promisify(fs.open) as (path: string, flags: number) => Promise<number>;
const readFile = promisify(fs.read) as unknown as (
  fd: number,
  buffer: Uint8Array,
  offset: number,
  length: number,
  position: number,
) => Promise<{ bytesRead: number }>;
const writeFile = promisify(fs.write) as unknown as (
  fd: number,
  buffer: Uint8Array,
  offset: number,
  length: number,
  position: number,
) => Promise<{ bytesWritten: number }>;
const flushFile = promisify(fs.fdatasync) as (fd: number) => Promise<void>;
const truncateFile = promisify(fs.ftruncate) as (fd: number, length: number) => Promise<void>;

function readable(fd: number): ReadableFile {
  let open = true;
  const close = () => {
    if (open) fs.closeSync(fd);
    open = false;
  };
  let stamp: FileStamp;
  try {
    stamp = stampOf(fs.fstatSync(fd));
  } catch (error) {
    close();
    throw error;
  }
  /** A number that was given back may be another file's by now. */
  const alive = () => {
    if (!open) throw new TypeError("Cannot read a file: it was closed");
  };
  const readAt = async (position: number, length: number) => {
    const bytes = new Uint8Array(length);
    let got = 0;
    while (got < length) {
      alive();
      const { bytesRead } = await readFile(fd, bytes, got, length - got, position + got);
      if (bytesRead === 0) break;
      got += bytesRead;
    }
    return bytes.subarray(0, got);
  };
  return {
    stamp,
    [Symbol.dispose]: close,
    readAt,
    read: () => readAt(0, stamp.bytes),
    readSync(bytesMax) {
      alive();
      const bytes = new Uint8Array(Math.min(stamp.bytes, bytesMax));
      let got = 0;
      while (got < bytes.length) {
        const more = fs.readSync(fd, bytes, got, bytes.length - got, got);
        if (more === 0) break;
        got += more;
      }
      return bytes.subarray(0, got);
    },
    stream: () => streamFile(readAt, close),
  };
}

function writable(file: Deno.FsFile, turn: Turn): WritableFile {
  let open = true;
  return {
    get stamp() {
      return stampOfDeno(file.statSync());
    },
    [Symbol.dispose]() {
      if (open) file.close();
      open = false;
    },
    write: (bytes) =>
      turn(async () => {
        for (let sent = 0; sent < bytes.length;) sent += await file.write(bytes.subarray(sent));
      }),
    flush: () => turn(() => file.syncData()),
    truncate: (length) => turn(() => file.truncate(length)),
  };
}

/** A writable file of a number of `node:fs`, whose `open` alone takes O_NONBLOCK. It writes on from the start. */
function writableFd(fd: number, turn: Turn): WritableFile {
  let open = true;
  let position = 0;
  const alive = () => {
    if (!open) throw new TypeError("Cannot write a file: it was closed");
    return fd;
  };
  return {
    get stamp() {
      return stampOf(fs.fstatSync(alive()));
    },
    [Symbol.dispose]() {
      if (open) fs.closeSync(fd);
      open = false;
    },
    write: (bytes) =>
      turn(async () => {
        for (let sent = 0; sent < bytes.length;) {
          const { bytesWritten } = await writeFile(alive(), bytes, sent, bytes.length - sent, position);
          sent += bytesWritten;
          position += bytesWritten;
        }
      }),
    flush: () => turn(() => flushFile(alive())),
    truncate: (length) => turn(() => truncateFile(alive(), length)),
  };
}

async function lockFile(path: string, wait: { waitMs: number; clock: Clock }): Promise<FileLock | undefined> {
  const file = await Deno.open(path, { create: true, write: true, mode: 0o600 });
  if (!await takeLock(file, wait)) return undefined;
  const locked = stampOfDeno(file.statSync());
  let open = true;
  return {
    holds() {
      const there = found(() => stampOf(fs.lstatSync(path)));
      return open && there?.inode === locked.inode && there.device === locked.device;
    },
    [Symbol.dispose]() {
      if (open) file.close();
      open = false;
    },
  };
}

/** On Windows a target that someone reads bars the rename for a moment: it is tried for 1 s (data-model.md 0). */
async function renameFile(from: string, to: string, clock: Clock): Promise<void> {
  if (Deno.build.os !== "windows") return await Deno.rename(from, to);
  const end = clock.elapsed() + 1000;
  while (true) {
    try {
      return await Deno.rename(from, to);
    } catch (error) {
      if (isMissing(error) || clock.elapsed() >= end) throw error;
    }
    await clock.sleep(20);
  }
}

async function removeAll(path: string): Promise<void> {
  try {
    await Deno.remove(path, { recursive: true });
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

async function listFolder(path: string): Promise<readonly FolderEntry[]> {
  const entries: FolderEntry[] = [];
  try {
    for await (const { name, isFile, isDirectory, isSymlink } of Deno.readDir(path)) {
      entries.push({ name, kind: isSymlink ? "link" : isFile ? "file" : isDirectory ? "folder" : "other" });
    }
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  return entries;
}

async function syncFolder(path: string): Promise<void> {
  if (Deno.build.os === "windows") return; // a folder cannot be opened there
  using folder = await Deno.open(path, { read: true });
  await folder.sync();
}

function found<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function stampOf(stats: fs.Stats): FileStamp {
  const kind = stats.isFile() ? "file" : stats.isDirectory() ? "folder" : stats.isSymbolicLink() ? "link" : "other";
  return {
    kind,
    bytes: stats.size,
    modifiedMs: stats.mtimeMs,
    device: stats.dev,
    inode: stats.ino,
    owner: stats.uid,
    group: stats.gid,
    mode: stats.mode & 0o777,
  };
}

function stampOfDeno(info: Deno.FileInfo): FileStamp {
  const kind = info.isFile ? "file" : info.isDirectory ? "folder" : info.isSymlink ? "link" : "other";
  return {
    kind,
    bytes: info.size,
    modifiedMs: info.mtime?.getTime() ?? 0,
    device: info.dev,
    inode: info.ino ?? 0,
    owner: info.uid ?? 0,
    group: info.gid ?? 0,
    mode: (info.mode ?? 0) & 0o777,
  };
}

type Turn = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs at most `max` pieces of work at once, in the order they came. */
function limiter(max: number): Turn {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running === max) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
