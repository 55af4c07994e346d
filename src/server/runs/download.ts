import { join, relative } from "node:path";
import type { PromptFile } from "@/engine/engine.ts";
import type { Outbound } from "@/outbound/outbound.ts";
import { OutboundError } from "@/outbound/outbound_error.ts";
import type { OutboundResponse } from "@/outbound/outbound_request.ts";
import { bareMediaType } from "@/protocol/content_types.ts";
import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { Random } from "@/random.ts";
import { StorageFull, type TaskStore } from "@/server/tasks/task_store.ts";
import { temporaryPath } from "@/workspace/atomic_write.ts";
import type { Disk } from "@/workspace/disk.ts";
import { uniqueFileName } from "@/workspace/file_names.ts";
import { mediaTypeOf } from "@/workspace/media_types.ts";
import { writeStream } from "@/workspace/stream_write.ts";
import type { WorkspacePaths } from "@/workspace/workspace_paths.ts";
import { UnexpectedStatus } from "./download_failure.ts";
import { downloadName } from "./download_name.ts";
import { makeInboxFolder, removeFromInbox, requireInboxFolder, syncInboxFolder } from "./inbox_folder.ts";
import type { UrlPart } from "./prompt_parts.ts";

/** Until the head of the answer is there. */
const headMs = 30_000;
/** Between two pieces of its body. */
const idleMs = 30_000;

/** What one download works with. */
export interface DownloadOptions {
  readonly outbound: Pick<Outbound, "guarded">;
  readonly disk: Disk;
  readonly random: Random;
  readonly paths: WorkspacePaths;
  readonly store: Pick<TaskStore, "hasRoom">;
  readonly task: { readonly id: TaskId; readonly caller: CallerName };
  readonly signal: AbortSignal;
  readonly bytesMax: number;
  readonly totalMs: number;
}

/**
 * Fetches the file of one part through the guarded door into the task's inbox: under a temporary name, and under its own
 * when it is whole and flushed. Resolves when the name is durable; else nothing of the file is left.
 *
 * Rejects with what `downloadFailure` has words for, with the reason of the signal, or with an error of the disk.
 */
export async function download(part: UrlPart, options: DownloadOptions): Promise<PromptFile> {
  const { outbound, task, signal, bytesMax, totalMs } = options;
  if (totalMs <= 0) throw new OutboundError("DEADLINE", "wait", { message: "No time is left" });
  await requireRoom(options);
  signal.throwIfAborted();
  const waitMs = totalMs; // nobody tries it again: better late than failed
  const request = { caller: task.caller, signal, bytesMax, totalMs, waitMs, headMs, idleMs };
  await using response = await outbound.guarded(part.url, request);
  signal.throwIfAborted();
  if (response.status !== 200) throw new UnexpectedStatus(response.status);
  return await keep(response, part, options);
}

async function keep({ headers, body }: OutboundResponse, part: UrlPart, options: DownloadOptions): Promise<PromptFile> {
  const { disk, random, paths, task, bytesMax } = options;
  const folder = paths.inboxOf(task.caller, task.id);
  const isNew = disk.linkStampSync(folder) === undefined;
  await makeInboxFolder(disk, folder);
  const taken = (await disk.list(folder)).map(({ name }) => name);
  const name = uniqueFileName(downloadName(part, headers), taken);
  const path = join(folder, name);
  const written = await writeStream(disk, temporaryPath(path, random), {
    bytes: checkedPieces(body, options),
    bytesMax,
    pathOf() {
      requireInboxFolder(disk, folder); // a download may take minutes
      return path;
    },
  });
  if (written === "too large") throw new OutboundError("BODY_TOO_LARGE", "body", { message: "It is over the limit" });
  try {
    await syncInboxFolder(disk, folder, { isNew, root: paths.root });
  } catch (error) {
    await removeFromInbox(disk, folder, { paths: [path], isNew: false }).catch(() => {}); // the first error says more
    throw error;
  }
  const mediaType = part.mediaType ?? bareMediaType(headers.get("content-type")) ?? mediaTypeOf(name);
  return { path: relative(paths.root, path), mediaType, bytes: written.bytes };
}

/** The pieces of a body, as long as there is room for them and the run is not to end. */
async function* checkedPieces(body: AsyncIterable<Uint8Array>, options: DownloadOptions): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    options.signal.throwIfAborted();
    await requireRoom(options);
    yield piece;
  }
}

/** @throws {StorageFull} When less room is left than is to be kept free. */
async function requireRoom({ store }: Pick<DownloadOptions, "store">): Promise<void> {
  if (!await store.hasRoom()) throw new StorageFull("Cannot keep a file: too little room is left");
}
