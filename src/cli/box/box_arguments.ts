import { join, relative } from "node:path";
import type { CallerMap } from "@/workspace/caller_map.ts";
import type { BoxFiles } from "./box_files.ts";
import type { BoxMasks } from "./box_masks.ts";
import type { BoxSystem } from "./box_system.ts";

/** How much a program in the box may use; `Infinity` is no limit. */
export interface BoxLimits {
  /** Of each process: what it allocates (RLIMIT_DATA). */
  readonly memoryBytes: number;
  /** Processes and threads at once, in one box (RLIMIT_NPROC, which the kernel does not apply to root). */
  readonly processes: number;
  /** The largest file it may write. */
  readonly fileBytes: number;
  /** What fits into each of `/tmp`, `/dev/shm` and the home folder, which are memory. */
  readonly scratchBytes: number;
}

/** One program in one box. */
export interface BoxPlan {
  readonly system: BoxSystem;
  readonly files: BoxFiles;
  readonly map: CallerMap;
  readonly masks: BoxMasks;
  /** The machine's network, loopback included; else there is none. */
  readonly network: boolean;
  /** The folder that is seen as `/session`, absolute. */
  readonly keptFolder?: string;
  readonly limits: BoxLimits;
  /** The program and its arguments, which no shell reads. */
  readonly command: readonly string[];
}

/** What is started: a program of the machine, by its path, and its arguments. */
export interface StartedCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** Its standard error begins with `readyLine`. */
  readonly saysReady?: boolean;
}

/**
 * What process 1 of a box says first. Before, it must not be killed: whoever kills `bwrap` while it still builds leaves a box that
 * nobody ends, for the kernel was not yet told to. When nobody listens any more, process 1 ends by itself.
 */
export const readyLine = "ready";

/** Where the workspace is in the box: the machine's own path says more than a stranger needs to know. */
export const boxRoot = "/workspace";
/** The home folder in the box. */
export const boxHome = "/home/agent";

/**
 * The whole environment, of `bwrap` itself, too: with `--clearenv` alone the host's would be read in `/proc/1/environ` of the box
 * (engine.md 4).
 */
export const boxEnvironment: Readonly<Record<string, string>> = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: boxHome,
  USER: "agent",
  LANG: "C.UTF-8",
  TMPDIR: "/tmp",
};

/**
 * Builds the command line that runs a program in the box of a caller. Pure.
 *
 * The order of mounts is what hides: a later one lies over an earlier one, and what is made read-only is so from then on. The
 * program is started by a shell that reads nothing but our own line: as process 1 it collects what the program leaves behind, has
 * the program's limits itself, so that nothing is won by taking it over, and its end ends all.
 */
export function boxCommand(plan: BoxPlan): StartedCommand {
  const { system, limits, command } = plan;
  const args = [
    ...limit("data", limits.memoryBytes),
    ...limit("fsize", limits.fileBytes),
    ...["--core=0", "--nofile=4096", "--", system.bwrap],
    ...namespaces(plan.network),
    ...systemMounts(plan),
    ...workspaceMounts(plan),
    ...(plan.keptFolder === undefined ? [] : ["--bind", plan.keptFolder, "/session"]),
    ...["--remount-ro", "/", "--chdir", boxRoot, "--", system.prlimit],
    ...limit("nproc", limits.processes),
    ...["--", "/bin/sh", "-c", `echo ${readyLine} >&2 || exit 125; "$@"; exit $?`, "sh", ...command],
  ];
  return { program: system.prlimit, args, saysReady: true };
}

function namespaces(network: boolean): readonly string[] {
  return [
    ...["--unshare-user", "--disable-userns", "--unshare-pid", "--unshare-ipc", "--unshare-uts"],
    ...["--unshare-cgroup-try", ...(network ? [] : ["--unshare-net"])],
    ...["--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL"],
    ...["--uid", "1000", "--gid", "1000", "--hostname", "box"],
  ];
}

function* systemMounts({ system, files, limits, network }: BoxPlan): Generator<string> {
  yield* ["--ro-bind", "/usr", "/usr"];
  for (const { path, target } of system.links) yield* ["--symlink", target, path];
  for (const path of system.folders) yield* ["--ro-bind", path, path];
  for (const path of [...etcFiles, ...(network ? networkFiles : [])]) yield* ["--ro-bind-try", path, path];
  yield* ["--ro-bind", files.passwd, "/etc/passwd", "--ro-bind", files.group, "/etc/group"];
  yield* ["--proc", "/proc", "--dev", "/dev", ...scratch("/dev/shm", limits), "--remount-ro", "/dev"];
  yield* [...scratch("/tmp", limits), ...scratch(boxHome, limits)];
}

/** What programs want to find below `/etc`, and nobody's secret. */
const etcFiles: readonly string[] = [
  ...["/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates", "/etc/pki/tls/certs", "/etc/nsswitch.conf"],
  ...[
    "/etc/alternatives",
    "/etc/localtime",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/mime.types",
  ],
];
const networkFiles: readonly string[] = ["/etc/resolv.conf", "/etc/hosts"];

/**
 * The workspace, and over it, in this order: control paths that must not change, what is hidden, then the two folders with what is
 * the caller's own alone, which so are never hidden themselves.
 */
function* workspaceMounts({ map, masks, files }: BoxPlan): Generator<string> {
  const inBox = (path: string) => join(boxRoot, path);
  yield* [map.access === "write" ? "--bind" : "--ro-bind", map.root, boxRoot];
  for (const path of masks.fixed) yield* ["--ro-bind", join(map.root, path), inBox(path)];
  for (const path of [...masks.missingFolders, ...masks.hiddenFolders]) yield* emptyFolder(inBox(path));
  for (const path of [...masks.missingFiles, ...masks.hiddenFiles]) yield* ["--ro-bind", files.empty, inBox(path)];
  const own = [["work", "--bind", map.writable[0]!], ["inbox", "--ro-bind", map.inbox]] as const;
  for (const [top, bind, path] of own) {
    yield* ["--tmpfs", inBox(top), bind, path, inBox(relative(map.root, path)), "--remount-ro", inBox(top)];
  }
}

function emptyFolder(path: string): readonly string[] {
  return ["--tmpfs", path, "--remount-ro", path];
}

function scratch(path: string, { scratchBytes }: BoxLimits): readonly string[] {
  return [...(scratchBytes === Infinity ? [] : ["--size", String(scratchBytes)]), "--tmpfs", path];
}

function limit(name: string, value: number): readonly string[] {
  return value === Infinity ? [] : [`--${name}=${value}`];
}
