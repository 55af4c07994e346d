import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { A2AError } from "./errors.ts";
import { methods } from "./methods.ts";
import type { Method } from "./request_types.ts";
import { parseParams, parseRest } from "./requests.ts";
import type { RestInput } from "./rest_input.ts";

const id = "0a6e7e0c-7c38-4f25-8a6b-3a1c2b0d9e11";
const message = { messageId: "m1", role: "ROLE_USER", parts: [{ text: "hi" }] };
const push = { url: "https://hooks.example/", token: "t" };
const query = (text: string) => new URLSearchParams(text);

/** One request as both bindings have it, and what both give. */
interface Row {
  readonly name: string;
  readonly method: Method;
  readonly params: unknown;
  readonly rest: RestInput;
  readonly gives: unknown;
}

const send = { message, configuration: { returnImmediately: false }, hops: 0, dedupe: false };
const list = { pageSize: 50, pageToken: "", includeArtifacts: false };
const rows: readonly Row[] = [
  { name: "a send", method: "SendMessage", params: { message }, rest: { body: { message } }, gives: send },
  { name: "a stream", method: "SendStreamingMessage", params: { message }, rest: { body: { message } }, gives: send },
  { name: "a task", method: "GetTask", params: { id }, rest: { path: { id } }, gives: { id } },
  {
    name: "a task with history and tenant",
    method: "GetTask",
    params: { id, history_length: 0, tenant: "x" },
    rest: { path: { id }, query: query("historyLength=0&tenant=x&unknown=1") },
    gives: { id, historyLength: 0, tenant: "x" },
  },
  {
    name: "an id that is none of ours",
    method: "GetTask",
    params: { id: "x y" },
    rest: { path: { id: "x y" } },
    gives: { id: "x y" },
  },
  {
    name: "an id in path and query",
    method: "GetTask",
    params: { id },
    rest: { path: { id }, query: query("id=other") },
    gives: { id },
  },
  { name: "all tasks", method: "ListTasks", params: undefined, rest: {}, gives: list },
  { name: "all tasks, no parameters", method: "ListTasks", params: null, rest: { query: query("") }, gives: list },
  {
    name: "tasks by everything",
    method: "ListTasks",
    params: {
      contextId: "c",
      status: "TASK_STATE_WORKING",
      pageSize: "100",
      pageToken: "p",
      historyLength: 3,
      statusTimestampAfter: "1970-01-01T00:00:01Z",
      includeArtifacts: true,
    },
    rest: {
      query: query(
        "contextId=c&status=TASK_STATE_WORKING&pageSize=100&pageToken=p&historyLength=3" +
          "&statusTimestampAfter=1970-01-01T00%3A00%3A01Z&includeArtifacts=true",
      ),
    },
    gives: {
      contextId: "c",
      status: "TASK_STATE_WORKING",
      pageSize: 100,
      pageToken: "p",
      historyLength: 3,
      statusAfterMs: 1000,
      includeArtifacts: true,
    },
  },
  {
    name: "tasks by names in snake_case",
    method: "ListTasks",
    params: { context_id: "c", status: 8, page_size: 1, include_artifacts: false },
    rest: { query: query("context_id=c&status=TASK_STATE_AUTH_REQUIRED&page_size=1&include_artifacts=false") },
    gives: { ...list, contextId: "c", status: "TASK_STATE_AUTH_REQUIRED", pageSize: 1 },
  },
  {
    name: "empty filters as none",
    method: "ListTasks",
    params: { contextId: "", status: 0, pageToken: "", pageSize: null, includeArtifacts: null },
    rest: { query: query("contextId=&status=&pageToken=&pageSize=&includeArtifacts=") },
    gives: list,
  },
  { name: "a cancel without a body", method: "CancelTask", params: { id }, rest: { path: { id } }, gives: { id } },
  {
    name: "a cancel with null",
    method: "CancelTask",
    params: { id },
    rest: { path: { id }, body: null },
    gives: { id },
  },
  {
    name: "a cancel with metadata",
    method: "CancelTask",
    params: { id, metadata: { why: "late" } },
    rest: { path: { id }, body: { metadata: { why: "late" } }, query: query("metadata=ignored") },
    gives: { id, metadata: { why: "late" } },
  },
  {
    name: "a subscription",
    method: "SubscribeToTask",
    params: { id },
    rest: { path: { id }, body: { ignored: 1 } },
    gives: { id },
  },
  {
    name: "a new webhook",
    method: "CreateTaskPushNotificationConfig",
    params: { taskId: id, ...push },
    rest: { path: { taskId: id }, body: push },
    gives: { taskId: id, push },
  },
  {
    name: "a new webhook that names its task again",
    method: "CreateTaskPushNotificationConfig",
    params: { task_id: id, id: "c", ...push },
    rest: { path: { taskId: id }, body: { task_id: id, id: "c", ...push } },
    gives: { taskId: id, push: { url: push.url, id: "c", token: "t" } },
  },
  {
    name: "a webhook",
    method: "GetTaskPushNotificationConfig",
    params: { taskId: id, id: "c" },
    rest: { path: { taskId: id, id: "c" } },
    gives: { taskId: id, id: "c" },
  },
  {
    name: "webhooks",
    method: "ListTaskPushNotificationConfigs",
    params: { taskId: id, pageSize: 0 },
    rest: { path: { taskId: id }, query: query("pageSize=0") },
    gives: { taskId: id, pageSize: 50, pageToken: "" },
  },
  {
    name: "many webhooks",
    method: "ListTaskPushNotificationConfigs",
    params: { taskId: id, pageSize: 500, pageToken: "p" },
    rest: { path: { taskId: id }, query: query("pageSize=500&pageToken=p") },
    gives: { taskId: id, pageSize: 100, pageToken: "p" },
  },
  {
    name: "a webhook's end",
    method: "DeleteTaskPushNotificationConfig",
    params: { taskId: id, id: "c" },
    rest: { path: { taskId: id, id: "c" } },
    gives: { taskId: id, id: "c" },
  },
  { name: "a card", method: "GetExtendedAgentCard", params: undefined, rest: {}, gives: {} },
  {
    name: "a card of a tenant",
    method: "GetExtendedAgentCard",
    params: { tenant: "x" },
    rest: { query: query("tenant=x") },
    gives: { tenant: "x" },
  },
];
for (const { name, method, params, rest, gives } of rows) {
  Deno.test(`parseParams() and parseRest() give the same for ${name} [§5.1 equal-bindings]`, () => {
    deepStrictEqual(parseParams(method, params), gives);
    deepStrictEqual(parseRest(method, rest), gives);
  });
}

Deno.test("parseParams() and parseRest() are tested for every method [§5.1 equal-bindings]", () => {
  deepStrictEqual(methods.filter((method) => !rows.some((row) => row.method === method)), []);
});

function fieldsOf(result: unknown): readonly string[] {
  ok(result instanceof A2AError, JSON.stringify(result));
  strictEqual(result.reason, "INVALID_PARAMS");
  return result.fieldViolations.map(({ field }) => field);
}

const task = { path: { id } };
const bad: readonly (Omit<Row, "gives"> & { readonly fields: readonly string[] })[] = [
  { name: "no message", method: "SendMessage", params: undefined, rest: {}, fields: ["message"] },
  { name: "an array", method: "SendMessage", params: [message], rest: { body: [message] }, fields: [""] },
  { name: "a text", method: "SendMessage", params: "x", rest: { body: "x" }, fields: [""] },
  {
    name: "a negative history",
    method: "GetTask",
    params: { id, historyLength: -1 },
    rest: { ...task, query: query("historyLength=-1") },
    fields: ["historyLength"],
  },
  {
    name: "half a history",
    method: "GetTask",
    params: { id, historyLength: 1.5 },
    rest: { ...task, query: query("historyLength=1.5") },
    fields: ["historyLength"],
  },
  {
    name: "a history in words",
    method: "GetTask",
    params: { id, historyLength: "abc" },
    rest: { ...task, query: query("historyLength=abc") },
    fields: ["historyLength"],
  },
  {
    name: "a history over 32 bits",
    method: "GetTask",
    params: { id, historyLength: 2 ** 31 },
    rest: { ...task, query: query(`historyLength=${2 ** 31}`) },
    fields: ["historyLength"],
  },
  { name: "no id", method: "GetTask", params: {}, rest: {}, fields: ["id"] },
  { name: "a blank id", method: "GetTask", params: { id: " " }, rest: { path: { id: " " } }, fields: ["id"] },
  ...[0, 101, -1, 1.5, "x"].map((pageSize) => ({
    name: `a page of ${pageSize}`,
    method: "ListTasks" as const,
    params: { pageSize },
    rest: { query: query(`pageSize=${pageSize}`) },
    fields: ["pageSize"],
  })),
  {
    name: "an unknown state",
    method: "ListTasks",
    params: { status: "working" },
    rest: { query: query("status=working") },
    fields: ["status"],
  },
  {
    name: "a time in words",
    method: "ListTasks",
    params: { statusTimestampAfter: "today" },
    rest: { query: query("statusTimestampAfter=today") },
    fields: ["statusTimestampAfter"],
  },
  {
    name: "artifacts in words",
    method: "ListTasks",
    params: { includeArtifacts: "yes" },
    rest: { query: query("includeArtifacts=yes") },
    fields: ["includeArtifacts"],
  },
  {
    name: "several at once",
    method: "ListTasks",
    params: { pageSize: 0, historyLength: -1 },
    rest: { query: query("pageSize=0&historyLength=-1") },
    fields: ["pageSize", "historyLength"],
  },
  {
    name: "both spellings",
    method: "ListTasks",
    params: { pageSize: 1, page_size: 1 },
    rest: { query: query("pageSize=1&page_size=1") },
    fields: ["pageSize"],
  },
  {
    name: "a webhook without a URL",
    method: "CreateTaskPushNotificationConfig",
    params: { taskId: id },
    rest: { path: { taskId: id }, body: {} },
    fields: ["url"],
  },
  {
    name: "a webhook of no task",
    method: "CreateTaskPushNotificationConfig",
    params: push,
    rest: { body: push },
    fields: ["taskId"],
  },
  {
    name: "a negative number of webhooks",
    method: "ListTaskPushNotificationConfigs",
    params: { taskId: id, pageSize: -1 },
    rest: { path: { taskId: id }, query: query("pageSize=-1") },
    fields: ["pageSize"],
  },
  {
    name: "a webhook without an id",
    method: "DeleteTaskPushNotificationConfig",
    params: { taskId: id },
    rest: { path: { taskId: id } },
    fields: ["id"],
  },
  {
    name: "metadata that is no object",
    method: "CancelTask",
    params: { id, metadata: 1 },
    rest: { ...task, body: { metadata: 1 } },
    fields: ["metadata"],
  },
];
for (const { name, method, params, rest, fields } of bad) {
  Deno.test(`parseParams() and parseRest() refuse ${name} of ${method} alike [§5.1 equal-bindings, S6]`, () => {
    deepStrictEqual(fieldsOf(parseParams(method, params)), fields);
    deepStrictEqual(fieldsOf(parseRest(method, rest)), fields);
  });
}

Deno.test("parseRest() refuses a body that names another task than the path, in either spelling", () => {
  for (const body of [{ id: "other" }, { id: 1 }]) {
    deepStrictEqual(fieldsOf(parseRest("CancelTask", { ...task, body })), ["id"]);
  }
  for (const body of [{ ...push, taskId: "other" }, { ...push, task_id: "other" }]) {
    deepStrictEqual(fieldsOf(parseRest("CreateTaskPushNotificationConfig", { path: { taskId: id }, body })), [
      "taskId",
    ]);
  }
});

Deno.test("parseRest() refuses a query that gives a field more than once", () => {
  for (
    const text of [
      "pageSize=1&pageSize=2",
      "status=TASK_STATE_WORKING&status=TASK_STATE_FAILED",
      "contextId=a&contextId=b&contextId=c",
    ]
  ) {
    deepStrictEqual(fieldsOf(parseRest("ListTasks", { query: query(text) })).length, 1);
  }
});

Deno.test("parseRest() does not change the body it is given", () => {
  const body = { id, metadata: {} };
  parseRest("CancelTask", { ...task, body });
  deepStrictEqual(body, { id, metadata: {} });
});
