import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { TaskId } from "./ids.ts";
import type { TaskJson } from "./task.ts";
import { listTasksResponse, taskView, type TaskViewOptions } from "./task_view.ts";

const history = [1, 2, 3].map((n) => ({ messageId: `m${n}`, role: "ROLE_USER" as const, parts: [{ text: `${n}` }] }));
const artifacts = [{ artifactId: "response", parts: [{ text: "a" }] }, {
  artifactId: "file",
  parts: [{ raw: "aGk=" }],
}];
const task: TaskJson = {
  id: "0a6e7e0c-7c38-4f25-8a6b-3a1c2b0d9e11" as TaskId,
  contextId: "c",
  status: { state: "TASK_STATE_COMPLETED", timestamp: "2026-10-08T12:00:00.000Z" },
  history,
  artifacts,
  metadata: { a: 1 },
};
const { history: _history, ...noHistory } = task;
const { artifacts: _artifacts, ...noArtifacts } = task;
const { history: _both, ...bare } = noArtifacts;

const rows: readonly (readonly [options: TaskViewOptions, task: TaskJson, gives: TaskJson])[] = [
  [{}, task, task],
  [{ historyLength: 0 }, task, noHistory],
  [{ historyLength: 1 }, task, { ...task, history: history.slice(2) }],
  [{ historyLength: 2 }, task, { ...task, history: history.slice(1) }],
  [{ historyLength: 3 }, task, task],
  [{ historyLength: 2 ** 31 - 1 }, task, task],
  [{ historyLength: 2 }, noHistory, noHistory],
  [{ includeArtifacts: false }, task, noArtifacts],
  [{ includeArtifacts: false, historyLength: 0 }, task, bare],
  [{ includeArtifacts: true }, task, task],
  [{ includeArtifacts: true }, noArtifacts, { ...noArtifacts, artifacts: [] }],
  [{ includeArtifacts: undefined }, noArtifacts, noArtifacts],
];
for (const [options, given, gives] of rows) {
  const name = `${JSON.stringify(options)} of ${Object.keys(given).join(" ")}`;
  Deno.test(`taskView() gives what is asked for: ${name}`, () => {
    const before = JSON.stringify(given);
    deepStrictEqual(taskView(given, options), gives);
    strictEqual(JSON.stringify(given), before);
  });
}

Deno.test("taskView() keeps the order of members, messages and artifacts", () => {
  const view = taskView(task, { historyLength: 2, includeArtifacts: true });
  deepStrictEqual(Object.keys(view), Object.keys(task));
  deepStrictEqual(view.history!.map(({ messageId }) => messageId), ["m2", "m3"]);
  deepStrictEqual(view.artifacts!.map(({ artifactId }) => artifactId), ["response", "file"]);
});

Deno.test("listTasksResponse() always has its four members [C12]", () => {
  const empty = { tasks: [], nextPageToken: "", pageSize: 50, totalSize: 0 };
  strictEqual(JSON.stringify(listTasksResponse(empty, { includeArtifacts: false })), JSON.stringify(empty));
  const page = { tasks: [task, noHistory], nextPageToken: "p", pageSize: 2, totalSize: 9 };
  deepStrictEqual(listTasksResponse(page, { includeArtifacts: false, historyLength: 0 }), {
    ...page,
    tasks: [bare, bare],
  });
  deepStrictEqual(listTasksResponse(page, { includeArtifacts: true }), page);
});
