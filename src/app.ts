import { configuredOutbound } from "@/configured_outbound.ts";
import { Counters } from "@/counters.ts";
import type { Engine } from "@/engine/engine.ts";
import { A2AError } from "@/protocol/errors.ts";
import { restErrorAnswer } from "@/server/http/answers.ts";
import { createCards } from "@/server/http/card_routes.ts";
import { Expulsion } from "@/server/http/expulsion.ts";
import { type ConnectionInfo, createHttpApp, type HttpAppOptions } from "@/server/http/http_app.ts";
import { type Listener, type ListenerAddress, type ListenRefusal, openListener } from "@/server/http/listener.ts";
import { OpenStreams } from "@/server/http/open_streams.ts";
import { Readiness, type ReadyCheck } from "@/server/http/readiness.ts";
import type { PushReport } from "@/server/push/push_queue.ts";
import { type Activity, RunActivity } from "@/server/runs/run_activity.ts";
import { type AuditEntry, AuditFile } from "@/workspace/audit_file.ts";
import { type NamedWorkspace, workspacesProblem } from "@/workspace/workspace_names.ts";
import { isFolderWritable } from "@/workspace/writable_folder.ts";
import {
  type Host,
  type HostOptions,
  type HostRefusal,
  type LockedWorkspace,
  lockWorkspace,
  openLocked,
} from "./workspace_host.ts";

/** What a peer is made of. */
export interface PeerOptions
  extends
    Pick<HostOptions, "config" | "disk" | "clock" | "random" | "pid">,
    Pick<HttpAppOptions, "capabilities" | "operations"> {
  readonly workspaces: readonly NamedWorkspace[];
  /** Certificates in PEM, trusted besides the usual ones. */
  readonly caCerts?: readonly string[];
  /** The door to strangers' URLs; it outlives the peer. Absent: one as the settings have it. */
  readonly outbound?: HostOptions["outbound"];
  /** Makes what thinks in one workspace. It is disposed of with the peer. */
  readonly openEngine: () => Engine;
  /** Gives what callers' sessions in one workspace start programs with; absent: they start none. */
  readonly programsOf?: (workspace: string) => HostOptions["lendPrograms"];
  /** Shows the owner what runs do. Must not throw. */
  readonly onActivity?: (workspace: string, activity: Activity) => void;
  /** Told once when another process has a workspace of ours: nothing may be written any more, so end at once. */
  readonly onLost?: (message: string) => void;
}

/**
 * Takes the workspaces of a peer: its first half, which may refuse, and changes nothing that another host could miss.
 * `start` is the second.
 */
export async function openPeer(options: PeerOptions): Promise<Peer | HostRefusal> {
  const problem = workspacesProblem(options.workspaces);
  if (problem !== undefined) return { kind: "refused", message: problem };
  using taken = new DisposableStack();
  const locked: TakenWorkspace[] = [];
  for (const { name, folder } of options.workspaces) {
    const lock = await lockWorkspace({ ...options, workspace: folder });
    if (lock.kind === "refused") return lock;
    locked.push({ name, folder, locked: taken.use(lock) });
  }
  return new Peer(options, locked, taken.move());
}

interface TakenWorkspace extends NamedWorkspace {
  readonly locked: LockedWorkspace;
}

/** A workspace at work, as the endpoints see it. */
interface OpenWorkspace extends TakenWorkspace {
  readonly host: Host;
  readonly audit: AuditFile;
}

/**
 * The server half over its workspaces: one `fetch` for all of them (state-machines.md 7).
 *
 * `start` once; then `drain`, and dispose of it. Disposing without a drain drains without grace.
 */
export class Peer implements AsyncDisposable {
  readonly kind = "peer";
  readonly #options: PeerOptions;
  readonly #taken: readonly TakenWorkspace[];
  readonly #parts = new AsyncDisposableStack();
  readonly #streams = new OpenStreams();
  readonly #draining = new AbortController();
  readonly #stopped = new AbortController();
  readonly #outbound: HostOptions["outbound"];
  #open: readonly OpenWorkspace[] = [];
  #listener: Listener | undefined;
  #app: ReturnType<typeof createHttpApp> | undefined;
  #drained: Promise<void> | undefined;
  #isLost = false;

  constructor(options: PeerOptions, taken: readonly TakenWorkspace[], locks: Disposable) {
    this.#options = options;
    this.#taken = taken;
    this.#parts.use(locks);
    // The hosts, which use it, are closed first.
    this.#outbound = options.outbound ?? this.#parts.use(configuredOutbound(options.config, options));
  }

  /**
   * Listens, recovers every workspace, and serves; without `listen` only `fetch` does. The port comes first: when it is taken,
   * nothing was begun that would have to be ended again.
   */
  async start(
    listen?: ListenerAddress,
  ): Promise<{ readonly kind: "started"; readonly address?: ListenerAddress } | ListenRefusal> {
    if (listen !== undefined) {
      const { clock } = this.#options;
      const listener = openListener(listen, { answer: (request, info) => this.fetch(request, info), clock });
      if (listener.kind === "refused") return listener;
      this.#listener = listener;
    }
    const open: OpenWorkspace[] = [];
    for (const taken of this.#taken) open.push(await this.#openWorkspace(taken));
    this.#open = open;
    this.#app = this.#serve(listen?.hostname ?? this.#options.config.listen.value.hostname);
    return { kind: "started", address: this.#listener?.address };
  }

  /** Answers a request that came from `info`; from this machine when absent. Never rejects. */
  async fetch(request: Request, info: ConnectionInfo = { remoteAddr: { hostname: "127.0.0.1" } }): Promise<Response> {
    if (this.#app !== undefined) return await this.#app.fetch(request, info);
    // A host that recovers is alive: a probe that ended it would only make it recover again.
    if (new URL(request.url).pathname === "/healthz") return Response.json({ status: "ok" });
    return restErrorAnswer(
      new A2AError("INDEX_NOT_READY", { message: "The server is starting, retry later", retryAfterSeconds: 1 }),
    );
  }

  /** Each workspace with how many callers it has now, and which of them may write to it. */
  get workspaces(): readonly (NamedWorkspace & {
    readonly callers: number;
    readonly writers: readonly string[];
    readonly networkers: readonly string[];
  })[] {
    return this.#open.map(({ name, folder, host }) => {
      const { callers } = host.callers.read();
      const writers = callers.filter(({ access }) => access === "write").map(({ caller }) => caller);
      const networkers = callers.filter(({ network }) => network).map(({ caller }) => caller);
      return { name, folder, callers: callers.length, writers, networkers };
    });
  }

  /**
   * Takes no new work, on open connections either, and ends the streams; reads are served. Resolves when all that runs is
   * settled, which is after `graceMs` at the latest and then what a stubborn engine takes.
   */
  drain(graceMs: number): Promise<void> {
    return this.#drained ??= this.#drain(graceMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.drain(0);
    this.#stopped.abort(); // who waits for a queued run is answered now
    this.#streams.end(lastWords);
    await this.#listener?.[Symbol.asyncDispose]();
    await this.#parts.disposeAsync();
  }

  async #drain(graceMs: number): Promise<void> {
    this.#draining.abort();
    const settled = this.#open.map(({ host }) => host.runs.drain(graceMs)); // before the streams end: nothing new comes
    this.#streams.end(lastWords);
    await Promise.all(settled);
  }

  async #openWorkspace(taken: TakenWorkspace): Promise<OpenWorkspace> {
    const { disk, clock, openEngine, onActivity } = this.#options;
    const { name, folder, locked } = taken;
    const audit = this.#parts.use(new AuditFile({ disk, clock, path: locked.paths.audit }));
    const activity = new RunActivity({
      clock,
      tell(activity) {
        if (activity.kind === "end") audit.append(endOfRun(activity));
        onActivity?.(name, activity);
      },
    });
    const host = this.#parts.use(
      await openLocked(locked, {
        ...this.#options,
        workspace: folder,
        engine: this.#parts.use(openEngine()),
        counters: new Counters(),
        lendPrograms: this.#options.programsOf?.(name),
        otherStates: this.#taken.filter((other) => other !== taken).map(({ locked }) => locked.paths.volcanic),
        outbound: doorOf(name, this.#outbound),
        observe: (record, event) => activity.observed(record, event),
        onCommitted: (record, before) => activity.committed(record, before),
        onSent: (report) => audit.append(pushLine(report)),
      }),
    );
    return { ...taken, host, audit };
  }

  #serve(hostname: string): ReturnType<typeof createHttpApp> {
    const { config, clock, capabilities, operations } = this.#options;
    const cards = createCards({
      publicUrl: config.publicUrl.value,
      trustedProxies: config.trustedProxies.value,
      settings: { name: config.cardName.value, description: config.cardDescription.value, capabilities },
      clock,
    });
    const readiness = this.#parts.use(new Readiness({ checks: this.#open.flatMap((one) => this.#checks(one)), clock }));
    const watched = this.#open.map(({ name, host: { callers, expel, store } }) => ({
      ...{ name, callers, expel },
      withTasks: () => store.callers(),
    }));
    const expulsion = this.#parts.use(new Expulsion({ workspaces: watched, streams: this.#streams, clock }));
    return createHttpApp({
      workspaces: this.#open.map(({ host: { runs, store, callers, webhooks }, locked: { paths }, ...one }) => ({
        ...one,
        ...{ runs, store, callers, webhooks, extendedCard: cards.extended({ ...this.#options, paths }) },
      })),
      guard: { hostname, publicUrl: config.publicUrl.value },
      bodyBytesMax: config.bodyBytesMax.value,
      rates: { requestsPerMinute: config.requestsPerMinute.value, readsPerMinute: config.readsPerMinute.value },
      strictVersion: config.strictVersion.value,
      waitMs: config.waitMs.value,
      clock,
      cards: cards.answer,
      ...{ capabilities, operations },
      notReady: () => this.#draining.signal.aborted ? ["the host is ending"] : readiness.problems,
      streams: this.#streams,
      draining: this.#draining.signal,
      stopped: this.#stopped.signal,
      onUnauthenticated: () => expulsion.look(),
    });
  }

  #checks({ name, locked, host }: OpenWorkspace): readonly ReadyCheck[] {
    const { config, disk, random } = this.#options;
    return [
      { problem: `the lock of ${name} is lost`, isSo: () => locked.lock.holds() || this.#lost(locked.paths.root) },
      {
        problem: `the tasks of ${name} cannot be written`,
        isSo: () =>
          isFolderWritable({ disk, random, folder: locked.paths.a2a, freeBytesMin: config.freeBytesMin.value }),
      },
      { problem: `the tasks of ${name} are being indexed`, isSo: () => host.store.known.isComplete },
    ];
  }

  #lost(folder: string): false {
    if (!this.#isLost) this.#options.onLost?.(`Lost the lock of ${folder}: something replaced the file; the host ends`);
    this.#isLost = true;
    return false;
  }
}

const lastWords = { kind: "comment", text: "the server is shutting down" } as const;

/** The one door, as a workspace's: a caller of one workspace is nobody of its name in another. */
function doorOf(workspace: string, door: HostOptions["outbound"]): HostOptions["outbound"] {
  return {
    problemWith: (url) => door.problemWith(url),
    guarded: (url, request) => door.guarded(url, { ...request, caller: `${workspace}/${request.caller}` }),
  };
}

function pushLine({ record: { caller, task }, result, ms }: PushReport): AuditEntry {
  const outcome = result.kind === "failed" ? result.error : "ok";
  const { status, bytes } = result;
  const whose = { caller, taskId: task.id, contextId: task.contextId };
  return { op: "push", binding: "push", ...whose, outcome, status, ms: Math.round(ms), in: 0, out: bytes };
}

function endOfRun({ caller, taskId, contextId, state, ms }: Activity & { readonly kind: "end" }): AuditEntry {
  const outcome = state === "TASK_STATE_COMPLETED" ? "ok" : state;
  return { op: "end of run", binding: "run", caller, taskId, contextId, outcome, ms: Math.round(ms), in: 0, out: 0 };
}
