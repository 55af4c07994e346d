import type { Config } from "@/config.ts";
import { configuredOutbound } from "@/configured_outbound.ts";
import { Counters } from "@/counters.ts";
import type { Engine, EngineEvent } from "@/engine/engine.ts";
import { A2AError } from "@/protocol/errors.ts";
import type { Outbound } from "@/outbound/outbound.ts";
import type { CallerName } from "@/protocol/ids.ts";
import type { Random } from "@/random.ts";
import { restErrorAnswer } from "@/server/http/answers.ts";
import { createCards } from "@/server/http/card_routes.ts";
import { Expulsion } from "@/server/http/expulsion.ts";
import { type ConnectionInfo, createHttpApp, type HttpAppOptions } from "@/server/http/http_app.ts";
import { type Listener, type ListenerAddress, type ListenRefusal, openListener } from "@/server/http/listener.ts";
import { OpenStreams } from "@/server/http/open_streams.ts";
import { Readiness, type ReadyCheck } from "@/server/http/readiness.ts";
import { ownerNotices } from "@/server/runs/owner_notices.ts";
import { type Activity, RunActivity } from "@/server/runs/run_activity.ts";
import { RunService } from "@/server/runs/run_service.ts";
import { type FileTaskStore, openFileTaskStore } from "@/server/tasks/file_task_store.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import { SessionPool } from "@/sessions/session_pool.ts";
import type { Clock } from "@/time/clock.ts";
import { version } from "@/version.ts";
import { type AuditEntry, AuditFile } from "@/workspace/audit_file.ts";
import { CallersFile } from "@/workspace/callers_file.ts";
import type { Disk, FileLock } from "@/workspace/disk.ts";
import { holdHostLock } from "@/workspace/file_lock.ts";
import { beginEpoch, readHost } from "@/workspace/host_file.ts";
import { readInstructions } from "@/workspace/instruction_files.ts";
import { makeOwnedFolder } from "@/workspace/owned_folder.ts";
import { sweepLeftFiles } from "@/workspace/left_files.ts";
import { NotificationsFile } from "@/workspace/notifications_file.ts";
import { type NamedWorkspace, workspacesProblem } from "@/workspace/workspace_names.ts";
import { type WorkspacePaths, workspacePaths } from "@/workspace/workspace_paths.ts";
import { isFolderWritable } from "@/workspace/writable_folder.ts";

/** What a host is made of: everything from outside comes in here. */
export interface HostOptions {
  /** The workspace's folder: absolute, links followed. */
  readonly workspace: string;
  readonly config: Config;
  readonly engine: Engine;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  readonly counters: Counters;
  /** The door for what is sent. It outlives the host. */
  readonly outbound: Outbound;
  readonly pid: number;
  /** Shows the owner what a run does. Must not throw. */
  readonly observe?: (record: TaskRecord, event: EngineEvent) => void;
  /** Told after each commit, behind all who follow the task. Must not throw. */
  readonly onCommitted?: (record: TaskRecord, before?: TaskRecord) => void;
}

/** One workspace at work. Disposing drains it without grace, closes everything in order, and gives up the lock. */
export interface Host extends AsyncDisposable {
  readonly kind: "host";
  readonly runs: RunService;
  readonly store: FileTaskStore;
}

/** Why a workspace cannot be opened, with what to do about it. */
export interface HostRefusal {
  readonly kind: "refused";
  readonly message: string;
}

/** A workspace that is ours: no other host can have it. Nothing of it was recovered yet. */
export interface LockedWorkspace extends Disposable {
  readonly kind: "locked";
  readonly paths: WorkspacePaths;
  readonly lock: FileLock;
  readonly epoch: number;
}

/**
 * Opens a workspace as its one host: takes `host.lock`, begins an epoch, recovers the tasks, and begins to sweep
 * (state-machines.md 7). Refuses when another host has it, or its folder is of a newer format; then nothing was written.
 */
export async function openHost(options: HostOptions): Promise<Host | HostRefusal> {
  const locked = await lockWorkspace(options);
  if (locked.kind === "refused") return locked;
  await using opened = new AsyncDisposableStack();
  opened.use(locked);
  const { runs, store } = opened.use(await openLocked(locked, options));
  const all = opened.move();
  return { kind: "host", runs, store, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** The first half of `openHost`: what may refuse. */
export async function lockWorkspace(
  { workspace, disk, clock, random, pid }: Pick<HostOptions, "workspace" | "disk" | "clock" | "random" | "pid">,
): Promise<LockedWorkspace | HostRefusal> {
  const paths = workspacePaths(workspace);
  await makeOwnedFolder(disk, paths.a2a);
  using opened = new DisposableStack();
  const lock = await holdHostLock(disk, paths.hostLock);
  if (lock === undefined) return await lockedBy(disk, paths);
  opened.use(lock);
  const epochMin = epochFloor(disk, paths, clock);
  const begun = await beginEpoch(disk, paths.hostFile, { random, now: clock.now(), pid, version, epochMin });
  if (begun.kind === "newer") {
    return refuse(
      `Cannot open ${workspace}: it has format ${begun.format}, written by a newer version; update this one`,
    );
  }
  const all = opened.move();
  return { kind: "locked", paths, lock, epoch: begun.host.epoch, [Symbol.dispose]: () => all.dispose() };
}

/**
 * The epoch to begin above when `host.json` is gone from a folder that was in use: the time in minutes, higher than any
 * count of starts. Else new fences would be lower than those in the transcripts, and their conversations refused.
 */
function epochFloor(disk: Disk, paths: WorkspacePaths, clock: Clock): number | undefined {
  const isLost = disk.stampSync(paths.hostFile) === undefined && disk.stampSync(paths.tasks) !== undefined;
  return isLost ? Math.floor(clock.now() / 60_000) : undefined;
}

/** The second half: everything behind the lock, which stays its owner's to give up, after this was disposed of. */
export async function openLocked({ paths, epoch }: LockedWorkspace, options: HostOptions): Promise<Host> {
  const { config, disk, clock, random, counters } = options;
  await using opened = new AsyncDisposableStack();
  await makeOwnedFolder(disk, paths.sessions);
  const store = opened.use(
    await openFileTaskStore({
      folder: paths.tasks,
      epoch,
      disk,
      clock,
      random,
      counters,
      durability: config.durability.value,
      storedTasksMax: config.storedTasksMax.value,
      freeBytesMin: config.freeBytesMin.value,
    }),
  );
  await sweepLeftFiles(disk, paths);
  const view = { disk, random, root: paths.root, hidden: [paths.volcanic] };
  const sessions = opened.use(
    new SessionPool({
      ...options,
      folder: paths.sessions,
      hostVersion: version,
      readInstructions: () => readInstructions(view),
      idleMs: config.sessionIdleMs.value,
      callerSessionsMax: config.openSessionsMax.value,
    }),
  );
  const notices = opened.use(new NotificationsFile({ disk, clock, random, path: paths.notifications }));
  const notify = ownerNotices({ file: notices, clock, counters, perHourMax: config.noticesPerHour.value });
  const runs = opened.use(new RunService({ ...options, paths, store, sessions, notify, limits: limitsOf(config) }));
  const all = opened.move();
  return { kind: "host", runs, store, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

function limitsOf(config: Config) {
  return {
    hopsMax: config.maxHops.value,
    runsMax: config.concurrentRuns.value,
    queuedMax: config.queuedRuns.value,
    runMs: config.runMs.value,
    inputMs: config.inputMs.value,
    keepMs: config.keepMs.value,
    fileBytesMax: config.fileBytesMax.value,
  };
}

async function lockedBy(disk: Disk, { root, hostFile }: WorkspacePaths): Promise<HostRefusal> {
  const host = await readHost(disk, hostFile);
  const pid = host.kind === "host" ? `, pid ${host.host.pid}` : "";
  return refuse(`Cannot open ${root}: another host serves it${pid}; stop that one first`);
}

function refuse(message: string): HostRefusal {
  return { kind: "refused", message };
}

/** What a peer is made of. */
export interface PeerOptions
  extends
    Pick<HostOptions, "config" | "disk" | "clock" | "random" | "pid">,
    Pick<HttpAppOptions, "capabilities" | "operations"> {
  readonly workspaces: readonly NamedWorkspace[];
  /** Certificates in PEM, trusted besides the usual ones. */
  readonly caCerts?: readonly string[];
  /** Makes what thinks in one workspace. It is disposed of with the peer. */
  readonly openEngine: () => Engine;
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
  if (problem !== undefined) return refuse(problem);
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
  readonly callers: CallersFile;
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
  readonly #outbound: Outbound;
  #open: readonly OpenWorkspace[] = [];
  #listener: Listener | undefined;
  #app: ReturnType<typeof createHttpApp> | undefined;
  #drained: Promise<void> | undefined;
  #isLost = false;

  constructor(options: PeerOptions, taken: readonly TakenWorkspace[], locks: Disposable) {
    this.#options = options;
    this.#taken = taken;
    this.#parts.use(locks);
    this.#outbound = this.#parts.use(configuredOutbound(options.config, options)); // the hosts, which use it, are closed first
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

  /** How many callers each workspace has now. */
  get workspaces(): readonly (NamedWorkspace & { readonly callers: number })[] {
    return this.#open.map(({ name, folder, callers }) => ({ name, folder, callers: callers.read().callers.length }));
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
        outbound: this.#outbound,
        observe: (record, event) => activity.observed(record, event),
        onCommitted: (record, before) => activity.committed(record, before),
      }),
    );
    return { ...taken, host, audit, callers: new CallersFile({ disk, clock, path: locked.paths.callersFile }) };
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
    const watched = this.#open.map(({ name, callers, host }) => ({
      ...{ name, callers },
      expel: (caller: CallerName) => host.runs.expel(caller),
    }));
    const expulsion = this.#parts.use(new Expulsion({ workspaces: watched, streams: this.#streams, clock }));
    return createHttpApp({
      workspaces: this.#open.map(({ host: { runs, store }, locked: { paths }, ...one }) => ({
        ...one,
        ...{ runs, store, extendedCard: cards.extended({ ...this.#options, paths }) },
      })),
      guard: { hostname, publicUrl: config.publicUrl.value },
      bodyBytesMax: config.bodyBytesMax.value,
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

function endOfRun({ caller, taskId, contextId, state, ms }: Activity & { readonly kind: "end" }): AuditEntry {
  const outcome = state === "TASK_STATE_COMPLETED" ? "ok" : state;
  return { op: "end of run", binding: "run", caller, taskId, contextId, outcome, ms: Math.round(ms), in: 0, out: 0 };
}
