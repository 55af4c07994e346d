import { getLogger } from "@logtape/logtape";
import { A2AError } from "@/protocol/errors.ts";
import type { CallerName } from "@/protocol/ids.ts";
import type { Clock } from "@/time/clock.ts";
import { unlessAborted } from "@/time/unless_aborted.ts";
import type { CallersFile } from "@/workspace/callers_file.ts";
import { callerStanding } from "@/workspace/caller_standing.ts";
import { CallersWatch } from "@/workspace/callers_watch.ts";
import type { OpenStreams } from "./open_streams.ts";

const logger = getLogger(["a2a", "server", "http"]);

/** How often the files are looked at; between two looks a removed caller's own next request is enough. */
const everyMs = 1_000;
/** A stream shows that its task was cancelled, and ends by that. One that does not is ended after this. */
const lastEventMs = 500;

/** A workspace whose callers are watched. */
export interface WatchedWorkspace {
  readonly name: string;
  readonly callers: CallersFile;
  /** Ends all that runs for a caller. */
  readonly expel: (caller: CallerName) => Promise<void>;
  /** Who has tasks here, once that is known. */
  readonly withTasks: () => Promise<readonly CallerName[]>;
}

/**
 * Ends what callers have here once they have lost the right to it, within 2 s of the edit (product.md §5.2): of one that was
 * removed the work and then the streams, of one whose time is over the streams alone.
 */
export class Expulsion implements AsyncDisposable {
  readonly #workspaces: readonly (WatchedWorkspace & { readonly watch: CallersWatch })[];
  readonly #streams: OpenStreams;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  readonly #working = new Set<Promise<void>>();

  constructor(
    options: { readonly workspaces: readonly WatchedWorkspace[]; readonly streams: OpenStreams; readonly clock: Clock },
  ) {
    this.#clock = options.clock;
    this.#streams = options.streams;
    this.#workspaces = options.workspaces.map((one) => ({ ...one, watch: new CallersWatch({ ...one, ...options }) }));
    this.#own(this.#run());
    for (const one of this.#workspaces) this.#own(this.#expelAbsent(one));
  }

  /** Looks at the files now. Never throws; what has to end then ends behind it. */
  look(): void {
    if (this.#stop.signal.aborted) return;
    for (const { name: workspace, watch, expel } of this.#workspaces) {
      const { removed, expired } = watch.look();
      for (const caller of removed) {
        logger.warning("Caller {caller} was removed from {workspace}: its work is ended", { caller, workspace });
        this.#own(expel(caller));
        this.#own(this.#endStreams({ workspace, caller }));
      }
      for (const caller of expired) this.#streams.end(noAccess, { workspace, caller });
    }
  }

  /** Looks no more, and waits for what is being ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    while (this.#working.size > 0) await Promise.all(this.#working);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.look();
      await this.#clock.sleep(everyMs, signal).catch(() => {});
    }
  }

  /** Ends what callers have here that were removed while no host looked. */
  async #expelAbsent({ name: workspace, callers, expel, withTasks }: WatchedWorkspace): Promise<void> {
    for (const caller of await unlessAborted(withTasks(), this.#stop.signal) ?? []) {
      if (this.#stop.signal.aborted) return;
      if (callerStanding(callers.read(), caller, this.#clock.now()) !== "removed") continue;
      logger.info("Caller {caller} is none of {workspace} any more: what it left is ended", { caller, workspace });
      await expel(caller);
    }
  }

  async #endStreams(owner: { readonly workspace: string; readonly caller: CallerName }): Promise<void> {
    await this.#clock.sleep(lastEventMs, this.#stop.signal).catch(() => {});
    this.#streams.end(noAccess, owner);
  }

  #own(work: Promise<void>): void {
    const owned = work.catch((error) => logger.error("Cannot end the work of a caller: {error}", { error }));
    this.#working.add(owned);
    owned.finally(() => this.#working.delete(owned));
  }
}

const noAccess = { kind: "error", error: new A2AError("UNAUTHENTICATED") } as const;
