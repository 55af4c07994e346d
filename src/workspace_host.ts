import type { Config } from "@/config.ts";
import type { Counters } from "@/counters.ts";
import type { Engine, EngineEvent } from "@/engine/engine.ts";
import type { Outbound } from "@/outbound/outbound.ts";
import type { CallerName } from "@/protocol/ids.ts";
import type { Random } from "@/random.ts";
import { PushQueue, type PushQueueOptions } from "@/server/push/push_queue.ts";
import { Webhooks } from "@/server/push/webhooks.ts";
import { ownerNotices } from "@/server/runs/owner_notices.ts";
import type { RunLimits } from "@/server/runs/run_limits.ts";
import { RunService } from "@/server/runs/run_service.ts";
import { type FileTaskStore, openFileTaskStore } from "@/server/tasks/file_task_store.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import { TaskWriter } from "@/server/tasks/task_writer.ts";
import { WebhookPlaces } from "@/server/tasks/webhook_places.ts";
import { type LendPrograms, SessionPool } from "@/sessions/session_pool.ts";
import type { Clock } from "@/time/clock.ts";
import { version } from "@/version.ts";
import { accessOf, callerMap } from "@/workspace/caller_map.ts";
import { callerStanding } from "@/workspace/caller_standing.ts";
import { limitOf, OwnLimits } from "@/workspace/caller_limits.ts";
import { CallersFile } from "@/workspace/callers_file.ts";
import type { Disk, FileLock } from "@/workspace/disk.ts";
import { holdHostLock } from "@/workspace/file_lock.ts";
import { beginEpoch, readHost } from "@/workspace/host_file.ts";
import { readInstructions } from "@/workspace/instruction_files.ts";
import { makeOwnedFolder } from "@/workspace/owned_folder.ts";
import { sweepLeftFiles } from "@/workspace/left_files.ts";
import { NotificationsFile } from "@/workspace/notifications_file.ts";
import { WebhookKeys } from "@/workspace/webhook_keys.ts";
import { type WorkspacePaths, workspacePaths } from "@/workspace/workspace_paths.ts";

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
  readonly pid: number;
  /** The door to strangers' URLs. It outlives the host. */
  readonly outbound: Pick<Outbound, "guarded" | "problemWith">;
  /** The state folders of the other workspaces that are served, absolute: hidden from the callers of this one. */
  readonly otherStates?: readonly string[];
  /** What callers' sessions start programs with. */
  readonly lendPrograms?: LendPrograms;
  /** Shows the owner what a run does. Must not throw. */
  readonly observe?: (record: TaskRecord, event: EngineEvent) => void;
  /** Told after each commit, behind all who follow the task. Must not throw. */
  readonly onCommitted?: (record: TaskRecord, before?: TaskRecord) => void;
  /** Told after each push that was tried. Must not throw. */
  readonly onSent?: PushQueueOptions["onSent"];
}

/** One workspace at work. Disposing drains it without grace, closes everything in order, and gives up the lock. */
export interface Host extends AsyncDisposable {
  readonly kind: "host";
  readonly runs: RunService;
  readonly store: FileTaskStore;
  readonly callers: CallersFile;
  readonly webhooks: Webhooks;
  /** Ends all that runs and is owed for a caller that was removed. */
  expel(caller: CallerName): Promise<void>;
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
  const host = opened.use(await openLocked(locked, options));
  const all = opened.move();
  return { ...host, [Symbol.asyncDispose]: () => all.disposeAsync() };
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
  const callers = new CallersFile({ disk, clock, path: paths.callersFile });
  const own = new OwnLimits(callers);
  const store = opened.use(
    await openFileTaskStore({
      ...{ folder: paths.tasks, epoch, disk, clock, random, counters },
      durability: config.durability.value,
      storedTasksMax: (caller) => limitOf(own.of(caller).storedTasks, config.storedTasksMax.value),
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
      model: options.engine.kind === "llm" ? config.model.text : undefined,
      readInstructions: () => readInstructions(view),
      idleMs: config.sessionIdleMs.value,
      callerSessionsMax: (caller) => limitOf(own.of(caller).contexts, config.openSessionsMax.value),
    }),
  );
  const notices = opened.use(new NotificationsFile({ ...options, path: paths.notifications }));
  const notify = ownerNotices({ file: notices, clock, counters, perHourMax: config.noticesPerHour.value });
  const writer = new TaskWriter({
    ...options,
    store,
    onCommitted(record, before) {
      options.onCommitted?.(record, before);
      pushes.wake(record);
    },
  });
  // Disposed of after the runs: how they end is pushed, too.
  const pushes = opened.use(openPushes({ ...options, paths, store, writer, callers }));
  const webhookPlaces = new WebhookPlaces({ store, max: config.activeWebhooks.value });
  const webhooks = new Webhooks({ ...options, store, writer, places: webhookPlaces });
  const parts = { paths, store, writer, webhookPlaces, sessions, notify, limits: limitsOf(config, own) };
  const mapOf = mapsIn(paths, callers, options);
  const runs = opened.use(new RunService({ ...options, ...parts, mapOf }));
  const all = opened.move();
  return {
    kind: "host",
    runs,
    store,
    callers,
    webhooks,
    async expel(caller) {
      await runs.expel(caller);
      await pushes.expel(caller);
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** What each caller may see and change, as its entry says at each use. */
function mapsIn(paths: WorkspacePaths, callers: CallersFile, { config, otherStates = [] }: HostOptions) {
  return (caller: CallerName) =>
    callerMap({ paths, caller, access: accessOf(callers.read(), caller), hide: config.hide.value, otherStates });
}

/** The queue that tells the webhooks of a workspace, with the keys and the standing of its callers. */
function openPushes(
  options:
    & Pick<PushQueueOptions, "store" | "writer">
    & HostOptions
    & { readonly paths: WorkspacePaths; readonly callers: CallersFile },
): PushQueue {
  const { paths, callers, config, clock } = options;
  const keys = new WebhookKeys({ ...options, path: paths.webhookSecret, lock: paths.editLock });
  return new PushQueue({
    ...options,
    keysOf: (caller) => keys.keysOf(caller),
    standingOf: (caller) => callerStanding(callers.read(), caller, clock.now()),
    perMinuteMax: config.pushesPerMinute.value,
  });
}

function limitsOf(config: Config, own: OwnLimits): RunLimits {
  return {
    hopsMax: config.maxHops.value,
    runsMax: config.concurrentRuns.value,
    queuedMax: config.queuedRuns.value,
    runMs: config.runMs.value,
    inputMs: config.inputMs.value,
    keepMs: config.keepMs.value,
    fileBytesMax: config.fileBytesMax.value,
    turnsPerContextMax: config.turnsPerContext.value,
    delegatedTurnsMax: config.delegatedTurnsInRow.value,
    callerRunsMax: (caller) => limitOf(own.of(caller).concurrentRuns, Infinity),
    callerRunMs: (caller) => limitOf(own.of(caller).runTimeoutMs, config.runMs.value),
    callerTurnsPerContextMax: (caller) => limitOf(own.of(caller).turnsPerContext, config.turnsPerContext.value),
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
