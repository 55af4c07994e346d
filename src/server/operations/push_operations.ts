import { A2AError } from "@/protocol/errors.ts";
import { isTaskId } from "@/protocol/ids.ts";
import type { CreatePushConfigRequest, ListPushConfigsRequest, PushConfigRequest } from "@/protocol/request_types.ts";
import type { BadUrl } from "@/server/push/webhooks.ts";
import type { PushTarget } from "@/server/tasks/task_record.ts";
import type { Call, Outcome } from "./call.ts";
import { badPageToken, refusalError } from "./refusal_error.ts";

/** CreateTaskPushNotificationConfig (A2A 1.0 §3.1.7): also on a task that is over. The answer holds no secrets. */
export async function createPushConfig(
  { taskId, push }: CreatePushConfigRequest,
  call: Call,
): Promise<Outcome | A2AError> {
  if (!isTaskId(taskId)) return new A2AError("TASK_NOT_FOUND");
  const webhook = { config: push, version: pushVersion(call) };
  const set = await call.webhooks.set({ id: taskId, caller: call.caller }, webhook);
  if (set.kind === "bad url") return badUrl(set, "url");
  return set.kind === "refused" ? refusalError(set) : { kind: "value", value: set.webhook };
}

/** GetTaskPushNotificationConfig (A2A 1.0 §3.1.8), without its secrets. */
export async function getPushConfig({ taskId, id }: PushConfigRequest, call: Call): Promise<Outcome | A2AError> {
  const found = isTaskId(taskId) ? await call.webhooks.get({ id: taskId, caller: call.caller }, id) : undefined;
  return found === undefined ? new A2AError("TASK_NOT_FOUND") : { kind: "value", value: found };
}

/** ListTaskPushNotificationConfigs (A2A 1.0 §3.1.9), without their secrets. */
export async function listPushConfigs(request: ListPushConfigsRequest, call: Call): Promise<Outcome | A2AError> {
  const { taskId } = request;
  if (!isTaskId(taskId)) return new A2AError("TASK_NOT_FOUND");
  const page = await call.webhooks.list({ id: taskId, caller: call.caller }, request);
  if (page.kind === "bad page token") return badPageToken();
  if (page.kind === "refused") return refusalError(page);
  const { configs, nextPageToken } = page;
  return { kind: "value", value: { configs, nextPageToken } };
}

/** DeleteTaskPushNotificationConfig (A2A 1.0 §3.1.10): idempotent, for a task that is there. */
export async function deletePushConfig({ taskId, id }: PushConfigRequest, call: Call): Promise<Outcome | A2AError> {
  if (!isTaskId(taskId)) return new A2AError("TASK_NOT_FOUND");
  const deleted = await call.webhooks.delete({ id: taskId, caller: call.caller }, id);
  return deleted.kind === "refused" ? refusalError(deleted) : { kind: "value", value: {} };
}

/** Which form a webhook of this call is to be told tasks in. */
export function pushVersion({ version }: Call): PushTarget["version"] {
  return version === "0.3" ? version : undefined;
}

/** The refusal of a URL that can be seen to lead where nothing may be sent. `field`: where in the request it stood. */
export function badUrl({ text }: BadUrl, field: string): A2AError {
  const message = `Cannot read the request: ${field} is refused: ${text}`;
  return new A2AError("INVALID_PARAMS", { message, fieldViolations: [{ field, description: `is refused: ${text}` }] });
}
