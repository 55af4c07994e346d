import type { EngineEvent } from "@/engine/engine.ts";
import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { PartJson, State } from "@/protocol/task.ts";
import type { Clock } from "@/time/clock.ts";
import { responseText } from "@/server/tasks/lifecycle.ts";
import type { RunId, TaskRecord } from "@/server/tasks/task_record.ts";

/** What the owner is shown of a run while it happens. Plain data; texts are a stranger's, on one line, and cut. */
export type Activity =
  & { readonly caller: CallerName; readonly taskId: TaskId; readonly contextId: string }
  & (
    /** A message came, and its run waits or begins. */
    | { readonly kind: "message"; readonly text: string }
    | { readonly kind: "tool"; readonly name: string; readonly text: string }
    /** The run is over. `text`: what it said last. `ms`: since the message came. */
    | { readonly kind: "end"; readonly state: State; readonly text: string; readonly ms: number }
  );

/** What is shown of a text. */
const previewCharsMax = 120;

/**
 * Tells what runs do, as their commits and events come: a message, the tools, an end (product.md §11).
 *
 * Feed it from one run service. It keeps one small entry for each run that is not over, and never throws.
 */
export class RunActivity {
  readonly #clock: Clock;
  readonly #tell: (activity: Activity) => void;
  readonly #runs = new Map<TaskId, { readonly runId: RunId; readonly began: number }>();

  constructor(options: { readonly clock: Clock; readonly tell: (activity: Activity) => void }) {
    this.#clock = options.clock;
    this.#tell = options.tell;
  }

  /** A record became durable: `RunServiceOptions.onCommitted`. */
  committed(record: TaskRecord, before?: TaskRecord): void {
    const { task, run } = record;
    if (run === null && before?.run === null) return; // what comes after the end, as a push that arrived
    const known = this.#runs.get(task.id);
    const now = this.#clock.elapsed();
    if (run !== null) {
      if (known?.runId === run.runId) return;
      this.#runs.set(task.id, { runId: run.runId, began: now });
      const message = task.history?.findLast(({ role }) => role === "ROLE_USER");
      return this.#tell({ ...whose(record), kind: "message", text: preview(message?.parts) });
    }
    this.#runs.delete(task.id);
    const { state, message } = task.status;
    const text = preview(message?.parts) || oneLine(responseText(task));
    this.#tell({ ...whose(record), kind: "end", state, text, ms: known === undefined ? 0 : now - known.began });
  }

  /** A run did something: `RunServiceOptions.observe`. */
  observed(record: TaskRecord, event: EngineEvent): void {
    if (event.kind !== "tool" || event.phase !== "start") return;
    this.#tell({ ...whose(record), kind: "tool", name: oneLine(event.name), text: oneLine(event.summary) });
  }
}

function whose({ caller, task }: TaskRecord) {
  return { caller, taskId: task.id, contextId: task.contextId };
}

/** The texts of a message on one line; of other parts their names. */
function preview(parts: readonly PartJson[] = []): string {
  return oneLine(
    parts.map(({ text, filename, data }) => text ?? filename ?? (data === undefined ? "" : "(data)")).join(" "),
  );
}

function oneLine(text: string): string {
  const line = text.slice(0, 10 * previewCharsMax).replaceAll(/\s+/g, " ").trim();
  return line.length <= previewCharsMax ? line : `${line.slice(0, previewCharsMax - 1)}…`;
}
