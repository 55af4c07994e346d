import { Buffer } from "node:buffer";
import {
  type Part,
  Role,
  type SendMessageConfiguration,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  TaskState,
} from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { type ServeProcess, startServe } from "@tests/fakes/serve_process.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import type { Binding } from "@tests/fakes/wire_request.ts";
import { type WorkspacePaths, workspacePaths } from "@/workspace/workspace_paths.ts";

/** The callers of the folder, and their keys. */
export const sdkKeys = { alice: "k_alice_0123456789", bob: "k_bob_0123456789" } as const;

/** The program as it is started, and the SDK's client of A2A 1.0 as it is published, made from our card alone. */
export interface SdkSetting extends AsyncDisposable {
  readonly binding: Binding;
  readonly serve: ServeProcess;
  readonly address: string;
  readonly paths: WorkspacePaths;
  /** Alice. */
  readonly client: Client;
  readonly bob: Client;
  /** A client that sends these headers with everything but the request for the card. */
  clientWith(headers: Readonly<Record<string, string>>): Promise<Client>;
}

/** Starts the program over a new folder with two callers. */
export async function startSdkSetting(binding: Binding, ...args: readonly string[]): Promise<SdkSetting> {
  await using starting = new AsyncDisposableStack();
  const temp = starting.use(await makeTempFolder());
  const paths = workspacePaths(temp.path);
  await Deno.mkdir(paths.a2a, { recursive: true });
  const callers = Object.entries(sdkKeys).map(([name, key]) => ({ name, key }));
  await Deno.writeTextFile(paths.callersFile, JSON.stringify(callers));
  const serve = starting.use(startServe(temp.path, ...args));
  const address = await serve.address;
  const clientWith: SdkSetting["clientWith"] = (headers) => sdkClient(address, { binding, headers });
  const client = await clientWith({ "X-API-Key": sdkKeys.alice });
  const bob = await clientWith({ "X-API-Key": sdkKeys.bob });
  const all = starting.move();
  return {
    ...{ binding, serve, address, paths, client, bob, clientWith },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** Makes a client that prefers a binding, from the card at an address. */
export function sdkClient(
  address: string,
  { binding, headers }: { readonly binding: Binding; readonly headers: Readonly<Record<string, string>> },
): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) => {
    const all = new Headers(init?.headers);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    return fetch(input, { ...init, headers: all });
  };
  const factory = new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
    preferredTransports: [binding],
  }));
  return factory.createFromUrl(address);
}

/** What a message says besides its text. */
export interface SaidOptions {
  readonly taskId?: string;
  readonly contextId?: string;
  /** Behind the text. */
  readonly parts?: readonly Part[];
  readonly metadata?: Record<string, unknown>;
  readonly configuration?: Partial<SendMessageConfiguration>;
}

/** A request of the SDK that sends a text. */
export function said(text: string, options: SaidOptions = {}): SendMessageRequest {
  const { taskId = "", contextId = "", parts = [], metadata, configuration } = options;
  const usual = { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: false };
  return {
    tenant: "",
    metadata,
    configuration: configuration && { ...usual, ...configuration },
    message: {
      ...{ messageId: crypto.randomUUID(), contextId, taskId, role: Role.ROLE_USER, metadata: undefined },
      ...{ extensions: [], referenceTaskIds: [], parts: [partOf({ $case: "text", value: text }), ...parts] },
    },
  };
}

/** The configuration that does not wait. */
export const atOnce: SaidOptions = { configuration: { returnImmediately: true } };

/** A part of the SDK. */
export function partOf(content: Part["content"], { filename = "", mediaType = "" } = {}): Part {
  return { content, filename, mediaType, metadata: undefined };
}

/** A part with a file's bytes. */
export function filePart(bytes: Uint8Array, filename: string): Part {
  return partOf({ $case: "raw", value: Buffer.from(bytes) }, { filename, mediaType: "application/octet-stream" });
}

/** The task of an answer; throws when it was a message. */
export async function taskOf(sent: ReturnType<Client["sendMessage"]>): Promise<Task> {
  const answer = await sent;
  if ("messageId" in answer) throw new Error("Expected a task, got a message");
  return answer;
}

/** The state of a task, short: `completed`, `input-required`. */
export function stateOf({ status }: Pick<Task, "status">): string {
  return TaskState[status!.state].replace("TASK_STATE_", "").toLowerCase().replace("_", "-");
}

/** Everything that an artifact or a message says as text. */
export function textOf({ parts }: { readonly parts: readonly Part[] }): string {
  return parts.map(({ content }) => content?.$case === "text" ? content.value : "").join("");
}

/** An event, short: `task working`, `status completed`, `response`. */
export function briefOf({ payload }: StreamResponse): string {
  switch (payload?.$case) {
    case "task":
      return `task ${stateOf(payload.value)}`;
    case "statusUpdate":
      return `status ${stateOf(payload.value)}`;
    case "artifactUpdate":
      return payload.value.artifact!.name;
    default:
      return String(payload?.$case);
  }
}

/** The whole text that the `response` of a stream shows in the end. */
export function responseOf(events: readonly StreamResponse[]): string {
  let text = "";
  for (const { payload } of events) {
    if (payload?.$case !== "artifactUpdate" || payload.value.artifact?.artifactId !== "response") continue;
    text = (payload.value.append ? text : "") + textOf(payload.value.artifact);
  }
  return text;
}
