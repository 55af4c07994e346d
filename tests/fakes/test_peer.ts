import { createFaultyDisk, type FaultyDisk } from "@tests/fakes/faulty_disk.ts";
import { makeTempFolder } from "@tests/fakes/temp_folder.ts";
import { createTestClock, type TestClock } from "@tests/fakes/test_clock.ts";
import { readReply, type WireReply } from "@tests/fakes/wire_reply.ts";
import { type Binding, wireRequest } from "@tests/fakes/wire_request.ts";
import { openPeer, type Peer, type PeerOptions } from "@/app.ts";
import { readConfig } from "@/config.ts";
import { createFauxEngine } from "@/engine/faux_engine.ts";
import type { Method } from "@/protocol/request_types.ts";
import type { TaskJson } from "@/protocol/task.ts";
import { systemRandom } from "@/random.ts";
import type { Activity } from "@/server/runs/run_activity.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { type WorkspacePaths, workspacePaths } from "@/workspace/workspace_paths.ts";

/** A whole peer in process, on a clock and a disk that the test rules. Its only workspace is `home`. */
export interface TestPeer extends AsyncDisposable {
  readonly peer: Peer;
  readonly clock: TestClock;
  readonly disk: FaultyDisk;
  readonly paths: WorkspacePaths;
  /** Where it listens; "" when it does not. */
  readonly address: string;
  /** What the owner was shown. */
  readonly shown: readonly Activity[];
  /** What was said of a lost lock. */
  readonly lost: readonly string[];
  writeCallers(entries: unknown): Promise<void>;
  /** Calls a method as alice unless a key is given; the answer is not read. */
  open(method: Method, params?: unknown, options?: PeerCallOptions): Promise<Response>;
  /** The same, and reads it. */
  call(method: Method, params?: unknown, options?: PeerCallOptions): Promise<WireReply>;
  /** Sends a text and does not wait for its end. */
  send(text: string, options?: PeerCallOptions & { readonly contextId?: string }): Promise<TaskJson>;
  task(id: string): Promise<TaskJson>;
  readyz(): Promise<{ readonly status: number; readonly notReady: readonly string[] }>;
  /** The lines of the audit, when all is written. */
  audit(): Promise<readonly Record<string, unknown>[]>;
}

export interface PeerCallOptions {
  readonly binding?: Binding;
  readonly key?: string;
  readonly body?: BodyInit;
}

/** The callers of `home`, and their keys. */
export const peerKeys = { alice: "k_alice_0123456789", bob: "k_bob_0123456789" } as const;

/** Both of them, as entries of `callers.json`. */
export const bothCallers = Object.entries(peerKeys).map(([name, key]) => ({ name, key }));

/** A message with one text. */
export function textMessage(text: string, more: Readonly<Record<string, unknown>> = {}) {
  return { message: { role: "ROLE_USER", messageId: crypto.randomUUID(), parts: [{ text }], ...more } };
}

/** What a test wants of its peer. */
export interface TestPeerOptions {
  readonly flags?: Readonly<Record<string, string>>;
  /** It has a socket, too, on a port that is free. */
  readonly listens?: boolean;
  readonly clock?: TestClock;
  /** Absent: the real one. */
  readonly outbound?: PeerOptions["outbound"];
}

/** Opens and starts a peer over a new folder with two callers. */
export async function startPeer(
  { flags, listens = false, clock = createTestClock(), outbound }: TestPeerOptions = {},
): Promise<TestPeer> {
  const temp = await makeTempFolder();
  const paths = workspacePaths(temp.path);
  const disk = createFaultyDisk(createDisk(systemClock), clock);
  const read = readConfig({ flags: { "min-free-bytes": "0", ...flags } });
  if (read.kind === "problems") throw new Error(read.problems.join("\n"));
  const shown: Activity[] = [];
  const lost: string[] = [];
  const peer = await openPeer({
    ...{ clock, disk, config: read.config, random: systemRandom, pid: 4711, outbound },
    workspaces: [{ name: "home", folder: temp.path }],
    openEngine: () => createFauxEngine({ clock }),
    onActivity: (_, activity) => void shown.push(activity),
    onLost: (message) => void lost.push(message),
  });
  if (peer.kind === "refused") throw new Error(peer.message);
  const writeCallers = (entries: unknown) =>
    Deno.writeTextFile(paths.callersFile, typeof entries === "string" ? entries : JSON.stringify(entries));
  await writeCallers(bothCallers);
  const started = await peer.start(listens ? { hostname: "127.0.0.1", port: 0 } : undefined);
  if (started.kind === "refused") throw new Error(started.message);
  const address = started.address === undefined ? "" : `http://127.0.0.1:${started.address.port}`;
  await clock.settle();
  return {
    ...{ peer, clock, disk, paths, address, shown, lost, writeCallers },
    ...doorsOf(peer, { clock, paths }),
    async [Symbol.asyncDispose]() {
      const closing = peer[Symbol.asyncDispose]();
      await clock.advance(6_000);
      await closing;
      await temp[Symbol.asyncDispose]();
    },
  };
}

function doorsOf(peer: Peer, { clock, paths }: { clock: TestClock; paths: WorkspacePaths }) {
  const open: TestPeer["open"] = (method, params, { binding = "JSONRPC", key = peerKeys.alice, body } = {}) =>
    peer.fetch(wireRequest(binding, { method, params }, { key, body }));
  const call: TestPeer["call"] = async (...args) => await readReply(await open(...args));
  const result = async (...args: Parameters<TestPeer["call"]>): Promise<unknown> => {
    const reply = await call(...args);
    if (reply.kind !== "result") throw new Error(`Expected a result, got ${JSON.stringify(reply)}`);
    return reply.result;
  };
  return {
    ...{ open, call },
    async send(text: string, { contextId, ...how }: PeerCallOptions & { readonly contextId?: string } = {}) {
      const message = textMessage(text, contextId === undefined ? {} : { contextId });
      const params = { ...message, configuration: { returnImmediately: true } };
      return (await result("SendMessage", params, how) as { task: TaskJson }).task;
    },
    task: async (id: string) => await result("GetTask", { id }) as TaskJson,
    async readyz() {
      const answer = await peer.fetch(new Request("http://127.0.0.1:5099/readyz"));
      return { status: answer.status, notReady: (await answer.json()).notReady };
    },
    async audit() {
      await clock.settle();
      const text = await Deno.readTextFile(paths.audit);
      return text.trimEnd().split("\n").slice(1).map((line) => JSON.parse(line));
    },
  };
}
