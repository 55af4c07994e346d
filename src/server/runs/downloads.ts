import { join } from "node:path";
import { getLogger } from "@logtape/logtape";
import type { Counters } from "@/counters.ts";
import type { PromptFile } from "@/engine/engine.ts";
import type { PartJson } from "@/protocol/task.ts";
import type { Clock } from "@/time/clock.ts";
import { download, type DownloadOptions } from "./download.ts";
import { downloadFailure, downloadsBytesMax, downloadsMs } from "./download_failure.ts";
import { removeFromInbox } from "./inbox_folder.ts";
import type { UrlPart } from "./prompt_parts.ts";

const logger = getLogger(["a2a", "server", "runs"]);

/** What fetching the files of a message works with. */
export interface DownloadsOptions extends Omit<DownloadOptions, "bytesMax" | "totalMs"> {
  readonly clock: Clock;
  readonly counters: Pick<Counters, "add">;
  /** The largest file; `Infinity` is no limit. */
  readonly fileBytesMax: number;
}

/** The files of a message, by their parts, or why it cannot be worked on. `aborted`: the signal was. */
export type Downloads =
  | { readonly kind: "fetched"; readonly files: ReadonlyMap<PartJson, PromptFile> }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "aborted" };

/**
 * Fetches the files of one message, one after another, within the limits of a message (product.md §5.6).
 *
 * All or none: when one cannot be fetched, or the run is to end, those before it are taken away again. Rejects with the
 * disk's errors, a full one aside.
 */
export async function fetchFiles(parts: readonly UrlPart[], options: DownloadsOptions): Promise<Downloads> {
  const { disk, paths, task, signal } = options;
  const folder = paths.inboxOf(task.caller, task.id);
  const isNew = disk.linkStampSync(folder) === undefined;
  const files = new Map<PartJson, PromptFile>();
  let outcome: Downloads | undefined;
  try {
    return outcome = await fetchAll(parts, files, options);
  } catch (error) {
    if (signal.aborted) return { kind: "aborted" };
    throw error;
  } finally {
    if (outcome?.kind !== "fetched") {
      const made = [...files.values()].map(({ path }) => join(paths.root, path));
      const kept = (error: unknown) => logger.warning("Cannot remove what was fetched: {error}", { error });
      await removeFromInbox(disk, folder, { paths: made, isNew }).catch(kept); // it goes with the task's folder
    }
  }
}

async function fetchAll(
  parts: readonly UrlPart[],
  files: Map<PartJson, PromptFile>,
  options: DownloadsOptions,
): Promise<Downloads> {
  const { clock, counters, fileBytesMax, task, signal } = options;
  const end = clock.elapsed() + downloadsMs;
  let bytesLeft = downloadsBytesMax;
  for (const part of parts) {
    const bytesMax = Math.min(fileBytesMax, bytesLeft);
    try {
      const file = await download(part, { ...options, bytesMax, totalMs: end - clock.elapsed() });
      files.set(part, file);
      bytesLeft -= file.bytes;
      counters.add("downloads");
      signal.throwIfAborted();
    } catch (error) {
      signal.throwIfAborted();
      const failure = downloadFailure(error, part, { fileBytesMax, bytesLeft });
      if (failure === undefined) throw error;
      counters.add("downloads.failed");
      const host = URL.parse(part.url)?.host;
      logger.warning("Cannot fetch a file for task {taskId} from {host}: {why}", {
        taskId: task.id,
        host,
        why: failure.why,
      });
      return { kind: "failed", message: failure.message };
    }
  }
  return { kind: "fetched", files };
}
