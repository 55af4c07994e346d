import { join } from "node:path";
import { isDiskFull } from "@/workspace/disk.ts";

/** A file system of its own, so small that a test can fill it. */
export interface SmallDisk extends AsyncDisposable {
  /** The folder it is mounted on. */
  readonly path: string;
  /** Takes all room but about `leaveBytes`, from outside. */
  fill(leaveBytes?: number): Promise<void>;
  /** Gives back what `fill` took. */
  free(): Promise<void>;
}

/** Says why no small disk can be mounted here; undefined when one can. */
export async function whyNoSmallDisk(): Promise<string | undefined> {
  if (Deno.build.os !== "linux") return "it needs Linux";
  if (Deno.uid() !== 0) return "it needs root";
  const path = await Deno.makeTempDir({ prefix: "volcanic-a2a-" });
  try {
    await mount(path, 1024 * 1024);
    await unmount(path);
    return undefined;
  } catch (error) {
    return `mounting is not permitted (${(error as Error).message})`;
  } finally {
    await Deno.remove(path);
  }
}

/** Mounts a file system in memory with room for `bytes`; it is unmounted when disposed of. */
export async function mountSmallDisk(bytes: number): Promise<SmallDisk> {
  const path = await Deno.realPath(await Deno.makeTempDir({ prefix: "volcanic-a2a-" }));
  await mount(path, bytes);
  const ballast = join(path, "ballast");
  return {
    path,
    async fill(leaveBytes = 0) {
      using file = await Deno.open(ballast, { create: true, append: true });
      await writeUntilFull(file);
      const { size } = await file.stat();
      if (leaveBytes > 0) await file.truncate(Math.max(0, size - leaveBytes));
    },
    free: () => Deno.truncate(ballast, 0),
    async [Symbol.asyncDispose]() {
      await unmount(path);
      await Deno.remove(path);
    },
  };
}

const pageBytes = 4096;

async function writeUntilFull(file: Deno.FsFile): Promise<void> {
  const page = new Uint8Array(pageBytes);
  try {
    while (await file.write(page) > 0);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

async function mount(path: string, bytes: number): Promise<void> {
  await run("mount", ["-t", "tmpfs", "-o", `size=${bytes},mode=0700`, "volcanic-a2a-test", path]);
}

async function unmount(path: string): Promise<void> {
  await run("umount", [path]);
}

async function run(program: string, args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args }).output();
  if (!success) throw new Error(`${program} failed: ${new TextDecoder().decode(stderr).trim()}`);
}
