import { startHost, type TestHost, type TestHostOptions } from "@tests/fakes/test_host.ts";
import type { Method } from "@/protocol/request_types.ts";
import { createCards } from "@/server/http/card_routes.ts";
import { createHttpApp, type HttpAppOptions, type ServedWorkspace } from "@/server/http/http_app.ts";
import type { TaskStore } from "@/server/tasks/task_store.ts";
import { CallersFile } from "@/workspace/callers_file.ts";
import { workspacePaths } from "@/workspace/workspace_paths.ts";
import { type Binding, wireRequest, type WireRequestOptions } from "@tests/fakes/wire_request.ts";
import { readReply, type WireReply } from "@tests/fakes/wire_reply.ts";

/** The callers of the workspace, and their keys. */
export const keys = { alice: "k_alice_0123456789", bob: "k_bob_0123456789" } as const;

/** A host with the faux engine behind the real endpoints: no socket, but all that stands behind one. */
export interface WireHost extends TestHost {
  /** Answers a request that came from `address`, by default this machine. */
  fetch(request: Request, address?: string): Promise<Response>;
  /** Calls a method and reads the whole answer. By default as alice, over version 1.0. */
  call(binding: Binding, method: Method, params?: unknown, options?: WireCallOptions): Promise<WireReply>;
  /** The same, without reading the answer. */
  open(binding: Binding, method: Method, params?: unknown, options?: WireCallOptions): Promise<Response>;
  /** The workspace as it is served, for another host's endpoints. */
  readonly served: ServedWorkspace;
  /** Writes `callers.json`. */
  writeCallers(entries: unknown): Promise<void>;
}

export interface WireCallOptions extends Omit<WireRequestOptions, "key"> {
  readonly as?: keyof typeof keys;
}

export type WireHostOptions =
  & TestHostOptions
  & Partial<
    Pick<HttpAppOptions, "waitMs" | "strictVersion" | "bodyBytesMax" | "rates" | "guard" | "workspaces" | "notReady">
  >
  & Pick<HttpAppOptions, "capabilities" | "operations">
  & {
    /** Stands around the store, as the operations see it. */
    readonly wrapStore?: (store: TaskStore) => TaskStore;
  };

/** Opens a host over a new folder with two callers, and its endpoints. */
export async function startWireHost(options: WireHostOptions = {}): Promise<WireHost> {
  const made = await startHost(options);
  const { host, disk, clock, workspace } = made;
  const paths = workspacePaths(workspace);
  const writeCallers: WireHost["writeCallers"] = (entries) =>
    Deno.writeTextFile(paths.callersFile, typeof entries === "string" ? entries : JSON.stringify(entries));
  await writeCallers(Object.entries(keys).map(([name, key]) => ({ name, key })));
  const guard = options.guard ?? { hostname: "127.0.0.1", publicUrl: undefined };
  const cards = createCards({
    settings: { name: "Volcanic assistant", description: "Generic.", capabilities: options.capabilities },
    publicUrl: guard.publicUrl,
    trustedProxies: [],
    clock,
  });
  const random = { uuid: () => crypto.randomUUID(), hex: () => "", fraction: () => 0 };
  const served: ServedWorkspace = {
    name: "home",
    runs: host.runs,
    store: options.wrapStore?.(host.store) ?? host.store,
    webhooks: host.webhooks,
    callers: new CallersFile({ disk, clock, path: paths.callersFile }),
    extendedCard: cards.extended({ disk, clock, random, paths }),
  };
  const app = createHttpApp({
    workspaces: [served, ...options.workspaces ?? []],
    guard,
    bodyBytesMax: options.bodyBytesMax ?? 32 * 1024 * 1024,
    rates: options.rates ?? { requestsPerMinute: Infinity, readsPerMinute: Infinity },
    strictVersion: options.strictVersion ?? false,
    waitMs: options.waitMs ?? Infinity,
    clock,
    cards: cards.answer,
    capabilities: options.capabilities,
    operations: options.operations,
    notReady: options.notReady ?? (() => []),
  });
  const fetch: WireHost["fetch"] = async (request, address = "127.0.0.1") =>
    await app.fetch(request, { remoteAddr: { hostname: address } });
  const open: WireHost["open"] = (binding, method, params, { as = "alice", ...more } = {}) =>
    fetch(wireRequest(binding, { method, params }, { ...more, key: keys[as] }));
  return {
    ...made,
    ...{ fetch, open, served, writeCallers },
    call: async (binding, method, params, more) => await readReply(await open(binding, method, params, more)),
  };
}
