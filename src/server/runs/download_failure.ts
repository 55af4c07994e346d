import { OutboundError } from "@/outbound/outbound_error.ts";
import { StorageFull } from "@/server/tasks/task_store.ts";
import { isDiskFull } from "@/workspace/disk.ts";
import { cleanFileName } from "@/workspace/file_names.ts";
import { urlFileName } from "./download_name.ts";
import { durationWords } from "./duration_words.ts";
import { fileLabel, tooLargeText, type UrlPart } from "./prompt_parts.ts";

/** What the files of one message that are fetched may have in all. */
export const downloadsBytesMax = 256 * 1024 * 1024;
/** How long fetching them may take in all. */
export const downloadsMs = 10 * 60 * 1000;

/** An answer came that is no file. */
export class UnexpectedStatus extends Error {
  override readonly name = "UnexpectedStatus";
  readonly status: number;

  constructor(status: number) {
    super(`The status is ${status}`);
    this.status = status;
  }
}

/** A download that failed, as it is told. */
export interface DownloadFailure {
  /** For the caller: names the file and a class of reasons, never the address or the cause. */
  readonly message: string;
  /** For the log of this machine. */
  readonly why: string;
}

/** What could be taken of a file when its download failed. */
export interface DownloadBounds {
  readonly fileBytesMax: number;
  /** What its message had left. */
  readonly bytesLeft: number;
}

/** Puts into words why a download failed. Undefined for what is none of the failures that are expected. */
export function downloadFailure(
  error: unknown,
  part: UrlPart,
  { fileBytesMax, bytesLeft }: DownloadBounds,
): DownloadFailure | undefined {
  const label = labelOf(part);
  const cannot = (reason: string, why: string) => ({ message: `Cannot fetch ${label}: ${reason}`, why });
  if (error instanceof StorageFull || isDiskFull(error)) {
    return cannot("no room is left to store it", "no room is left");
  }
  if (error instanceof UnexpectedStatus) return cannot(`it answered ${error.status}`, `status ${error.status}`);
  if (!(error instanceof OutboundError)) return undefined;
  const why = `${error.code} in ${error.phase}`;
  if (error.code === "DEADLINE") {
    return cannot(`the files of one message may take ${durationWords(downloadsMs)} in all`, why);
  }
  if (error.code !== "BODY_TOO_LARGE") return cannot(error.publicMessage, why);
  if (bytesLeft < fileBytesMax) {
    return cannot(`the files of one message may have ${downloadsBytesMax} bytes in all`, why);
  }
  return { message: tooLargeText(label, `more than ${fileBytesMax}`, { fileBytesMax }), why };
}

/** Without a name of its own a file is called as its URL ends: callers have it from nowhere else. */
function labelOf({ filename, url }: UrlPart): string {
  const last = urlFileName(url);
  return fileLabel(filename ?? (last && cleanFileName(last)));
}
