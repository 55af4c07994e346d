import type { AgentCapabilitiesJson } from "@/protocol/agent_card.ts";
import { A2AError } from "@/protocol/errors.ts";
import type { Method, RequestOf } from "@/protocol/request_types.ts";

const extensionsHeader = "A2A-Extensions";

/** What is asked for: the operation, and the headers that it came with. */
export interface AskedOperation<M extends Method = Method> {
  readonly method: M;
  readonly asked: RequestOf[M];
  readonly headers: Headers;
}

/**
 * Says why an operation is refused by who has these capabilities; undefined when it may go on. It is the same for both
 * bindings (A2A 1.0 §3.3.4).
 *
 * What the card says is not there is refused as such; then, a request that does not name each required extension.
 */
export function capabilityError(
  { method, asked, headers }: AskedOperation,
  capabilities: AgentCapabilitiesJson,
): A2AError | undefined {
  const missing = missingCapability(method, asked, capabilities);
  if (missing !== undefined) return missing;
  const named = namedExtensions(headers);
  const needed = (capabilities.extensions ?? []).filter(({ uri, required }) => required === true && !named.has(uri));
  if (needed.length === 0) return undefined;
  const uris = needed.map(({ uri }) => uri).join(", ");
  return new A2AError("EXTENSION_SUPPORT_REQUIRED", {
    message: `This agent requires ${uris}: name it in the header ${extensionsHeader}`,
    metadata: { required: uris },
  });
}

/** Says on an answer which of the extensions that its request named are at work: those that the card has (A2A 1.0 §3.2.6). */
export function announceExtensions(
  answer: Response,
  { headers, capabilities }: { readonly headers: Headers; readonly capabilities: AgentCapabilitiesJson },
): Response {
  const named = namedExtensions(headers);
  const active = (capabilities.extensions ?? []).map(({ uri }) => uri).filter((uri) => named.has(uri));
  if (active.length > 0) answer.headers.set(extensionsHeader, active.join(", "));
  return answer;
}

function missingCapability(
  method: Method,
  asked: RequestOf[Method],
  { streaming, pushNotifications, extendedAgentCard }: AgentCapabilitiesJson,
): A2AError | undefined {
  switch (method) {
    case "SendStreamingMessage":
    case "SubscribeToTask":
      if (!streaming) return new A2AError("UNSUPPORTED_OPERATION", { message: "This agent does not stream" });
      break;
    case "GetExtendedAgentCard":
      if (!extendedAgentCard) {
        return new A2AError("UNSUPPORTED_OPERATION", { message: "This agent has no extended card" });
      }
      break;
    case "CreateTaskPushNotificationConfig":
    case "GetTaskPushNotificationConfig":
    case "ListTaskPushNotificationConfigs":
    case "DeleteTaskPushNotificationConfig":
      if (!pushNotifications) return new A2AError("PUSH_NOTIFICATION_NOT_SUPPORTED");
      break;
    case "SendMessage":
    case "GetTask":
    case "ListTasks":
    case "CancelTask":
      break;
    default:
      return method satisfies never;
  }
  const hasWebhook = "configuration" in asked && asked.configuration.push !== undefined;
  return hasWebhook && !pushNotifications ? new A2AError("PUSH_NOTIFICATION_NOT_SUPPORTED") : undefined;
}

function namedExtensions(headers: Headers): ReadonlySet<string> {
  return new Set((headers.get(extensionsHeader) ?? "").split(",").map((uri) => uri.trim()));
}
