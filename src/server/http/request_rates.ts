import { A2AError } from "@/protocol/errors.ts";
import type { Method } from "@/protocol/request_types.ts";
import type { Clock } from "@/time/clock.ts";
import { RateWindow } from "@/time/rate_window.ts";
import { limitOf } from "@/workspace/caller_limits.ts";
import type { Caller } from "@/workspace/callers_file.ts";

const minuteMs = 60_000;
const startsRuns: ReadonlySet<Method> = new Set(["SendMessage", "SendStreamingMessage"]);

/** What a caller may ask in a minute, unless its entry says otherwise. `Infinity` is no limit. */
export interface RequestLimits {
  /** Requests that start runs. */
  readonly requestsPerMinute: number;
  /** All others. */
  readonly readsPerMinute: number;
}

/** Whose request it is. */
export interface Asking {
  readonly workspace: { readonly name: string };
  readonly caller: Caller;
}

/**
 * Keeps each caller within its requests a minute, over both bindings (product.md §7).
 *
 * Which limit a request falls under is known only from its body, and a flood must be refused without reading bodies. So a
 * request is counted twice: before its body is read against the sum of both limits, and once its method is known against
 * that of its kind. What a count refuses is not counted by it, so a caller that keeps asking is let in again in time.
 */
export class RequestRates {
  readonly #limits: RequestLimits;
  readonly #all: RateWindow;
  readonly #requests: RateWindow;
  readonly #reads: RateWindow;

  constructor({ clock, ...limits }: RequestLimits & { readonly clock: Clock }) {
    this.#limits = limits;
    const minute = { clock, windowMs: minuteMs };
    this.#all = new RateWindow(minute);
    this.#requests = new RateWindow(minute);
    this.#reads = new RateWindow(minute);
  }

  /** Counts a request whose body was not read, or refuses it. */
  refuseUnread(asking: Asking): A2AError | undefined {
    const { requests, reads } = this.#limitsOf(asking);
    return take(this.#all, asking, {
      max: requests + reads,
      what: "requests",
      name: "requestsPerMinute + readsPerMinute",
    });
  }

  /** Counts a request among those of its kind, or refuses it. */
  refuse(method: Method, asking: Asking): A2AError | undefined {
    const { requests, reads } = this.#limitsOf(asking);
    return startsRuns.has(method)
      ? take(this.#requests, asking, { max: requests, what: "messages", name: "requestsPerMinute" })
      : take(this.#reads, asking, { max: reads, what: "requests that send no message", name: "readsPerMinute" });
  }

  #limitsOf({ caller: { limits } }: Asking) {
    return {
      requests: limitOf(limits.requestsPerMinute, this.#limits.requestsPerMinute),
      reads: limitOf(limits.readsPerMinute, this.#limits.readsPerMinute),
    };
  }
}

/** One name for a caller of a workspace. */
export function askingName({ workspace, caller }: Asking): string {
  return `${workspace.name}/${caller.caller}`;
}

function take(
  counted: RateWindow,
  asking: Asking,
  { max, what, name }: { readonly max: number; readonly what: string; readonly name: string },
): A2AError | undefined {
  const waitMs = counted.waitMs(askingName(asking), max);
  if (waitMs === 0) return void counted.count(askingName(asking));
  const message = `Over the limit of ${max} ${what} a minute (${name}), retry later`;
  return new A2AError("TOO_MANY_REQUESTS", { message, retryAfterSeconds: waitMs / 1000 });
}
