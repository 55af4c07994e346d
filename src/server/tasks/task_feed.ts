import type { TaskId } from "@/protocol/ids.ts";
import { isTerminal } from "@/protocol/task.ts";
import { GrowingText } from "./growing_text.ts";
import type { TaskRecord } from "./task_record.ts";
import type { FollowItem, Progress } from "./task_store.ts";

/**
 * Who follows which task, within one process. A store publishes here what has become durable; followers are cursors.
 *
 * All methods are synchronous. A follower sees every record in the order of `publish`, and before each the text that was
 * shown before it. Text that a slow follower has not read is merged into one item.
 */
export class TaskFeed {
  readonly #tasks = new Map<TaskId, Followed>();

  /** Follows from `record` on, which is the first item. */
  follow(record: TaskRecord, signal: AbortSignal): AsyncIterableIterator<FollowItem> {
    const { id } = record.task;
    const cursor = new Cursor(record, this.#tasks.get(id)?.text);
    if (isTerminal(record.task.status.state) || signal.aborted) {
      if (signal.aborted) cursor.stop();
      return cursor;
    }
    const followed = this.#followed(id);
    followed.cursors.add(cursor);
    const stop = () => cursor.stop();
    signal.addEventListener("abort", stop, { once: true });
    cursor.onStop = () => {
      signal.removeEventListener("abort", stop);
      followed.cursors.delete(cursor);
      this.#forgetIfUnused(id);
    };
    return cursor;
  }

  /** Shows a durable record. A run's text is over when the record has no run. */
  publish(record: TaskRecord): void {
    const { id } = record.task;
    const followed = this.#tasks.get(id);
    if (followed === undefined) return;
    const shown = followed.text;
    if (record.run === null) followed.text = undefined;
    for (const cursor of [...followed.cursors]) cursor.add(record, shown);
    if (isTerminal(record.task.status.state)) this.#tasks.delete(id);
    else this.#forgetIfUnused(id);
  }

  /** Shows text of the running artifact. Notes are taken when they continue the text, or start it anew from 0. */
  progress(note: Progress): void {
    if (note.from !== 0 && note.from !== this.#tasks.get(note.taskId)?.text?.length) return;
    const followed = this.#followed(note.taskId);
    if (note.from === 0 || followed.text === undefined) followed.text = new GrowingText();
    followed.text.append(note.text);
    for (const cursor of followed.cursors) cursor.grew(followed.text);
  }

  /** The text that the running artifact shows now; "" when none does. */
  text(id: TaskId): string {
    return this.#tasks.get(id)?.text?.range(0) ?? "";
  }

  /** The task is gone: its followers end. */
  removed(id: TaskId): void {
    for (const cursor of [...this.#tasks.get(id)?.cursors ?? []]) cursor.stop();
    this.#tasks.delete(id);
  }

  /** Ends all followers. */
  close(): void {
    for (const id of [...this.#tasks.keys()]) this.removed(id);
  }

  /** How many cursors are open, for tests and counters. */
  get followers(): number {
    let count = 0;
    for (const { cursors } of this.#tasks.values()) count += cursors.size;
    return count;
  }

  #followed(id: TaskId): Followed {
    let followed = this.#tasks.get(id);
    if (followed === undefined) this.#tasks.set(id, followed = { cursors: new Set(), text: undefined });
    return followed;
  }

  #forgetIfUnused(id: TaskId): void {
    const followed = this.#tasks.get(id);
    if (followed?.cursors.size === 0 && followed.text === undefined) this.#tasks.delete(id);
  }
}

interface Followed {
  readonly cursors: Set<Cursor>;
  text: GrowingText | undefined;
}

/** One follower: the records it has not seen, and how far it has read the text. */
class Cursor implements AsyncIterableIterator<FollowItem> {
  readonly #records: { readonly record: TaskRecord; readonly text: GrowingText | undefined; readonly end: number }[] =
    [];
  readonly #taskId: TaskId;
  #text: GrowingText | undefined;
  #read = 0;
  #readLength = 0;
  #live: GrowingText | undefined;
  #state: "open" | "last record is in" | "stopped" = "open";
  #waking: PromiseWithResolvers<void> | undefined;
  onStop = () => {};

  constructor(record: TaskRecord, live: GrowingText | undefined) {
    this.#taskId = record.task.id;
    this.#records.push({ record, text: undefined, end: 0 });
    this.#live = live;
    if (isTerminal(record.task.status.state)) this.#state = "last record is in";
  }

  add(record: TaskRecord, text: GrowingText | undefined): void {
    this.#records.push({ record, text, end: text?.end ?? 0 });
    if (record.run === null) this.#live = undefined;
    if (isTerminal(record.task.status.state)) {
      this.#state = "last record is in";
      this.onStop();
    }
    this.#wake();
  }

  grew(text: GrowingText): void {
    this.#live = text;
    this.#wake();
  }

  stop(): void {
    this.#records.length = 0;
    this.#live = undefined;
    this.#state = "stopped";
    this.onStop();
    this.#wake();
  }

  async next(): Promise<IteratorResult<FollowItem>> {
    while (true) {
      const item = this.#take();
      if (item !== undefined) return { done: false, value: item };
      if (this.#state !== "open") return { done: true, value: undefined };
      await (this.#waking ??= Promise.withResolvers()).promise;
    }
  }

  return(): Promise<IteratorResult<FollowItem>> {
    this.stop();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Wakes all who wait in `next`. */
  #wake(): void {
    this.#waking?.resolve();
    this.#waking = undefined;
  }

  #take(): FollowItem | undefined {
    const [first] = this.#records;
    if (first === undefined) return this.#live && this.#advance(this.#live, this.#live.end);
    const before = first.text && this.#advance(first.text, first.end);
    if (before !== undefined) return before;
    this.#records.shift();
    return { kind: "record", record: first.record };
  }

  /** What of `text` was not read yet, up to chunk `end`; undefined when all was. */
  #advance(text: GrowingText, end: number): FollowItem | undefined {
    if (this.#text !== text) {
      this.#text = text;
      this.#read = 0;
      this.#readLength = 0;
    }
    if (this.#read >= end) return undefined;
    const from = this.#readLength;
    const range = text.range(this.#read, end);
    this.#read = end;
    this.#readLength += range.length;
    return { kind: "progress", progress: { taskId: this.#taskId, artifactId: "response", from, text: range } };
  }
}
