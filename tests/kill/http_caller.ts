import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { Method } from "@/protocol/request_types.ts";
import { isSettled, type StreamJson, type TaskJson } from "@/protocol/task.ts";
import { responseId, responseText } from "@/server/tasks/lifecycle.ts";
import { eventsOf, readReply, type WireReply } from "@tests/fakes/wire_reply.ts";
import { type Binding, wireRequest } from "@tests/fakes/wire_request.ts";
import type { ChildLine } from "@tests/kill/child_line.ts";

/** Whom a caller talks to, and who hears what it is told. */
export interface HttpCallerOptions {
  readonly address: string;
  readonly name: CallerName;
  readonly key: string;
  /** Ends every request: no answer is waited for any more. */
  readonly over: AbortSignal;
  /** Hears each thing the moment it came over the wire. */
  readonly say: (line: ChildLine) => void;
}

/** What is sent. */
export interface HttpMessage {
  readonly messageId: string;
  readonly text: string;
  readonly contextId?: string;
  readonly taskId?: string;
  readonly file?: Uint8Array;
  readonly isDeduped?: boolean;
}

/** One caller of the started program, over either binding. Every method rejects when the program is gone. */
export class HttpCaller {
  readonly #options: HttpCallerOptions;

  constructor(options: HttpCallerOptions) {
    this.#options = options;
  }

  get name(): CallerName {
    return this.#options.name;
  }

  /** Sends and waits for the end, or for the acceptance alone; undefined when it was refused. */
  async send(binding: Binding, message: HttpMessage, returnImmediately = false): Promise<TaskJson | undefined> {
    const reply = await this.#call(binding, "SendMessage", paramsOf(message, returnImmediately));
    if (reply.kind !== "result") return this.#refused(reply);
    const { task } = reply.result as { task: TaskJson };
    this.#sent(task, message);
    return task;
  }

  /** The same, as a stream; gives the task as its last event shows it. */
  async stream(binding: Binding, message: HttpMessage): Promise<TaskJson | undefined> {
    return await this.#follow(binding, {
      method: "SendStreamingMessage",
      params: paramsOf(message, false),
      first: (task) => this.#sent(task, message),
    });
  }

  /** Follows a task until it is settled; undefined when it is over already. */
  async subscribe(binding: Binding, id: TaskId): Promise<TaskJson | undefined> {
    return await this.#follow(binding, {
      method: "SubscribeToTask",
      params: { id },
      first: (task) => this.#shown(task),
    });
  }

  async get(binding: Binding, id: TaskId): Promise<TaskJson | undefined> {
    return await this.#task(binding, "GetTask", id);
  }

  async cancel(binding: Binding, id: TaskId): Promise<TaskJson | undefined> {
    return await this.#task(binding, "CancelTask", id);
  }

  /** All tasks of this caller, each once; what moves to the front meanwhile may be missing. Waits until the list is there. */
  async list(binding: Binding): Promise<readonly TaskJson[]> {
    const found = new Map<TaskId, TaskJson>();
    for (let pageToken: string | undefined = ""; pageToken !== undefined;) {
      const params = { pageSize: 100, ...(pageToken !== "" && { pageToken }) };
      const reply = await this.#call(binding, "ListTasks", params);
      if (reply.kind === "error" && reply.reason === "INDEX_NOT_READY") continue;
      if (reply.kind !== "result") throw new Error(`Cannot list: ${JSON.stringify(reply)}`);
      const page = reply.result as { tasks: readonly TaskJson[]; nextPageToken: string };
      for (const task of page.tasks) found.set(task.id, task);
      pageToken = page.nextPageToken === "" ? undefined : page.nextPageToken;
    }
    return [...found.values()];
  }

  async #task(binding: Binding, method: "GetTask" | "CancelTask", id: TaskId): Promise<TaskJson | undefined> {
    const reply = await this.#call(binding, method, { id });
    if (reply.kind !== "result") return this.#refused(reply);
    this.#shown(reply.result as TaskJson);
    return reply.result as TaskJson;
  }

  async #follow(binding: Binding, asked: Following): Promise<TaskJson | undefined> {
    const { method, params, first } = asked;
    const answer = await this.#open(binding, method, params);
    if (answer.headers.get("Content-Type") !== "text/event-stream") return this.#refused(await readReply(answer));
    let shown: { readonly task: TaskJson; chars: number } | undefined;
    for await (const event of streamEvents(answer)) {
      if ("error" in event) throw new Error(`A stream failed: ${JSON.stringify(event)}`);
      if ("task" in event) {
        shown = { task: event.task, chars: responseText(event.task).length };
        first(event.task);
      } else {
        shown = this.#heard(event, shown!);
      }
      // A subscription goes on while a question is open.
      if (method === "SubscribeToTask" && isSettled(shown.task.status.state)) break;
    }
    return shown?.task;
  }

  #heard(event: StreamJson, { task, chars }: { readonly task: TaskJson; readonly chars: number }) {
    if ("artifactUpdate" in event) {
      const { artifact, append } = event.artifactUpdate;
      if (artifact.artifactId !== responseId) {
        this.#options.say({ kind: "file", id: task.id, artifactId: artifact.artifactId });
        return { task, chars };
      }
      const more = artifact.parts.reduce((sum, { text = "" }) => sum + text.length, 0);
      return { task, chars: append ? chars + more : more };
    }
    if (!("statusUpdate" in event)) return { task, chars };
    const { status } = event.statusUpdate;
    const { state, timestamp: at } = status;
    this.#options.say({ kind: "status", id: task.id, state, at, ...(state === "TASK_STATE_COMPLETED" && { chars }) });
    return { task: { ...task, status }, chars };
  }

  #sent(task: TaskJson, { messageId, taskId, isDeduped = false }: HttpMessage): void {
    const { id, status: { state, timestamp: at } } = task;
    if (taskId !== undefined) this.#options.say({ kind: "continued", id, messageId, state, at });
    else this.#options.say({ kind: "created", id, messageId, state, at, deduped: isDeduped });
    this.#shown(task);
  }

  #shown(task: TaskJson): void {
    const { id, status: { state, timestamp: at }, artifacts = [] } = task;
    const chars = state === "TASK_STATE_COMPLETED" ? { chars: responseText(task).length } : {};
    this.#options.say({ kind: "status", id, state, at, ...chars });
    for (const { artifactId } of artifacts) {
      if (artifactId !== responseId) this.#options.say({ kind: "file", id, artifactId });
    }
  }

  #refused(reply: WireReply): undefined {
    if (reply.kind !== "error") throw new Error(`Expected an error, got ${JSON.stringify(reply)}`);
    if (!expected.has(reply.reason)) throw new Error(`Refused: ${JSON.stringify(reply)}`);
    this.#options.say({ kind: "refused", why: reply.reason });
  }

  async #call(binding: Binding, method: Method, params: unknown): Promise<WireReply> {
    return await readReply(await this.#open(binding, method, params));
  }

  async #open(binding: Binding, method: Method, params: unknown): Promise<Response> {
    const { address, key, over: signal } = this.#options;
    const request = wireRequest(binding, { method, params }, { key });
    const { pathname, search } = new URL(request.url);
    const body = request.method === "GET" ? undefined : await request.bytes();
    return await fetch(address + pathname + search, { method: request.method, headers: request.headers, body, signal });
  }
}

interface Following {
  readonly method: "SendStreamingMessage" | "SubscribeToTask";
  readonly params: unknown;
  /** Told of the task that the stream begins with. */
  readonly first: (task: TaskJson) => void;
}

/** Why this load may be refused: nothing else may be. */
const expected: ReadonlySet<string> = new Set([
  ...["UNSUPPORTED_OPERATION", "TASK_NOT_CANCELABLE", "TASK_NOT_FOUND", "QUEUE_FULL", "SHUTTING_DOWN"],
]);

function paramsOf({ messageId, text, contextId, taskId, file, isDeduped }: HttpMessage, returnImmediately: boolean) {
  const raw = file === undefined ? [] : [{ raw: file.toBase64(), filename: "notes.txt", mediaType: "text/plain" }];
  return {
    message: { messageId, role: "ROLE_USER", contextId, taskId, parts: [{ text }, ...raw] },
    configuration: { returnImmediately },
    ...(isDeduped && { metadata: { "volcanic.dedupe": true } }),
  };
}

/** The events of a stream as they come, without its comments. Leaving it closes the connection. */
async function* streamEvents(answer: Response): AsyncGenerator<StreamJson, void, void> {
  let rest = "";
  for await (const text of answer.body!.pipeThrough(new TextDecoderStream())) {
    const whole = (rest + text).split("\n\n");
    rest = whole.pop()!;
    for (const one of whole) yield* eventsOf(one) as StreamJson[];
  }
}
