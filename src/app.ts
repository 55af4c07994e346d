import type { Config } from "@/config.ts";
import type { Counters } from "@/counters.ts";
import type { Engine, EngineEvent } from "@/engine/engine.ts";
import type { Random } from "@/random.ts";
import { ownerNotices } from "@/server/runs/owner_notices.ts";
import { RunService } from "@/server/runs/run_service.ts";
import { type FileTaskStore, openFileTaskStore } from "@/server/tasks/file_task_store.ts";
import type { TaskRecord } from "@/server/tasks/task_record.ts";
import { SessionPool } from "@/sessions/session_pool.ts";
import type { Clock } from "@/time/clock.ts";
import { version } from "@/version.ts";
import type { Disk, FileLock } from "@/workspace/disk.ts";
import { holdHostLock } from "@/workspace/file_lock.ts";
import { beginEpoch, readHost } from "@/workspace/host_file.ts";
import { readInstructions } from "@/workspace/instruction_files.ts";
import { makeOwnedFolder } from "@/workspace/owned_folder.ts";
import { sweepLeftFiles } from "@/workspace/left_files.ts";
import { NotificationsFile } from "@/workspace/notifications_file.ts";
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
  /** Shows the owner what a run does. Must not throw. */
  readonly observe?: (record: TaskRecord, event: EngineEvent) => void;
  /** Told after each commit, behind all who follow the task. Must not throw. */
  readonly onCommitted?: (record: TaskRecord) => void;
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
  const begun = await beginEpoch(disk, paths.hostFile, { random, now: clock.now(), pid, version });
  if (begun.kind === "newer") {
    return refuse(
      `Cannot open ${workspace}: it has format ${begun.format}, written by a newer version; update this one`,
    );
  }
  const all = opened.move();
  return { kind: "locked", paths, lock, epoch: begun.host.epoch, [Symbol.dispose]: () => all.dispose() };
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
