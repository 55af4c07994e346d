import type { CallerName, TaskId } from "@/protocol/ids.ts";
import type { Clock } from "@/time/clock.ts";
import { RateWindow } from "@/time/rate_window.ts";

/** A webhook that is to be told something. */
export interface PushJob {
  readonly taskId: TaskId;
  readonly configId: string;
  readonly caller: CallerName;
  /** Where it leads, without its port: many ports are one machine. */
  readonly host: string;
}

/** How many pushes go out. `Infinity` is no limit. */
export interface PushLimits {
  /** At once, in all. */
  readonly atOnceMax: number;
  readonly atOncePerHostMax: number;
  readonly atOncePerCallerMax: number;
  /** Of one caller to one host: fewer than a host may have, so that no caller fills a host that others use, too. */
  readonly atOncePerLineMax: number;
  /** Of one caller to one host. */
  readonly perMinuteMax: number;
}

/** How many go out at once: within what the outbound door lets through, so that those of a dead host wait here. */
export const pushesAtOnce: Omit<PushLimits, "perMinuteMax"> = {
  atOnceMax: 64,
  atOncePerHostMax: 4,
  atOncePerCallerMax: 16,
  atOncePerLineMax: 3,
};

/** What may go next. */
export type NextPush =
  | { readonly kind: "job"; readonly job: PushJob }
  /** `waitMs`: until a line that waits only for its rate may go on; undefined when none does. */
  | { readonly kind: "none"; readonly waitMs: number | undefined };

/**
 * The webhooks that wait for their push. Callers take turns, and so do the hosts of each: a host that is slow, dead or over the
 * rate holds up its own line and no other, and whoever has many webhooks takes no turn of who has one.
 */
export class PushLines {
  readonly #limits: PushLimits;
  readonly #rate: RateWindow;
  /** By caller and host, in the order of their turns. */
  readonly #callers = new Map<CallerName, Map<string, PushJob[]>>();
  readonly #underWay = new Map<string, number>();

  constructor({ clock, ...limits }: PushLimits & { readonly clock: Clock }) {
    this.#limits = limits;
    this.#rate = new RateWindow({ clock, max: limits.perMinuteMax, windowMs: 60_000 });
  }

  add(job: PushJob): void {
    let hosts = this.#callers.get(job.caller);
    if (hosts === undefined) this.#callers.set(job.caller, hosts = new Map());
    const line = hosts.get(job.host);
    if (line === undefined) hosts.set(job.host, [job]);
    else line.push(job);
  }

  /** The next job that may go, counted as under way until `done`. */
  take(): NextPush {
    let waitMs: number | undefined;
    if (this.#count(all) >= this.#limits.atOnceMax) return { kind: "none", waitMs };
    for (const [caller, hosts] of this.#callers) {
      if (this.#count(callerName(caller)) >= this.#limits.atOncePerCallerMax) continue;
      for (const [host, line] of hosts) {
        if (this.#count(hostName(host)) >= this.#limits.atOncePerHostMax) continue;
        if (this.#count(lineName(caller, host)) >= this.#limits.atOncePerLineMax) continue;
        const lineMs = this.#rate.waitMs(lineName(caller, host));
        if (lineMs === 0) return { kind: "job", job: this.#leave(line, { caller, host, hosts }) };
        waitMs = Math.min(waitMs ?? Infinity, lineMs);
      }
    }
    return { kind: "none", waitMs };
  }

  /** A job that was taken is over. */
  done(job: PushJob): void {
    for (const counted of countedBy(job)) {
      const left = this.#count(counted) - 1;
      if (left > 0) this.#underWay.set(counted, left);
      else this.#underWay.delete(counted);
    }
  }

  /** Takes the head of a line; the line goes behind those of its caller, the caller behind the others. */
  #leave(
    line: PushJob[],
    { caller, host, hosts }: { caller: CallerName; host: string; hosts: Map<string, PushJob[]> },
  ): PushJob {
    const job = line.shift()!;
    hosts.delete(host);
    if (line.length > 0) hosts.set(host, line);
    this.#callers.delete(caller);
    if (hosts.size > 0) this.#callers.set(caller, hosts);
    this.#rate.count(lineName(caller, host));
    for (const counted of countedBy(job)) this.#underWay.set(counted, this.#count(counted) + 1);
    return job;
  }

  #count(name: string): number {
    return this.#underWay.get(name) ?? 0;
  }
}

const all = "all";

function countedBy({ host, caller }: PushJob): readonly string[] {
  return [all, hostName(host), callerName(caller), lineName(caller, host)];
}

function hostName(host: string): string {
  return `host ${host}`;
}

function callerName(caller: CallerName): string {
  return `caller ${caller}`;
}

function lineName(caller: CallerName, host: string): string {
  return `line ${caller} ${host}`;
}
