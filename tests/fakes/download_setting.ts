import { createFaultyDisk, type FaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { alice } from "@tests/fakes/run_service_fixture.ts";
import { sampleId } from "@tests/fakes/sample_tasks.ts";
import { createScriptedOutbound, type ScriptedOutbound } from "@tests/fakes/scripted_outbound.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock, type TestClock } from "@tests/fakes/test_clock.ts";
import { createTestRandom } from "@tests/fakes/test_random.ts";
import { Counters } from "@/counters.ts";
import { type Downloads, type DownloadsOptions, fetchFiles } from "@/server/runs/downloads.ts";
import type { UrlPart } from "@/server/runs/prompt_parts.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";

/** The task whose files are fetched. */
export const downloadTask = { id: sampleId(1), caller: alice };

/** Where they are put, from the workspace's root. */
export const downloadFolder = `inbox/alice/${downloadTask.id}`;

/** Fetches files over a scripted door into a real folder, on a disk and a clock that the test rules. */
export interface DownloadSetting extends AsyncDisposable {
  readonly outbound: ScriptedOutbound;
  readonly disk: FaultyDisk;
  readonly clock: TestClock;
  readonly counters: Counters;
  readonly root: string;
  readonly abort: AbortController;
  fetch(parts: readonly UrlPart[], options?: Partial<DownloadsOptions>): Promise<Downloads>;
  /** Fetches what cannot be fetched, and gives what the caller is told. */
  failing(parts: readonly UrlPart[], options?: Partial<DownloadsOptions>): Promise<string>;
  /** All files below the workspace with their texts, by path. */
  files(): Promise<Record<string, string>>;
}

export async function makeDownloads(): Promise<DownloadSetting> {
  const temp = await makeTempFolder();
  const clock = createTestClock();
  const disk = createFaultyDisk(createDisk(systemClock), clock);
  const outbound = createScriptedOutbound(clock);
  const counters = new Counters();
  const abort = new AbortController();
  const fetch: DownloadSetting["fetch"] = (parts, options) =>
    fetchFiles(parts, {
      ...{ outbound, disk, clock, counters, random: createTestRandom(), paths: workspacePaths(temp.path) },
      ...{ store: { hasRoom: () => Promise.resolve(true) }, fileBytesMax: 1000 },
      ...{ task: downloadTask, signal: abort.signal, ...options },
    });
  return {
    ...{ outbound, disk, clock, counters, abort, fetch, root: temp.path },
    async failing(parts, options) {
      const fetched = await fetch(parts, options);
      if (fetched.kind !== "failed") throw new Error(`It is ${fetched.kind}`);
      return fetched.message;
    },
    files: () => filesBelow(temp.path),
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

/** All files below a folder with their texts, by path; an empty folder as `path/`, a link as `path@`. */
export async function filesBelow(folder: string, under = ""): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { name, isDirectory, isSymlink } of Deno.readDir(`${folder}/${under}`)) {
    const path = `${under}${name}`;
    if (isSymlink) found[`${path}@`] = await Deno.readLink(`${folder}/${path}`);
    else if (!isDirectory) found[path] = await Deno.readTextFile(`${folder}/${path}`);
    else if ([...Deno.readDirSync(`${folder}/${path}`)].length === 0) found[`${path}/`] = "";
    else Object.assign(found, await filesBelow(folder, `${path}/`));
  }
  return found;
}
