import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { parsePathPattern } from "@/path_pattern.ts";
import type { CallerName } from "@/protocol/ids.ts";
import { systemRandom } from "@/random.ts";
import { CallerFiles } from "@/server/runs/session_files.ts";
import { systemClock } from "@/time/clock.ts";
import { callerMap } from "@/workspace/caller_map.ts";
import { createDisk, type Disk } from "@/workspace/disk.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";

/** The files of a workspace as the caller `alice` has them, over a real folder. */
export interface CallerFilesSetting extends AsyncDisposable {
  readonly files: CallerFiles;
  readonly root: string;
  /** Puts a file there, with the folders above it. */
  put(path: string, content: string | Uint8Array): Promise<void>;
  /** What is in a file. */
  textOf(path: string): Promise<string>;
}

/** How the setting differs from a reader's. */
export interface CallerFilesSettingOptions {
  readonly access?: "read" | "write";
  /** Patterns of `Hide`. */
  readonly hide?: readonly string[];
  readonly disk?: Disk;
}

/** The most bytes of a file that the setting lets alice write. */
export const settingBytesMax = 100_000;

/** Makes a workspace with these files. */
export async function makeCallerFiles(
  content: Readonly<Record<string, string | Uint8Array>>,
  { access = "read", hide = [], disk = createDisk(systemClock) }: CallerFilesSettingOptions = {},
): Promise<CallerFilesSetting> {
  const temp = await makeTempFolder();
  const map = callerMap({
    paths: workspacePaths(temp.path),
    caller: "alice" as CallerName,
    access,
    hide: hide.map((text) => parsePathPattern(text)!),
    otherStates: [],
  });
  const put = async (path: string, content: string | Uint8Array) => {
    await Deno.mkdir(`${temp.path}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeFile(
      `${temp.path}/${path}`,
      typeof content === "string" ? new TextEncoder().encode(content) : content,
    );
  };
  for (const [path, text] of Object.entries(content)) await put(path, text);
  return {
    files: new CallerFiles({ map, disk, random: systemRandom, clock: systemClock, fileBytesMax: settingBytesMax }),
    root: temp.path,
    put,
    textOf: (path) => Deno.readTextFile(`${temp.path}/${path}`),
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}
