import type { JsonObject } from "./field_reader.ts";
import type { IncomingMessage } from "./message_wire.ts";
import type { State } from "./task.ts";

/** What every request may carry: the opaque tenant of the interface that it was sent to. */
interface AnyRequest {
  readonly tenant?: string;
}

/** SendMessage and SendStreamingMessage. */
export interface SendMessageRequest extends AnyRequest {
  readonly message: IncomingMessage;
  readonly configuration: SendConfiguration;
  readonly metadata?: JsonObject;
  /** `metadata["volcanic.hops"]` of the request, else of the message, else 0 (product.md §5.9). */
  readonly hops: number;
  /** `metadata["volcanic.dedupe"]` of the request, else of the message, else false (product.md §5.5). */
  readonly dedupe: boolean;
}

/** How a send is to be answered, with the defaults of A2A filled in. */
export interface SendConfiguration {
  /** Media types; undefined when the caller names none. */
  readonly acceptedOutputModes?: readonly string[];
  /** 0 or more; undefined means all. */
  readonly historyLength?: number;
  readonly returnImmediately: boolean;
  readonly push?: PushConfig;
}

/** A webhook as its caller gives it: checked in form, not in where it leads. */
export interface PushConfig {
  /** Safe in a path and in a header; undefined: the server makes one. */
  readonly id?: string;
  readonly url: string;
  readonly token?: string;
  readonly authentication?: { readonly scheme: string; readonly credentials: string };
}

/** A task by its id, which may be any text: what is no id of ours is an unknown task. */
export interface TaskRequest extends AnyRequest {
  readonly id: string;
}

/** GetTask. */
export interface GetTaskRequest extends TaskRequest {
  /** 0 or more; undefined means all. */
  readonly historyLength?: number;
}

/** CancelTask. */
export interface CancelTaskRequest extends TaskRequest {
  readonly metadata?: JsonObject;
}

/** ListTasks, with the defaults of A2A filled in. */
export interface ListTasksRequest extends AnyRequest {
  readonly contextId?: string;
  readonly status?: ListedState;
  /** 1 to 100. */
  readonly pageSize: number;
  /** "" for the first page. */
  readonly pageToken: string;
  /** 0 or more; undefined means all. */
  readonly historyLength?: number;
  /** Only statuses at or after this, in milliseconds since 1970. */
  readonly statusAfterMs?: number;
  readonly includeArtifacts: boolean;
}

/** A state that can be asked for: also one that no task of ours ever has. */
export type ListedState = State | "TASK_STATE_AUTH_REQUIRED";

/** CreateTaskPushNotificationConfig. */
export interface CreatePushConfigRequest extends AnyRequest {
  readonly taskId: string;
  readonly push: PushConfig;
}

/** GetTaskPushNotificationConfig and DeleteTaskPushNotificationConfig. */
export interface PushConfigRequest extends AnyRequest {
  readonly taskId: string;
  readonly id: string;
}

/** ListTaskPushNotificationConfigs. */
export interface ListPushConfigsRequest extends AnyRequest {
  readonly taskId: string;
  /** 1 to 100. */
  readonly pageSize: number;
  readonly pageToken: string;
}

/** GetExtendedAgentCard. */
export type ExtendedCardRequest = AnyRequest;

/** The typed request of each method of A2A 1.0, the same whichever binding it came over. */
export interface RequestOf {
  readonly SendMessage: SendMessageRequest;
  readonly SendStreamingMessage: SendMessageRequest;
  readonly GetTask: GetTaskRequest;
  readonly ListTasks: ListTasksRequest;
  readonly CancelTask: CancelTaskRequest;
  readonly SubscribeToTask: TaskRequest;
  readonly CreateTaskPushNotificationConfig: CreatePushConfigRequest;
  readonly GetTaskPushNotificationConfig: PushConfigRequest;
  readonly ListTaskPushNotificationConfigs: ListPushConfigsRequest;
  readonly DeleteTaskPushNotificationConfig: PushConfigRequest;
  readonly GetExtendedAgentCard: ExtendedCardRequest;
}

/** A method of A2A 1.0. */
export type Method = keyof RequestOf;
