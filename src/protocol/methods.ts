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

/** The methods of A2A 0.3, by their names in JSON-RPC: what tells its callers from ours (product.md §5.8). Each is one of 1.0's. */
export const legacyMethods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ["message/send", "SendMessage"],
  ["message/stream", "SendStreamingMessage"],
  ["tasks/get", "GetTask"],
  ["tasks/cancel", "CancelTask"],
  ["tasks/resubscribe", "SubscribeToTask"],
  ["tasks/pushNotificationConfig/set", "CreateTaskPushNotificationConfig"],
  ["tasks/pushNotificationConfig/get", "GetTaskPushNotificationConfig"],
  ["tasks/pushNotificationConfig/list", "ListTaskPushNotificationConfigs"],
  ["tasks/pushNotificationConfig/delete", "DeleteTaskPushNotificationConfig"],
  ["agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard"],
]);

/** Says whether `name` is a method of A2A 1.0. */
export function isMethod(name: string): name is Method {
  return (methods as readonly string[]).includes(name);
}
