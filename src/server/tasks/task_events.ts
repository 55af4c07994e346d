import { isSettled, isTerminal, type StreamJson } from "@/protocol/task.ts";
import { responseId, responseText, textParts } from "./lifecycle.ts";
import { newestStatus, type TaskRecord } from "./task_record.ts";
import type { FollowItem, Progress } from "./task_store.ts";

/**
 * Turns what a store's `follow` gives into the events of an A2A stream (A2A 1.0 §3.1.2, product.md §5.5).
 *
 * The task comes first. Text is an `artifactUpdate` of `response`: `append` false where a message of the assistant
 * starts, and a last one with `lastChunk` when the run is over; what was not sent yet comes with it. Then the status. Ends
 * with the last event of a terminal task, or, with `until` "settled", also when the task waits for its caller.
 */
export function taskEvents(
  items: AsyncIterableIterator<FollowItem>,
  until: "settled" | "terminal",
): AsyncIterableIterator<StreamJson> {
  const ready: StreamJson[] = [];
  const shown = new Shown();
  let over = false;
  return {
    async next() {
      while (ready.length === 0) {
        if (over) return { done: true, value: undefined };
        const item = await items.next();
        if (item.done) return { done: true, value: undefined };
        ready.push(...shown.events(item.value));
        if (item.value.kind === "progress") continue;
        const { state } = item.value.record.task.status;
        if (until === "settled" ? isSettled(state) : isTerminal(state)) {
          over = true;
          await items.return?.();
        }
      }
      return { done: false, value: ready.shift()! };
    },
    async return() {
      over = true;
      ready.length = 0;
      await items.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** What one subscriber was shown. */
class Shown {
  #record: TaskRecord | undefined;
  /** Characters of the running text. */
  #textLength = 0;

  events(item: FollowItem): StreamJson[] {
    return item.kind === "progress" ? [this.#progress(item.progress)] : this.#changes(item.record);
  }

  #progress({ from, text }: Progress): StreamJson {
    this.#textLength = from + text.length;
    return this.#response(text, { append: from > 0 });
  }

  #changes(record: TaskRecord): StreamJson[] {
    const before = this.#record;
    this.#record = record;
    if (before === undefined) return [{ task: record.task }];
    const events = [...newFiles(before, record)];
    const runEnded = before.run !== null && record.run === null;
    if (runEnded && record.task.status.state !== "TASK_STATE_CANCELED" && response(record) !== response(before)) {
      const text = responseText(record.task).slice(this.#textLength);
      events.push(this.#response(text, { append: this.#textLength > 0, lastChunk: true }));
    }
    if (runEnded) this.#textLength = 0;
    const { id: taskId, contextId } = record.task;
    for (const { seq, status } of record.statusLog) {
      if (seq > newestStatus(before).seq) events.push({ statusUpdate: { taskId, contextId, status } });
    }
    return events;
  }

  #response(text: string, how: { append: boolean; lastChunk?: true }): StreamJson {
    const { id: taskId, contextId } = this.#record!.task;
    const artifact = { artifactId: responseId, name: responseId, parts: textParts(text) };
    return { artifactUpdate: { taskId, contextId, artifact, ...how } };
  }
}

function response(record: TaskRecord) {
  return record.task.artifacts?.find(({ artifactId }) => artifactId === responseId);
}

function* newFiles(before: TaskRecord, record: TaskRecord): Generator<StreamJson> {
  const known = new Set(before.task.artifacts?.map(({ artifactId }) => artifactId));
  const { id: taskId, contextId } = record.task;
  for (const artifact of record.task.artifacts ?? []) {
    if (artifact.artifactId === responseId || known.has(artifact.artifactId)) continue;
    yield { artifactUpdate: { taskId, contextId, artifact, append: false, lastChunk: true } };
  }
}
