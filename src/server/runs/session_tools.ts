import { join, relative } from "node:path";
import type { SessionTools, ToolResult } from "@/engine/engine.ts";
import type { SessionFiles } from "@/engine/session_files.ts";
import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { ArtifactJson, BlobRef } from "@/protocol/task.ts";
import type { Random } from "@/random.ts";
import { openConfined, writeConfined } from "@/workspace/confined_files.ts";
import type { Confinement } from "@/workspace/confined_path.ts";
import { isDiskFull, type ReadableFile } from "@/workspace/disk.ts";
import { mediaTypeOf } from "@/workspace/media_types.ts";
import { makeOwnedFolder } from "@/workspace/owned_folder.ts";
import { artifactBytesMax } from "@/server/tasks/lifecycle.ts";
import { StorageFull, type TaskStore } from "@/server/tasks/task_store.ts";

/** Files one run may send. */
export const filesMax = 100;
/** Bytes that stand in the record itself; more goes into a blob (data-model.md 5). */
const inlineBytesMax = 32 * 1024;

/** Keeps a notice for the owner, or says why not. */
export type Notify = (
  notice: { readonly from: CallerName; readonly taskId: TaskId; readonly contextId: string; readonly text: string },
) => Promise<ToolResult>;

/** What the tools of one caller's turn may reach. */
export interface CallerToolsOptions {
  readonly taskId: TaskId;
  readonly contextId: string;
  readonly caller: CallerName;
  /** The workspace, without what is hidden from this caller. */
  readonly view: Confinement;
  /** The caller's own folder, `work/<caller>`. */
  readonly workshop: Confinement;
  readonly files: SessionFiles;
  readonly store: Pick<TaskStore, "putBlob">;
  readonly random: Random;
  readonly fileBytesMax: number;
  /** Bytes that the task has sent in earlier runs. */
  readonly artifactBytes: number;
  readonly notify: Notify | undefined;
  /** Commits the artifact; refused when the run no longer has its task, or the task has no room. */
  readonly commitFile: (artifact: ArtifactJson) => Promise<ToolResult>;
}

/** The tools of one caller's turn, and what they did. */
export interface CallerTools {
  readonly tools: SessionTools;
  /** The last question that was asked through `requestInput`. */
  readonly question: string | undefined;
  /** Files that were sent. */
  readonly files: number;
}

/** Makes the tools that a caller's session has: `files`, `send`, `write`, `requestInput`, and `notifyOwner` where it exists. */
export function callerTools(options: CallerToolsOptions): CallerTools {
  let question: string | undefined;
  let files = 0;
  let sending = 0;
  const room = new SendRoom(artifactBytesMax - options.artifactBytes);
  const tools: SessionTools = {
    files: options.files,
    async send(path) {
      if (files + sending >= filesMax) return refuse(`only ${filesMax} files can be sent in one run`);
      sending++; // calls at once count too
      try {
        const sent = await sendFile(path, options, room);
        if (sent.kind === "done") files++;
        return sent;
      } finally {
        sending--;
      }
    },
    async write(name, bytes) {
      return await writeFile(name, bytes, options);
    },
    requestInput(asked) {
      question = asked;
    },
    notifyOwner: options.notify &&
      ((text) => {
        const { caller: from, taskId, contextId } = options;
        return options.notify!({ from, taskId, contextId, text });
      }),
  };
  return {
    tools,
    get question() {
      return question;
    },
    get files() {
      return files;
    },
  };
}

/** Bytes that a task may still send. What is on its way has its place. */
class SendRoom {
  #bytes: number;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /** Takes room for a file before it is copied; false when there is none. */
  take(bytes: number): boolean {
    if (bytes > this.#bytes) return false;
    this.#bytes -= bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#bytes += bytes;
  }
}

async function sendFile(path: string, options: CallerToolsOptions, room: SendRoom): Promise<ToolResult> {
  const opened = await openConfined(options.view, path);
  if (opened.kind === "refused") return refuse(opened.why);
  using file = opened.file;
  const { bytes } = file.stamp;
  if (bytes > options.fileBytesMax) return refuse(`the file has ${bytes} bytes, the limit is ${options.fileBytesMax}`);
  if (!room.take(bytes)) return refuse(`the files of a task may have ${artifactBytesMax} bytes in all`);
  let isSent = false;
  try {
    const sent = await sendOpened(file, { filename: opened.path.split("/").at(-1)!, ...options });
    isSent = sent.kind === "done";
    return sent;
  } finally {
    if (!isSent) room.giveBack(bytes);
  }
}

async function sendOpened(file: ReadableFile, options: CallerToolsOptions & { readonly filename: string }) {
  const { filename } = options;
  try {
    const raw = await copyOf(file, options);
    if (raw === "too large") return refuse(`the file grew over the limit of ${options.fileBytesMax} bytes`);
    const part = { raw, filename, mediaType: mediaTypeOf(filename) };
    const artifact = { artifactId: options.random.uuid(), name: filename, parts: [part] };
    return await options.commitFile(artifact);
  } catch (error) {
    if (error instanceof StorageFull) return refuse("no room is left to store the file");
    throw error;
  }
}

async function writeFile(name: string, bytes: Uint8Array, { view, workshop }: CallerToolsOptions) {
  try {
    await makeOwnedFolder(workshop.disk, workshop.root);
    const written = await writeConfined(workshop, name, bytes);
    if (written.kind === "refused") return refuse(written.why);
    return { kind: "done" as const, path: relative(view.root, join(workshop.root, written.path)) };
  } catch (error) {
    if (isDiskFull(error)) return refuse("no room is left");
    throw error;
  }
}

async function copyOf(file: ReadableFile, options: CallerToolsOptions): Promise<string | BlobRef | "too large"> {
  if (file.stamp.bytes <= inlineBytesMax) return (await file.read()).toBase64();
  return await options.store.putBlob(options.taskId, file.stream(), options.fileBytesMax);
}

function refuse(why: string): { readonly kind: "refused"; readonly why: string } {
  return { kind: "refused", why };
}
