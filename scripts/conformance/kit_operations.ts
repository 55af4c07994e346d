import { A2AError } from "@/protocol/errors.ts";
import type { SendMessageRequest } from "@/protocol/request_types.ts";
import type { MessageJson, PartJson, TaskJson } from "@/protocol/task.ts";
import { systemRandom } from "@/random.ts";
import type { Call, Outcome } from "@/server/operations/call.ts";
import { type Operations, operations } from "@/server/operations/operations.ts";

/**
 * Our operations, with the three answers that the kit wants to see and that our server never gives: a message instead of a
 * task, a part with a URL, a part with data. They show what the bindings make of these, and nothing of what stands behind.
 */
export const kitOperations: Operations = { ...operations, SendMessage: sendMessage };

async function sendMessage(request: SendMessageRequest, call: Call): Promise<Outcome | A2AError> {
  const { messageId, contextId } = request.message;
  if (messageId.startsWith("tck-message-response")) {
    return { kind: "value", value: { message: directMessage(contextId) } };
  }
  const outcome = await operations.SendMessage(request, call);
  const part = partInstead(messageId);
  if (part === undefined || outcome instanceof A2AError || outcome.kind !== "later") return outcome;
  return { ...outcome, value: outcome.value.then((value) => withPart(value as { task: TaskJson }, part)) };
}

function directMessage(contextId: string | undefined): MessageJson {
  return {
    messageId: systemRandom.uuid(),
    contextId: contextId ?? systemRandom.uuid(),
    role: "ROLE_AGENT",
    parts: [{ text: "Direct message response" }],
  };
}

function partInstead(messageId: string): PartJson | undefined {
  if (messageId.startsWith("tck-artifact-file-url")) {
    return { url: "https://example.com/output.txt", filename: "output.txt", mediaType: "text/plain" };
  }
  return messageId.startsWith("tck-artifact-data") ? { data: { key: "value", count: 42 } } : undefined;
}

function withPart({ task }: { readonly task: TaskJson }, part: PartJson): { readonly task: TaskJson } {
  return { task: { ...task, artifacts: task.artifacts?.map((artifact) => ({ ...artifact, parts: [part] })) } };
}
