import { A2AError } from "@/protocol/errors.ts";
import { isTaskId } from "@/protocol/ids.ts";
import type { SendMessageRequest } from "@/protocol/request_types.ts";
import type { MessageJson, TaskJson } from "@/protocol/task.ts";
import type { TaskViewOptions } from "@/protocol/task_view.ts";
import type { Accepted, Submission } from "@/server/runs/submission.ts";
import type { PushTarget } from "@/server/tasks/task_record.ts";
import type { TimeMs } from "@/time/clock.ts";
import { notNeeded } from "@/time/not_needed.ts";
import { sha256Hex } from "@/workspace/sha256.ts";
import type { Call, Outcome } from "./call.ts";
import { badUrl, pushVersion } from "./push_operations.ts";
import { refusalError } from "./refusal_error.ts";
import { servedEvent, servedTask } from "@/server/tasks/served_task.ts";

/** How long a messageId is remembered for who asks for it (product.md §5.5). */
const dedupeMs = 24 * 60 * 60 * 1000;

/** SendMessage (A2A 1.0 §3.1.1): answers when the task is settled, at once with `returnImmediately`. */
export async function sendMessage(request: SendMessageRequest, call: Call): Promise<Outcome | A2AError> {
  const accepted = await accept(request, call);
  if (accepted instanceof A2AError) return accepted;
  accepted[Symbol.dispose](); // nobody reads the events
  const { historyLength, returnImmediately } = request.configuration;
  const answer = async (task: TaskJson) => ({ task: await servedTask(task, call.store, { historyLength }) });
  if (returnImmediately) return { kind: "value", value: await answer(accepted.task) };
  return { kind: "later", value: settledTask(accepted, call).then(answer), task: accepted.task };
}

/** SendStreamingMessage (A2A 1.0 §3.1.2): the task, then what happens to it until it is settled. */
export async function sendStreamingMessage(request: SendMessageRequest, call: Call): Promise<Outcome | A2AError> {
  const accepted = await accept(request, call);
  if (accepted instanceof A2AError) return accepted;
  const { historyLength } = request.configuration;
  return { kind: "stream", events: served(accepted.events, call, { historyLength }), task: accepted.task };
}

/** The same events as they are served, the bytes in place; ending it ends the events. */
export function served(
  events: Accepted["events"],
  { store }: Call,
  options: TaskViewOptions = {},
): Accepted["events"] {
  return {
    async next() {
      const next = await events.next();
      return next.done ? next : { done: false, value: await servedEvent(next.value, store, options) };
    },
    return: () => events.return!(),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function accept(request: SendMessageRequest, call: Call): Promise<Accepted | A2AError> {
  const { taskId, ...rest } = request.message;
  if (taskId !== undefined && !isTaskId(taskId)) return new A2AError("TASK_NOT_FOUND");
  const push = webhookOf(request, call);
  if (push instanceof A2AError) return push;
  const message: MessageJson = { ...rest, ...(taskId !== undefined && { taskId }) };
  const submission: Submission = {
    caller: call.caller,
    hops: request.hops,
    message,
    ...dedupeOf(request, call),
    ...(push && { push }),
  };
  const accepted = await call.runs.submit(submission);
  return accepted.kind === "refused" ? refusalError(accepted) : accepted;
}

/** The webhook that came with the message, if any, checked. A taskId in it is not looked at (A2A 1.0 §4.3.1). */
function webhookOf({ configuration }: SendMessageRequest, call: Call): PushTarget | undefined | A2AError {
  if (configuration.push === undefined) return undefined;
  const target = call.webhooks.targetOf(configuration.push, pushVersion(call));
  return "kind" in target ? badUrl(target, "configuration.taskPushNotificationConfig.url") : target;
}

function dedupeOf({ dedupe, message }: SendMessageRequest, { clock }: Call): Pick<Submission, "dedupe"> {
  if (!dedupe) return {};
  const { messageId, contextId = "", ...body } = message;
  const until = clock.now() + dedupeMs as TimeMs;
  return { dedupe: { messageId, contextId, bodyHash: sha256Hex(JSON.stringify(body)), until } };
}

/** The end of the wait, or of the patience for it, is never the end of the work. */
async function settledTask(accepted: Accepted, { clock, waitMs, signal, store, caller }: Call): Promise<TaskJson> {
  const enough = new AbortController();
  const over = AbortSignal.any([enough.signal, signal]);
  const tooLong = clock.sleep(waitMs, over).catch(() => {});
  try {
    const settled = await Promise.race([accepted.settled(), tooLong]);
    return settled ?? (await store.read(accepted.task.id, caller))?.task ?? accepted.task;
  } finally {
    enough.abort(notNeeded);
  }
}
