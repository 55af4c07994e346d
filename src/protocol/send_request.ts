import type { FieldReader } from "./field_reader.ts";
import { messageLimits, readMessage } from "./message_wire.ts";
import { readPushConfig } from "./push_config_wire.ts";
import type { SendConfiguration, SendMessageRequest } from "./request_types.ts";
import { historyLength, tenant } from "./request_fields.ts";

/** Reads the request of SendMessage and SendStreamingMessage (A2A 1.0 §3.2.1). */
export function readSendMessage(fields: FieldReader): SendMessageRequest {
  const messageFields = fields.nested("message");
  if (fields.value("message") === undefined) fields.refuse("message", "is required");
  const message = messageFields && readMessage(messageFields);
  const metadata = fields.struct("metadata", messageLimits.metadataChars);
  const extra = (name: string) => readExtra(name, [[fields, metadata], [messageFields, message?.metadata]]);
  return {
    message: message ?? { messageId: "", role: "ROLE_USER", parts: [] },
    configuration: readConfiguration(fields.nested("configuration")),
    hops: readHops(extra("volcanic.hops")),
    dedupe: readDedupe(extra("volcanic.dedupe")),
    ...(metadata !== undefined && { metadata }),
    ...tenant(fields),
  };
}

function readConfiguration(fields: FieldReader | undefined): SendConfiguration {
  if (fields === undefined) return { returnImmediately: false };
  const { listItems } = messageLimits;
  const acceptedOutputModes = fields.texts("acceptedOutputModes", { charsMax: 255, itemsMax: listItems });
  const pushFields = fields.nested("taskPushNotificationConfig");
  return {
    returnImmediately: fields.flag("returnImmediately") ?? false,
    ...historyLength(fields),
    ...(acceptedOutputModes !== undefined && acceptedOutputModes.length > 0 && { acceptedOutputModes }),
    ...(pushFields !== undefined && { push: readPushConfig(pushFields) }),
  };
}

/** A member of metadata that is ours, and where it stands: in the first of the places that has it. */
interface Extra {
  readonly value: unknown;
  refuse(expects: string): void;
}

type Place = readonly [fields: FieldReader | undefined, metadata: Readonly<Record<string, unknown>> | undefined];

function readExtra(name: string, places: readonly Place[]): Extra | undefined {
  const place = places.find(([, metadata]) => metadata !== undefined && Object.hasOwn(metadata, name));
  if (place === undefined) return undefined;
  const [fields, metadata] = place;
  return {
    value: metadata![name],
    refuse: (expects) => fields!.refuse(`metadata["${name}"]`, `must be ${expects}`),
  };
}

function readHops(extra: Extra | undefined): number {
  if (extra === undefined) return 0;
  if (Number.isSafeInteger(extra.value) && extra.value as number >= 0) return extra.value as number + 0;
  extra.refuse("a whole number from 0");
  return 0;
}

function readDedupe(extra: Extra | undefined): boolean {
  if (extra === undefined) return false;
  if (typeof extra.value === "boolean") return extra.value;
  extra.refuse("true or false");
  return false;
}
