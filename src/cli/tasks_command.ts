import { isTerminal, type PartJson, type State } from "@/protocol/task.ts";
import { responseText } from "@/server/tasks/lifecycle.ts";
import { RecordFiles } from "@/server/tasks/record_files.ts";
import { visitTasks } from "@/server/tasks/task_reader.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";
import type { TasksListArguments, TasksShowArguments } from "./arguments.ts";
import { type CommandContext, type ExitCode, exitCodes } from "./command_context.ts";

/** Lists the stored tasks of a workspace, newest status first. Takes no lock: it serves beside a running host. */
export async function tasksListCommand(args: TasksListArguments, context: CommandContext): Promise<ExitCode> {
  const { output } = context;
  const rows: TaskRow[] = [];
  const visited = await visitWorkspace(args.workspace, context, (record) => {
    if (fits(record, args)) rows.push(rowOf(record));
  });
  if (visited === undefined) return exitCodes.wrongUsage;
  rows.sort((a, b) => a.at < b.at ? 1 : a.at > b.at ? -1 : a.taskId < b.taskId ? -1 : 1);
  const shown = rows.slice(0, args.limit);
  if (output.wantsJson) {
    output.json({ tasks: shown, total: rows.length, unreadable: visited.unreadable });
    return exitCodes.done;
  }
  for (const { at, state, caller, taskId, text } of shown) {
    output.line(`${output.dim(at)}  ${state.padEnd(14)}  ${caller}  ${taskId}  ${text}`);
  }
  if (rows.length === 0) output.line("No tasks");
  if (rows.length > shown.length) output.line(`${rows.length - shown.length} more: raise --limit to see them`);
  if (visited.unreadable > 0) output.error(`${visited.unreadable} task files cannot be read and were left out`);
  return exitCodes.done;
}

/** Shows one stored task, named by its id or the beginning of it. */
export async function tasksShowCommand(args: TasksShowArguments, context: CommandContext): Promise<ExitCode> {
  const { output } = context;
  const found: TaskRecord[] = [];
  const visited = await visitWorkspace(args.workspace, context, (record) => {
    if (record.task.id.startsWith(args.id) && found.length < 2) found.push(record);
  });
  if (visited === undefined) return exitCodes.wrongUsage;
  const [record, other] = found;
  if (record === undefined || other !== undefined) {
    const why = record === undefined
      ? "no task of this workspace has that id"
      : "several ids begin so, give more of it";
    output.error(`Cannot show task ${args.id}: ${why}`);
    return exitCodes.wrongUsage;
  }
  if (output.wantsJson) output.json(withoutSecrets(record));
  else for (const line of describe(record)) output.line(line);
  return exitCodes.done;
}

interface TaskRow {
  readonly taskId: string;
  readonly contextId: string;
  readonly caller: string;
  readonly state: string;
  readonly at: string;
  /** The beginning of what was said last, on one line. */
  readonly text: string;
}

async function visitWorkspace(dir: string, context: CommandContext, visit: (record: TaskRecord) => void) {
  const { disk, random, output } = context;
  if (disk.stampSync(dir)?.kind !== "folder") {
    output.error(`Cannot read ${dir}: there is no such folder; name the workspace with --workspace DIR`);
    return undefined;
  }
  const { tasks: folder } = workspacePaths(await disk.realPath(dir));
  return await visitTasks({ disk, folder, files: new RecordFiles({ disk, random, folder }) }, visit);
}

function fits({ task, caller }: TaskRecord, args: TasksListArguments): boolean {
  return (args.caller === undefined || caller === args.caller) &&
    (args.contextId === undefined || task.contextId === args.contextId) &&
    (args.state === undefined || stateWord(task.status.state) === args.state);
}

function rowOf({ task, caller }: TaskRecord): TaskRow {
  const said = statusText(task.status.message?.parts) || responseText(task) ||
    statusText(task.history?.at(-1)?.parts);
  return {
    taskId: task.id,
    contextId: task.contextId,
    caller,
    state: stateWord(task.status.state),
    at: task.status.timestamp,
    text: said.replaceAll(/\s+/g, " ").slice(0, 60),
  };
}

function* describe(record: TaskRecord): Generator<string> {
  const { task, usage } = record;
  yield `task     ${task.id}`;
  yield `context  ${task.contextId}`;
  yield `caller   ${record.caller}`;
  yield `state    ${stateWord(task.status.state)} since ${task.status.timestamp}`;
  if (usage !== undefined) yield `tokens   ${usage.inputTokens} in, ${usage.outputTokens} out`;
  for (const { target, state } of record.pushes) yield `webhook  ${new URL(target.url).origin}, ${state}`;
  for (const { role, parts } of task.history ?? []) yield* labelled(role === "ROLE_USER" ? "caller" : "agent", parts);
  if (task.status.message !== undefined) yield* labelled("status", task.status.message.parts);
  for (const { name, parts } of task.artifacts ?? []) yield* labelled(name ?? "artifact", parts);
  if (!isTerminal(task.status.state) && record.run !== null) yield `run      ${runWords(record.run)}`;
}

function* labelled(label: string, parts: readonly PartJson[]): Generator<string> {
  yield "";
  yield `${label}:`;
  for (const part of parts) for (const line of partText(part).split("\n")) yield `  ${line}`;
}

function partText(part: PartJson): string {
  if (part.text !== undefined) return part.text;
  const name = part.filename ?? "file";
  if (typeof part.raw === "object") return `${name}, ${part.raw.bytes} bytes, ${part.mediaType}`;
  if (part.raw !== undefined) return `${name}, ${Uint8Array.fromBase64(part.raw).length} bytes, ${part.mediaType}`;
  return part.url ?? JSON.stringify(part.data);
}

function runWords({ attempt, queuedAt, startedAt }: NonNullable<TaskRecord["run"]>): string {
  const since = new Date(startedAt ?? queuedAt).toISOString();
  return `${startedAt === null ? "queued" : "at work"} since ${since}, attempt ${attempt}`;
}

/** A webhook's token and credentials stay on disk. */
function withoutSecrets(record: TaskRecord): unknown {
  const pushes = record.pushes.map(({ target: { id, url }, ...push }) => ({ ...push, target: { id, url } }));
  return { ...record, pushes };
}

function statusText(parts: readonly PartJson[] | undefined): string {
  return parts?.map(({ text }) => text ?? "").join(" ").trim() ?? "";
}

/** `TASK_STATE_INPUT_REQUIRED` as people say it: `input-required`. */
export function stateWord(state: State): string {
  return state.slice("TASK_STATE_".length).toLowerCase().replaceAll("_", "-");
}
