import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { Clock } from "@/time/clock.ts";
import { RateWindow } from "@/time/rate_window.ts";

/** A webhook that is to be told something. */
export interface PushJob {
  readonly taskId: TaskId;
  readonly configId: string;
  readonly caller: CallerName;
  /** Where it leads, with its port. */
  readonly host: string;
}

/** How many pushes go out. `Infinity` is no limit. */
export interface PushLimits {
  /** At once, in all. */
  readonly atOnceMax: number;
  readonly atOncePerHostMax: number;
  readonly atOncePerCallerMax: number;
  /** Of one caller to one host. */
  readonly perMinuteMax: number;
}

/**
 * The webhooks that wait for their push: a line for each caller and host, whose heads take turns. A host that is slow, dead or
 * over the rate holds up its own lines and no other.
 */
export class PushLines {
  readonly #limits: PushLimits;
  readonly #rate: RateWindow;
  /** In the order of their turns. */
  readonly #lines = new Map<string, PushJob[]>();
  readonly #underWay = new Map<string, number>();
  #waiting = 0;

  constructor({ clock, ...limits }: PushLimits & { readonly clock: Clock }) {
    this.#limits = limits;
    this.#rate = new RateWindow({ clock, max: limits.perMinuteMax, windowMs: 60_000 });
  }

  /** Jobs that wait. */
  get length(): number {
    return this.#waiting;
  }

  add(job: PushJob): void {
    const name = lineOf(job);
    const line = this.#lines.get(name);
    if (line === undefined) this.#lines.set(name, [job]);
    else line.push(job);
    this.#waiting++;
  }

  /** The next job that may go, counted as under way until `done`; undefined when none may. */
  take(): PushJob | undefined {
    if (this.#count(all) >= this.#limits.atOnceMax) return undefined;
    for (const [name, line] of this.#lines) {
      const job = line[0]!;
      if (!this.#hasRoom(job) || this.#rate.waitMs(name) > 0) continue;
      line.shift();
      this.#lines.delete(name);
      if (line.length > 0) this.#lines.set(name, line); // behind the others
      this.#waiting--;
      this.#rate.count(name);
      for (const counted of countedBy(job)) this.#underWay.set(counted, this.#count(counted) + 1);
      return job;
    }
    return undefined;
  }

  /** A job that was taken is over. */
  done(job: PushJob): void {
    for (const counted of countedBy(job)) {
      const left = this.#count(counted) - 1;
      if (left > 0) this.#underWay.set(counted, left);
      else this.#underWay.delete(counted);
    }
  }

  /** Milliseconds until a line that waits only for its rate may go on; undefined when none does. */
  get waitMs(): number | undefined {
    const waits = [...this.#lines.keys()].map((name) => this.#rate.waitMs(name)).filter((ms) => ms > 0);
    return waits.length === 0 ? undefined : Math.min(...waits);
  }

  #hasRoom({ host, caller }: PushJob): boolean {
    const { atOncePerHostMax, atOncePerCallerMax } = this.#limits;
    return this.#count(hostName(host)) < atOncePerHostMax && this.#count(callerName(caller)) < atOncePerCallerMax;
  }

  #count(name: string): number {
    return this.#underWay.get(name) ?? 0;
  }
}

const all = "all";

function countedBy({ host, caller }: PushJob): readonly string[] {
  return [all, hostName(host), callerName(caller)];
}

function hostName(host: string): string {
  return `host ${host}`;
}

function callerName(caller: CallerName): string {
  return `caller ${caller}`;
}

function lineOf({ caller, host }: PushJob): string {
  return `${caller} ${host}`;
}
