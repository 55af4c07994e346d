import type { Method, RequestOf } from "@/protocol/request_types.ts";
import type { Operation } from "./call.ts";
import { createPushConfig, deletePushConfig, getPushConfig, listPushConfigs } from "./push_operations.ts";
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
  CreateTaskPushNotificationConfig: createPushConfig,
  GetTaskPushNotificationConfig: getPushConfig,
  ListTaskPushNotificationConfigs: listPushConfigs,
  DeleteTaskPushNotificationConfig: deletePushConfig,
  GetExtendedAgentCard: async (_, { extendedCard }) => ({ kind: "value", value: await extendedCard() }),
};
