import type { TaskJson } from "./task.ts";

/** How much of a task its reader asked for. */
export interface TaskViewOptions {
  /** The newest so many messages; 0 leaves `history` out; undefined gives all (A2A 1.0 §3.2.4). */
  readonly historyLength?: number;
  /** Undefined: as the task has them. True: `artifacts` is there, be it empty. False: it is absent. */
  readonly includeArtifacts?: boolean;
}

/** Gives what of a task is served. The task itself is not changed; members, messages and artifacts keep their order. */
export function taskView(task: TaskJson, { historyLength, includeArtifacts }: TaskViewOptions = {}): TaskJson {
  const view: { -readonly [K in keyof TaskJson]: TaskJson[K] } = { ...task };
  if (historyLength === 0) delete view.history;
  else if (historyLength !== undefined && view.history !== undefined) view.history = view.history.slice(-historyLength);
  if (includeArtifacts === false) delete view.artifacts;
  else if (includeArtifacts === true) view.artifacts ??= [];
  return view;
}

/** The answer of ListTasks: always all four (A2A 1.0 §3.1.4). */
export interface ListTasksResponse {
  readonly tasks: readonly TaskJson[];
  /** "" on the last page. */
  readonly nextPageToken: string;
  /** The size that was used, not how many there are. */
  readonly pageSize: number;
  /** What matches, before paging. */
  readonly totalSize: number;
}

/** Gives the answer of ListTasks: each task as it was asked for, artifacts only when they were. */
export function listTasksResponse(
  page: ListTasksResponse,
  asked: { readonly historyLength?: number; readonly includeArtifacts: boolean },
): ListTasksResponse {
  const { tasks, nextPageToken, pageSize, totalSize } = page;
  return { tasks: tasks.map((task) => taskView(task, asked)), nextPageToken, pageSize, totalSize };
}
