import { getLogger } from "@logtape/logtape";
import { openPeer, type Peer } from "@/app.ts";
import { type Config, readConfig } from "@/config.ts";
import { startLog } from "@/log.ts";
import { createModelDoor } from "@/outbound/model_door.ts";
import { systemRandom } from "@/random.ts";
import type { LendPrograms } from "@/sessions/session_pool.ts";
import { systemClock } from "@/time/clock.ts";
import { createDisk } from "@/workspace/disk.ts";
import { createHostEngine } from "./host_engine.ts";
import { HostPrograms } from "./host_programs.ts";
import { MainRequests } from "./main_requests.ts";
import type { FromHost, HostConfig, ToHost } from "./messages.ts";

const logger = getLogger(["a2a", "host"]);

/** The global of a worker, as far as it is used here. */
interface WorkerScope {
  postMessage(message: FromHost): void;
  addEventListener(type: "message", listen: (event: MessageEvent<ToHost>) => void): void;
}

/** The whole life of the host's thread: it waits for what the main thread says, and does it. Returns at once. */
export function listenToMain(): void {
  const scope = self as unknown as WorkerScope;
  const host = new HostThread((message) => scope.postMessage(message));
  // What goes wrong in here is rejected unheard: the main thread gets an error event, and ends the process with 70.
  scope.addEventListener("message", ({ data }) => void host.hear(data));
  scope.postMessage({ kind: "ready" });
}

/** Turns what the main thread says into the life of one peer. */
class HostThread {
  readonly #say: (message: FromHost) => void;
  /** For who needs a program or a secret: engines, the box, keys of agents. */
  readonly #requests: MainRequests;
  readonly #programs = new AsyncDisposableStack();
  #peer: Peer | undefined;
  #starting: Promise<void> | undefined;

  constructor(say: (message: FromHost) => void) {
    this.#say = say;
    this.#requests = new MainRequests({ say });
  }

  async hear(message: ToHost): Promise<void> {
    switch (message.kind) {
      case "ping":
        return this.#say({ kind: "alive" });
      case "start":
        return await (this.#starting = this.#start(message.config));
      case "stop":
        return await this.#stop(message.graceMs);
      case "answer":
        return this.#requests.answered(message.id, message.answer);
      default:
        return message satisfies never;
    }
  }

  async #start({ workspaces, engine, runsPrograms, settings, caCerts, logForm, pid }: HostConfig): Promise<void> {
    const config = configOf(settings);
    startLog({ level: config.logLevel.value, form: logForm });
    const clock = systemClock;
    const door = createModelDoor({ caCerts }); // as long as the thread
    const peer = await openPeer({
      ...{ workspaces, config, caCerts, clock, pid, disk: createDisk(clock), random: systemRandom },
      openEngine: () => createHostEngine({ engine, config, clock, door, requests: this.#requests }),
      programsOf: runsPrograms ? (workspace) => this.#programsIn(workspace) : undefined,
      onActivity: (workspace, activity) => this.#say({ kind: "activity", workspace, activity }),
      onLost: (message) => this.#say({ kind: "lost", message }),
    });
    if (peer.kind === "refused") return this.#say(peer);
    const started = await peer.start(config.listen.value);
    if (started.kind === "refused") {
      await peer[Symbol.asyncDispose]();
      return this.#say(started);
    }
    this.#peer = peer;
    const address = started.address!;
    logger.info("The host listens on {hostname} port {port}", { ...address });
    this.#say({ kind: "started", report: { address, workspaces: peer.workspaces } });
  }

  async #stop(graceMs: number): Promise<void> {
    await this.#starting;
    await this.#peer?.drain(graceMs);
    await this.#peer?.[Symbol.asyncDispose]();
    await this.#programs.disposeAsync();
    this.#say({ kind: "stopped" });
  }

  #programsIn(workspace: string): LendPrograms {
    const programs = this.#programs.use(new HostPrograms({ requests: this.#requests, workspace }));
    return (caller, contextId) => programs.lend(caller, contextId);
  }
}

function configOf(settings: HostConfig["settings"]): Config {
  const read = readConfig({ flags: settings });
  if (read.kind === "problems") throw new RangeError(read.problems.join("; ")); // the main thread read them first
  return read.config;
}
