import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";

/** What `d` is made to be, by paths from the folder in which it is swapped. */
export interface SwappedPlaces {
  /** A folder that may be seen, with a file `k.json`. */
  readonly folder: string;
  /** The target of the link: a folder that may not be seen. */
  readonly hidden: string;
  /** What is in `k.json` of the folders that a loop makes itself. */
  readonly text: string;
}

/** A loop in another process that swaps what `d` is, as fast as it can, until it is disposed of. */
export interface Swapper {
  readonly name: string;
  /** The program for it is not here. */
  readonly isMissing: boolean;
  /** Resolves when `d` is there: then its content is whole. */
  start(folder: string, places: SwappedPlaces): Promise<AsyncDisposable>;
}

/** Every way to swap: a link here and there, a folder and a link by renames, and both in one step. */
export const swappers: readonly Swapper[] = [
  await swapper("bash links d here and there", "bash", ({ folder, hidden }) => [
    "-c",
    `while [ ! -e stop ]; do ln -sfn ${folder} d; ln -sfn ${hidden} d; done`,
  ]),
  await swapper("bash puts a link in the folder's place and takes it away", "bash", ({ hidden, text }) => [
    "-c",
    `while [ ! -e stop ]; do rm -rf d e l; mkdir e; echo -n ${text} > e/k.json; ln -s ${hidden} l
     mv -T e d; mv -T d e; mv -T l d; mv -T d l; done`,
  ]),
  await swapper("perl exchanges a folder with a link", "perl", ({ hidden, text }) => [
    "-e",
    `mkdir "e"; open(F,">e/k.json"); print F "${text}"; close F; symlink("${hidden}","l"); rename("e","d"); my ($d, $l) = ("d", "l");
     until (-e "stop") { syscall(${Deno.build.arch === "aarch64" ? 276 : 316}, -100, $d, -100, $l, 2) for 1..50 }`,
  ]),
];

async function swapper(
  name: string,
  command: string,
  args: (places: SwappedPlaces) => readonly string[],
): Promise<Swapper> {
  const isMissing = !await isThere(command) || (command === "perl" && Deno.build.os !== "linux");
  return { name, isMissing, start: (folder, places) => swap(folder, command, args(places)) };
}

const disk = createDisk(systemClock);

async function swap(folder: string, command: string, args: readonly string[]): Promise<AsyncDisposable> {
  const child = new Deno.Command(command, { args: [...args], cwd: folder, stderr: "null", stdout: "null" }).spawn();
  for (let looks = 0; looks < 20_000 && disk.linkStampSync(`${folder}/d`) === undefined; looks++) {
    await disk.list(folder);
  }
  return {
    async [Symbol.asyncDispose]() {
      await Deno.writeTextFile(`${folder}/stop`, "");
      await child.status;
    },
  };
}

async function isThere(command: string): Promise<boolean> {
  try {
    return (await new Deno.Command(command, { args: ["-c", "exit 0"], stderr: "null" }).output()).code >= 0;
  } catch {
    return false;
  }
}
