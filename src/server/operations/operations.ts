import { A2AError } from "@/protocol/errors.ts";
import type { Method, RequestOf } from "@/protocol/request_types.ts";
import type { Call, Operation, Outcome } from "./call.ts";
import { sendMessage, sendStreamingMessage } from "./send_message.ts";
import { cancelTask, getTask, listTasks, subscribeToTask } from "./task_operations.ts";

/** What is done for each method. */
export type Operations = { readonly [M in Method]: Operation<RequestOf[M]> };

/** The eleven methods of A2A 1.0: one table, so that both bindings give equal results and errors (A2A 1.0 §5.1). */
export const operations: Operations = {
  SendMessage: sendMessage,
  SendStreamingMessage: sendStreamingMessage,
  GetTask: getTask,
  ListTasks: listTasks,
  CancelTask: cancelTask,
  SubscribeToTask: subscribeToTask,
  // The card says that pushes are not supported, and so does every method about them (A2A 1.0 §3.3.4).
  CreateTaskPushNotificationConfig: noPushes,
  GetTaskPushNotificationConfig: noPushes,
  ListTaskPushNotificationConfigs: noPushes,
  DeleteTaskPushNotificationConfig: noPushes,
  GetExtendedAgentCard: async (_, { extendedCard }) => ({ kind: "value", value: await extendedCard() }),
};

function noPushes(_request: unknown, _call: Call): Promise<Outcome | A2AError> {
  return Promise.resolve(new A2AError("PUSH_NOTIFICATION_NOT_SUPPORTED"));
}
