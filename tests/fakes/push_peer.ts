import { deepStrictEqual } from "node:assert/strict";
import { createScriptedOutbound, type ScriptedOutbound, type ScriptedRequest } from "@tests/fakes/scripted_outbound.ts";
import { createTestClock } from "@tests/fakes/test_clock.ts";
import { startPeer, type TestPeer, textMessage } from "@tests/fakes/test_peer.ts";
import type { PeerOptions } from "@/app.ts";
import type { TaskJson } from "@/protocol/task.ts";

/** Where most webhooks of the tests lead. */
export const hookUrl = "https://hooks.example.com/a";

/** A webhook as a caller writes it. */
export interface PushConfigJson {
  readonly id?: string;
  readonly url?: string;
  readonly token?: string;
  readonly authentication?: { readonly scheme: string; readonly credentials: string };
}

/** A whole peer, and the door out as its test scripts it: what webhooks are told. */
export interface PushPeer extends TestPeer {
  readonly outbound: ScriptedOutbound;
  /** Waits until a URL was sent so much, and fails when it is anything but this, short and in order: `2 working`. */
  told(expected: readonly string[], url?: string): Promise<void>;
  /** Sends a text with a webhook, by default at `hookUrl`, and does not wait for its end. */
  sendWith(text: string, config?: PushConfigJson, more?: Readonly<Record<string, unknown>>): Promise<TaskJson>;
}

/** Turns of the event loop until nothing more is waited for: a push is signed outside of it. */
const turnsMax = 2_000;

/** What a test wants of it. */
export interface PushPeerOptions {
  readonly flags?: Readonly<Record<string, string>>;
  /** Stands around the door. */
  readonly wrap?: (door: ScriptedOutbound) => NonNullable<PeerOptions["outbound"]>;
}

/** Starts a peer with a door where only `hookUrl` answers, and takes everything. */
export async function startPushPeer({ flags, wrap }: PushPeerOptions = {}): Promise<PushPeer> {
  const clock = createTestClock();
  const outbound = createScriptedOutbound(clock);
  outbound.answer(hookUrl, { status: 204 });
  const made = await startPeer({ flags, clock, outbound: wrap?.(outbound) ?? outbound });
  return {
    ...{ ...made, outbound },
    async told(expected, url = hookUrl) {
      const sent = () => outbound.requests.filter((request) => request.url === url);
      for (let turns = 0; sent().length < expected.length && turns < turnsMax; turns++) await clock.settle();
      await clock.settle();
      deepStrictEqual(sent().map(briefPush), expected);
    },
    async sendWith(text, { url = hookUrl, ...config } = {}, more = {}) {
      const configuration = { returnImmediately: true, taskPushNotificationConfig: { url, ...config } };
      const reply = await made.call("SendMessage", { ...textMessage(text, more), configuration });
      if (reply.kind !== "result") throw new Error(`Cannot send: ${JSON.stringify(reply)}`);
      await clock.settle();
      return (reply.result as { task: TaskJson }).task;
    },
  };
}

/** The task that a push says, over A2A 1.0 or 0.3. */
export function pushedTask({ body }: Pick<ScriptedRequest, "body">): TaskJson {
  const json = JSON.parse(new TextDecoder().decode(body as Uint8Array));
  return json.task ?? json;
}

/** A push, short: the number of its status and the state, `2 completed`. */
export function briefPush(request: Pick<ScriptedRequest, "body">): string {
  const { metadata, status } = pushedTask(request);
  return `${metadata!["volcanic.seq"]} ${status.state.replace("TASK_STATE_", "").toLowerCase()}`;
}
