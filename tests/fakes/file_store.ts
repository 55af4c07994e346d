import { join } from "node:path";
import { createFaultyDisk, type FaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock, type TestClock } from "@tests/fakes/test_clock.ts";
import { Counters } from "@/counters.ts";
import { systemRandom } from "@/random.ts";
import type { FileTaskStoreOptions } from "@/server/tasks/file_store_options.ts";
import { type FileTaskStore, openFileTaskStore } from "@/server/tasks/file_task_store.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";

/** A file store in a folder of its own, on a disk and a clock that the test rules. */
export interface FileStore extends AsyncDisposable {
  /** The store that is open now. */
  readonly store: FileTaskStore;
  readonly disk: FaultyDisk;
  readonly clock: TestClock;
  readonly counters: Counters;
  readonly folder: string;
  /** Closes the store and opens it again, with the next epoch. */
  reopen(options?: Partial<FileTaskStoreOptions>): Promise<FileTaskStore>;
  /** Opens another folder as a start after a crash would; the caller closes it. */
  openCopy(folder: string): Promise<FileTaskStore>;
  /** Names in the folder, sorted. */
  files(): string[];
  /** The text of a file in the folder. */
  text(name: string): string;
  write(name: string, text: string): void;
  /** Disk operations since the last call that change something, as `operation name`. */
  operations(): string[];
}

export async function openFileStore(options: Partial<FileTaskStoreOptions> = {}): Promise<FileStore> {
  const temp = await makeTempFolder();
  const folder = join(temp.path, "tasks");
  const clock = createTestClock();
  const disk = createFaultyDisk(createDisk(systemClock), clock);
  const counters = new Counters();
  let epoch = 1;
  let seen = 0;
  const all = (): FileTaskStoreOptions => ({
    folder,
    epoch: epoch++,
    disk,
    clock,
    random: systemRandom,
    counters,
    durability: "disk",
    storedTasksMax: () => 10_000,
    freeBytesMin: 0,
    ...options,
  });
  let store = await openFileTaskStore(all());
  return {
    get store() {
      return store;
    },
    disk,
    clock,
    counters,
    folder,
    async reopen(more) {
      await store[Symbol.asyncDispose]();
      return store = await openFileTaskStore({ ...all(), ...more });
    },
    openCopy: (copy) =>
      openFileTaskStore({ ...all(), folder: copy, disk: createFaultyDisk(createDisk(systemClock), clock) }),
    files: () => [...Deno.readDirSync(folder)].map(({ name }) => name).sort(),
    text: (name) => Deno.readTextFileSync(join(folder, name)),
    write: (name, text) => Deno.writeTextFileSync(join(folder, name), text),
    operations() {
      const since = disk.log.slice(seen).filter((line) => !/^(openRead|list|freeBytes|realPath) /.test(line));
      seen = disk.log.length;
      return since.map((line) => line.replace(`${folder}/`, "").replace(folder, "."));
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await temp[Symbol.asyncDispose]();
    },
  };
}

/** Copies a folder as it is now: what a crash of this moment leaves. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyFolder(join(from, name), join(to, name));
    else await Deno.copyFile(join(from, name), join(to, name));
  }
}
