import { join } from "node:path";
import type { Config } from "@/config.ts";
import type { ProgramEnd, ProgramRequest } from "@/engine/programs.ts";
import type { MainAnswer, MainRequest } from "@/host/messages.ts";
import { isContextId } from "@/protocol/ids.ts";
import type { Random } from "@/random.ts";
import { callerScope, keptFolder, scopeOwner } from "@/sessions/session_scope.ts";
import type { Clock } from "@/time/clock.ts";
import { limitOf } from "@/workspace/caller_limits.ts";
import { callerMap } from "@/workspace/caller_map.ts";
import { type Caller, CallersFile } from "@/workspace/callers_file.ts";
import type { Disk } from "@/workspace/disk.ts";
import { makeOwnedFolder } from "@/workspace/owned_folder.ts";
import type { NamedWorkspace } from "@/workspace/workspace_names.ts";
import { type WorkspacePaths, workspacePaths } from "@/workspace/workspace_paths.ts";
import { boxCommand, boxEnvironment, type StartedCommand } from "./box_arguments.ts";
import { type BoxFiles, makeBoxFiles } from "./box_files.ts";
import { findMasks } from "./box_masks.ts";
import type { ProvenBox } from "./box_probe.ts";
import { DiskUse } from "./disk_use.ts";
import { MountPoints } from "./mount_points.ts";
import { RunningProgram } from "./running_program.ts";

/** What programs are started with. */
export interface ProgramStarterOptions {
  readonly workspaces: readonly NamedWorkspace[];
  readonly config: Config;
  /** Where they run; absent: outside of any box, as the owner wants it (`Bash=unsandboxed`). */
  readonly box: ProvenBox | undefined;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
}

/** What is to be started, and the mount points that are made in the workspace for it. */
interface Prepared extends StartedCommand {
  readonly folder?: string;
  readonly mountPoints?: readonly string[];
}

type StartRequest = MainRequest & { readonly kind: "start program" };
type Answer = MainAnswer & { readonly kind: "program" | "refused" };

/**
 * The main thread's starter of programs (product.md §6). It knows which workspaces are served and reads `callers.json` itself: a
 * request names a workspace, a caller and a command, and nothing in it can widen what the caller's box shows.
 *
 * Disposing kills all that runs and waits until it is gone, and what was made for it in the workspaces, too.
 */
export class ProgramStarter implements AsyncDisposable {
  readonly #options: ProgramStarterOptions;
  readonly #workspaces: ReadonlyMap<string, Workspace>;
  readonly #starting = new Set<Promise<Answer>>();
  /** How many each caller has, those that start included. */
  readonly #atOnce = new Map<string, number>();
  readonly #running = new Map<number, RunningProgram>();
  readonly #use: DiskUse;
  readonly #mountPoints: MountPoints;
  readonly #over = new AbortController();
  #last = 0;

  constructor(options: ProgramStarterOptions) {
    this.#options = options;
    this.#use = new DiskUse(options);
    this.#mountPoints = new MountPoints(options.disk);
    this.#workspaces = new Map(options.workspaces.map(({ name, folder }) => {
      const paths = workspacePaths(folder);
      return [name, { paths, callers: new CallersFile({ ...options, path: paths.callersFile }) }];
    }));
  }

  /** Starts a program, or says why not. Never rejects. */
  async start(request: StartRequest): Promise<Answer> {
    const whose = `${request.workspace} ${request.caller}`;
    if ((this.#atOnce.get(whose) ?? 0) >= atOnceMax) {
      return refused(`${atOnceMax} programs of this caller run already: one of them must end first`);
    }
    this.#count(whose, 1);
    const starting = this.#start(request);
    this.#starting.add(starting);
    let ended: Promise<unknown> | undefined;
    try {
      const answer = await starting;
      if (answer.kind === "program") ended = this.ended(answer.id);
      return answer;
    } catch (error) {
      // The sentence is for a stranger: what the system says names paths.
      return refused(
        `The program could not be started${error instanceof Deno.errors.NotFound ? ": it was not found" : ""}`,
      );
    } finally {
      this.#starting.delete(starting);
      void (ended ?? Promise.resolve()).then(() => this.#count(whose, -1));
    }
  }

  #count(whose: string, by: 1 | -1): void {
    const count = (this.#atOnce.get(whose) ?? 0) + by;
    if (count > 0) this.#atOnce.set(whose, count);
    else this.#atOnce.delete(whose);
  }

  /** Resolves when a program is gone; at once for one that is not known. */
  async ended(id: number): Promise<ProgramEnd> {
    return await this.#running.get(id)?.ended ?? { code: 137, because: "killed" };
  }

  /** Kills a program, without waiting. */
  kill(id: number): void {
    this.#running.get(id)?.kill("killed");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await Promise.allSettled(this.#starting);
    await Promise.all([...this.#running.values()].map((program) => program[Symbol.asyncDispose]()));
    await this.#mountPoints[Symbol.asyncDispose]();
  }

  async #start({ workspace: name, caller: named, contextId, program: request }: StartRequest): Promise<Answer> {
    const workspace = this.#workspaces.get(name);
    if (workspace === undefined) return refused("No such workspace is served");
    const caller = workspace.callers.read().callers.find(({ caller }) => caller === named);
    if (caller === undefined) return refused("The caller has no entry");
    const problem = requestProblem(request);
    if (problem !== undefined) return refused(problem);
    const isDiskFull = () => this.#isDiskFull(workspace, caller);
    if (await isDiskFull()) return refused("The disk room of this caller is used up: files of it must go first");
    const scope = contextId !== undefined && isContextId(contextId) ? callerScope(caller.caller, contextId) : undefined;
    const kept = request.keepsFolder === true ? scope && keptFolder(workspace.paths.sessions, scope) : undefined;
    if (request.keepsFolder === true && kept === undefined) return refused("The conversation has no folder");
    const command = await this.#command(workspace, { caller, kept, request });
    if ("kind" in command) return command;
    const { mountPoints = [] } = command;
    await this.#mountPoints.hold(mountPoints);
    try {
      if (this.#over.signal.aborted) throw new Error("The host ends");
      return await this.#run(command, { timeoutMs: request.timeoutMs, isDiskFull });
    } catch (error) {
      void this.#mountPoints.giveBack(mountPoints);
      throw error;
    }
  }

  async #run(
    { mountPoints = [], ...command }: Prepared,
    { timeoutMs, isDiskFull }: { readonly timeoutMs: number; readonly isDiskFull: () => Promise<boolean> },
  ): Promise<Answer> {
    const { config, clock, box } = this.#options;
    const program = await RunningProgram.start({
      ...{ ...command, clock, isDiskFull },
      environment: box === undefined ? { ...boxEnvironment, HOME: command.folder! } : boxEnvironment,
      killsGroup: box === undefined,
      timeoutMs: Math.min(timeoutMs, config.boxMs.value),
      outputBytesMax: config.boxOutputBytes.value,
    });
    if ("kind" in program) throw new Error(program.said);
    const id = ++this.#last;
    this.#running.set(id, program);
    // It stays known for who asks late how it ended, which is at most once.
    void program.ended.then(() => this.#mountPoints.giveBack(mountPoints));
    void program.ended.then(() => clock.sleep(keepEndMs, this.#over.signal)).catch(() => {}) // nobody asks after the end
      .then(() => this.#running.delete(id));
    const { stdin, stdout, stderr } = program;
    return { kind: "program", id, stdin, stdout, stderr };
  }

  async #command(
    workspace: Workspace,
    { caller, kept, request }: { caller: Caller; kept: string | undefined; request: ProgramRequest },
  ): Promise<Prepared | Answer> {
    const { config, disk, box } = this.#options;
    const { paths } = workspace;
    const own = [paths.workOf(caller.caller), paths.inboxOf(caller.caller)];
    for (const path of [...own, ...(kept === undefined ? [] : [kept])]) await makeOwnedFolder(disk, path);
    // Who may write to the root could have put a link where the mounts go.
    const isReal = [paths.work, paths.inbox, ...own].every((path) => disk.linkStampSync(path)?.kind === "folder");
    if (!isReal) return refused("The folders of this caller are links, which no box is built on");
    const [program, ...args] = request.command;
    if (box === undefined) return { program: program!, args, folder: paths.root };
    const otherStates = this.#options.workspaces.map(({ folder }) => workspacePaths(folder).volcanic);
    const map = callerMap({
      ...{ paths, caller: caller.caller, access: caller.access, hide: config.hide.value },
      otherStates: otherStates.filter((state) => state !== paths.volcanic),
    });
    const found = await findMasks(map, { disk, isOurs: (path) => this.#mountPoints.isHeld(path) });
    if (found.kind === "refused") return found;
    const limits = {
      memoryBytes: config.boxMemoryBytes.value,
      processes: config.boxProcesses.value,
      fileBytes: this.#diskBytesOf(caller),
      scratchBytes: config.boxScratchBytes.value,
    };
    const { masks } = found;
    const command = boxCommand({
      ...{ system: box, map, masks, network: caller.network, keptFolder: kept, limits },
      files: workspace.files ??= await makeBoxFiles(paths.box, this.#options),
      command: request.command,
    });
    const mountPoints = [...masks.missingFolders, ...masks.missingFiles].map((path) => join(paths.root, path));
    return { ...command, mountPoints };
  }

  #diskBytesOf({ limits }: Caller): number {
    return limitOf(limits.diskBytes, this.#options.config.callerDiskBytes.value);
  }

  async #isDiskFull({ paths, callers }: Workspace, { caller: name }: Caller): Promise<boolean> {
    const caller = callers.read().callers.find(({ caller }) => caller === name);
    if (caller === undefined) return true; // it was removed: nothing of it goes on
    const max = this.#diskBytesOf(caller);
    if (max === Infinity) return false;
    const kept = (await this.#options.disk.list(paths.sessions))
      .filter(({ name: scope, kind }) => kind === "folder" && scopeOwner(scope)?.caller === name)
      .map(({ name: scope }) => join(paths.sessions, scope));
    return await this.#use.bytesIn([paths.workOf(name), paths.inboxOf(name), ...kept]) > max;
  }
}

interface Workspace {
  readonly paths: WorkspacePaths;
  readonly callers: CallersFile;
  files?: BoxFiles;
}

const keepEndMs = 60_000;
/** Programs of one caller in one workspace. */
const atOnceMax = 16;
/** The kernel takes no longer argument, and not much more in all. */
const argumentBytesMax = 128 * 1024 - 1;
const commandBytesMax = 1024 * 1024;

/** What a host that was taken over might send instead of a request. */
function requestProblem({ kind, command, timeoutMs }: ProgramRequest): string | undefined {
  const isCommand = Array.isArray(command) && command.length > 0 &&
    command.every((word) => typeof word === "string" && !word.includes("\0"));
  if ((kind !== "bash" && kind !== "engine") || !isCommand || !(timeoutMs > 0)) return "The request is malformed";
  const bytes = command.map((word) => new TextEncoder().encode(word).length);
  if (bytes.every((length) => length <= argumentBytesMax) && bytes.reduce((a, b) => a + b, 0) <= commandBytesMax) {
    return undefined;
  }
  return "The command is too long: write it into a file and run that";
}

function refused(why: string): Answer {
  return { kind: "refused", why };
}
