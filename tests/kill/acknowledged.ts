import type { TaskId } from "@/protocol/ids.ts";
import { isTerminal, type State, type TaskJson } from "@/protocol/task.ts";
import { responseText } from "@/server/tasks/lifecycle.ts";
import { newestStatus, type TaskRecord } from "@/server/tasks/task_record.ts";
import type { ChildLine, Listed, Sent } from "@tests/kill/child_line.ts";

/** What was said of one task, by whatever host. */
interface Said {
  state: State;
  at: string;
  /** The times of the statuses that were shown: each is a status of its own. */
  readonly shown: Set<string>;
  readonly messages: Set<string>;
  readonly files: Set<string>;
  /** The length of the completed answer. */
  chars?: number;
  /** The revision that was on disk when it was last looked at. */
  rev: number;
  isGone: boolean;
}

/** All that hosts ever acknowledged, and what must be so because of it: the oracle of the kill test. */
export class Acknowledged {
  readonly #keepMs: number;
  readonly #tasks = new Map<TaskId, Said>();
  readonly #deduped = new Map<string, TaskId>();
  readonly #sent: Sent[] = [];
  #commits = 0;
  #startedAt = 0;

  /** `keepMs`: a terminal task may be gone after this. */
  constructor(keepMs: number) {
    this.#keepMs = keepMs;
  }

  /** A host is about to start. */
  starts(now: number): void {
    this.#startedAt = now;
  }

  /** Commits of which somebody was told. */
  get commits(): number {
    return this.#commits;
  }

  /** Messages with a dedupe key since the last call. */
  takeSent(): readonly Sent[] {
    return this.#sent.splice(0);
  }

  /** Takes a line of a host; gives what must never be. */
  take(line: ChildLine, now: number): readonly string[] {
    switch (line.kind) {
      case "sending":
        this.#sent.push(line.sent);
        return [];
      case "created":
        this.#commits++;
        return [...this.#show(line.id, line, [line.messageId]), ...line.deduped ? this.#dedupe(line, now) : []];
      case "continued":
        this.#commits++;
        return this.#show(line.id, line, [line.messageId]);
      case "status": {
        this.#commits++;
        const problems = this.#show(line.id, line, []);
        if (line.chars !== undefined) this.#tasks.get(line.id)!.chars = line.chars;
        return problems;
      }
      case "file":
        this.#commits++;
        this.#tasks.get(line.id)!.files.add(line.artifactId);
        return [];
      case "removed":
        this.#commits++;
        return this.#remove(line.id, now);
      case "listed":
        return this.#checkAll(new Map(line.tasks.map((listed) => [listed[0], listed])), now);
      default:
        return [];
    }
  }

  /** Compares what was said with what is stored; gives what must never be. What is stored counts as said from then on. */
  check(records: ReadonlyMap<TaskId, TaskRecord>, now: number): readonly string[] {
    const listed = [...records.values()].map(({ task }) => [task.id, listedOf(task)] as const);
    const problems = [...this.#checkAll(new Map(listed), now)];
    for (const record of records.values()) problems.push(...this.#compare(record, this.#tasks.get(record.task.id)!));
    return problems;
  }

  /** A host shows a status: never one before another that was shown. */
  #show(id: TaskId, status: { readonly state: State; readonly at: string }, messages: readonly string[]) {
    const { state, at } = status;
    const said = this.#tasks.get(id);
    if (said === undefined) {
      const none = { rev: 0, isGone: false, files: new Set<string>() };
      this.#tasks.set(id, { state, at, shown: new Set([at]), messages: new Set(messages), ...none });
      return [];
    }
    if (said.isGone) return [`${id} is shown as ${state} after it was removed`];
    for (const messageId of messages) said.messages.add(messageId);
    said.shown.add(at);
    if (at === said.at && state !== said.state) return [`${id} has two statuses at ${at}: ${said.state} and ${state}`];
    if (isTerminal(said.state) && at > said.at) return [`${id} went on from ${said.state} to ${state}`];
    if (at > said.at) Object.assign(said, { state, at });
    return [];
  }

  #dedupe({ id, messageId }: ChildLine & { kind: "created" }, now: number): readonly string[] {
    const first = this.#deduped.get(messageId);
    this.#deduped.set(messageId, id);
    if (first === undefined || first === id || this.#mayBeGone(this.#tasks.get(first)!, now)) return [];
    return [`message ${messageId} made two tasks: ${first} and ${id}`];
  }

  #remove(id: TaskId, now: number): readonly string[] {
    const said = this.#tasks.get(id)!;
    const isEarly = !this.#mayBeGone(said, now);
    said.isGone = true;
    return isEarly ? [`${id} was removed while ${said.state}, since ${said.at}`] : [];
  }

  /** What was not terminal yet may have become so, unseen, when this host started. */
  #mayBeGone(said: Said, now: number): boolean {
    const overAt = isTerminal(said.state) ? Date.parse(said.at) : this.#startedAt;
    return said.isGone || overAt + this.#keepMs <= now;
  }

  #checkAll(tasks: ReadonlyMap<TaskId, Listed>, now: number): readonly string[] {
    const problems: string[] = [];
    for (const [id, said] of this.#tasks) {
      const found = tasks.get(id);
      if (found === undefined) {
        if (!this.#mayBeGone(said, now)) problems.push(`${id} is lost: it was ${said.state} at ${said.at}`);
        said.isGone = true;
        continue;
      }
      const [, state, at] = found;
      if (at < said.at) problems.push(`${id} went back from ${said.state} at ${said.at} to ${state} at ${at}`);
    }
    for (const [id, state, at] of tasks.values()) problems.push(...this.#show(id, { state, at }, []));
    return problems;
  }

  #compare(record: TaskRecord, said: Said): readonly string[] {
    const { task, rev } = record;
    const problems: string[] = [];
    const { seq } = newestStatus(record);
    if (seq < said.shown.size) problems.push(`${task.id} has ${seq} statuses, but ${said.shown.size} were shown`);
    if (rev < said.rev) problems.push(`${task.id} went back from revision ${said.rev} to ${rev}`);
    said.rev = rev;
    const messages = new Set(task.history?.map(({ messageId }) => messageId));
    for (const id of said.messages) if (!messages.has(id)) problems.push(`${task.id} lost message ${id}`);
    const artifacts = new Set(task.artifacts?.map(({ artifactId }) => artifactId));
    for (const id of said.files) if (!artifacts.has(id)) problems.push(`${task.id} lost file ${id}`);
    const chars = responseText(task).length;
    if (said.chars !== undefined && said.chars !== chars) {
      problems.push(`${task.id} answered ${chars} characters, but ${said.chars} were shown`);
    }
    return problems;
  }
}

function listedOf({ id, status }: TaskJson): Listed {
  return [id, status.state, status.timestamp];
}
