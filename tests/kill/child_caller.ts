import type { Host } from "@/workspace_host.ts";
import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { MessageJson, StatusJson, StreamJson } from "@/protocol/task.ts";
import type { Accepted, Submission } from "@/server/runs/submission.ts";
import { responseId, responseText } from "@/server/tasks/lifecycle.ts";
import { systemClock, type TimeMs } from "@/time/clock.ts";
import { type Sent, writeLine } from "@tests/kill/child_line.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** What a caller knows of a task that it followed until it was settled, or the host stopped. */
export interface Followed {
  readonly id: TaskId;
  readonly status: StatusJson;
}

/** One caller of the host under test, which says each thing that it is told, at once. */
export class ChildCaller {
  readonly #host: Host;
  readonly #name: CallerName;

  constructor(host: Host, name: CallerName) {
    this.#host = host;
    this.#name = name;
  }

  get name(): CallerName {
    return this.#name;
  }

  /** Sends a message that makes a task; undefined when it was refused. */
  async begin(message: MessageJson, sent?: Sent): Promise<Accepted | undefined> {
    const dedupe = sent && {
      messageId: sent.messageId,
      contextId: "",
      bodyHash: sent.text,
      until: systemClock.now() + dayMs as TimeMs,
    };
    const answer = await this.#submit({ caller: this.#name, hops: 0, message, dedupe });
    if (answer === undefined) return undefined;
    const { id, status } = answer.task;
    const { messageId } = message;
    writeLine({
      kind: "created",
      id,
      messageId,
      state: status.state,
      at: status.timestamp,
      deduped: sent !== undefined,
    });
    return answer;
  }

  /** Answers the question of a task; undefined when it was refused. */
  async answer(taskId: TaskId, message: MessageJson): Promise<Accepted | undefined> {
    const answer = await this.#submit({ caller: this.#name, hops: 0, message: { ...message, taskId } });
    if (answer === undefined) return undefined;
    const { id, status } = answer.task;
    writeLine({ kind: "continued", id, messageId: message.messageId, state: status.state, at: status.timestamp });
    return answer;
  }

  /** Reads all events. The length of the answer that they showed is said with the status that ends it. */
  async follow({ task, events }: Accepted): Promise<Followed> {
    const { id } = task;
    let { status } = task;
    let chars = responseText(task).length;
    for await (const event of events) {
      chars = charsAfter(event, chars);
      if ("artifactUpdate" in event && event.artifactUpdate.artifact.artifactId !== responseId) {
        writeLine({ kind: "file", id, artifactId: event.artifactUpdate.artifact.artifactId });
      }
      if (!("statusUpdate" in event)) continue;
      status = event.statusUpdate.status;
      const { state, timestamp: at } = status;
      writeLine({ kind: "status", id, state, at, ...(state === "TASK_STATE_COMPLETED" && { chars }) });
    }
    return { id, status };
  }

  async cancel(id: TaskId): Promise<StatusJson | undefined> {
    const canceled = await this.#host.runs.cancel(id, this.#name);
    if (canceled.kind !== "canceled") return undefined;
    const { status } = canceled.task;
    writeLine({ kind: "status", id, state: status.state, at: status.timestamp });
    return status;
  }

  async #submit(submission: Submission): Promise<Accepted | undefined> {
    const answer = await this.#host.runs.submit(submission);
    if (answer.kind === "accepted") return answer;
    writeLine({ kind: "refused", why: answer.why });
    return undefined;
  }
}

/** How long the shown answer is after an event, when it was `before` long. */
function charsAfter(event: StreamJson, before: number): number {
  if ("task" in event) return responseText(event.task).length;
  if (!("artifactUpdate" in event) || event.artifactUpdate.artifact.artifactId !== responseId) return before;
  const { artifact, append } = event.artifactUpdate;
  const more = artifact.parts.reduce((sum, { text = "" }) => sum + text.length, 0);
  return append ? before + more : more;
}
