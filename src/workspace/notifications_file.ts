import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { Random } from "@/random.ts";
import { type Clock, isoTime } from "@/time/clock.ts";
import { cutText } from "./cut_text.ts";
import type { Disk } from "./disk.ts";
import { RotatingLineFile } from "./rotating_line_file.ts";

/** A line of `notifications.jsonl` (data-model.md 9). `text` is as it was given: what prints it cleans it. */
export interface Notification {
  /** One notice; a second line with it says how an outer channel failed. */
  readonly id: string;
  readonly at: string;
  readonly kind: "notify" | "said" | "delivery" | "undelivered" | "host";
  readonly from: CallerName | "owner" | "host";
  readonly taskId?: TaskId | string;
  readonly contextId?: string;
  /** At most 8 KiB. */
  readonly text: string;
  /** What was known when the line was written. */
  readonly sent: Readonly<Record<string, "ok" | "failed">>;
}

/** What is to be told; `id` only for another line about the same notice. */
export type NewNotification =
  & Omit<Notification, "id" | "at" | "sent">
  & Partial<Pick<Notification, "id" | "sent">>;

/** The file of what the owner was told. One process writes it. */
export class NotificationsFile implements AsyncDisposable {
  readonly #file: RotatingLineFile;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(options: {
    readonly disk: Disk;
    readonly path: string;
    readonly clock: Clock;
    readonly random: Random;
    readonly bytesMax?: number;
  }) {
    this.#file = new RotatingLineFile(options);
    this.#clock = options.clock;
    this.#random = options.random;
  }

  /**
   * Adds a notice and gives the line that was written. Resolves when it is durable, so that `notify_owner` may answer.
   * A longer text is cut at 8 KiB. Rejects with the disk's error, and then the owner was not told.
   */
  async append(notice: NewNotification): Promise<Notification> {
    const line: Notification = {
      id: notice.id ?? this.#random.uuid(),
      at: isoTime(this.#clock.now()),
      kind: notice.kind,
      from: notice.from,
      taskId: notice.taskId,
      contextId: notice.contextId,
      text: cutText(notice.text, textBytesMax),
      sent: notice.sent ?? {},
    };
    await this.#file.append([JSON.stringify(line)], { flush: true });
    return line;
  }

  /** Waits for the notices that are under way, and closes the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file[Symbol.asyncDispose]();
  }
}

const textBytesMax = 8 * 1024;
