import type { Method } from "./request_types.ts";

/** The methods of A2A 1.0, by their names in JSON-RPC (§5.3, §9.4). */
export const methods: readonly Method[] = [
  "SendMessage",
  "SendStreamingMessage",
  "GetTask",
  "ListTasks",
  "CancelTask",
  "SubscribeToTask",
  "CreateTaskPushNotificationConfig",
  "GetTaskPushNotificationConfig",
  "ListTaskPushNotificationConfigs",
  "DeleteTaskPushNotificationConfig",
  "GetExtendedAgentCard",
];

/** The methods of A2A 0.3, by their names in JSON-RPC: what tells its callers from ours (product.md §5.8). */
export const legacyMethods: ReadonlySet<string> = new Set([
  "message/send",
  "message/stream",
  "tasks/get",
  "tasks/cancel",
  "tasks/resubscribe",
  "tasks/pushNotificationConfig/set",
  "tasks/pushNotificationConfig/get",
  "tasks/pushNotificationConfig/list",
  "tasks/pushNotificationConfig/delete",
  "agent/getAuthenticatedExtendedCard",
]);

/** Says whether `name` is a method of A2A 1.0. */
export function isMethod(name: string): name is Method {
  return (methods as readonly string[]).includes(name);
}
