import { getLogger } from "@logtape/logtape";
import { A2AError } from "@/protocol/errors.ts";
import type { Clock } from "@/time/clock.ts";
import { acceptsKey, type Caller, type CallersFile, type CallersRead } from "@/workspace/callers_file.ts";
import { hashKey, type KeyHash } from "@/workspace/key_hash.ts";
import { RateWindow } from "@/time/rate_window.ts";

const logger = getLogger(["a2a", "server", "http"]);

/** Failures a minute and peer address after which it gets 429 (product.md §5.2). */
const failuresMax = 20;
const minuteMs = 60_000;
/** Keys known good that are remembered; more are looked up again. */
const knownMax = 10_000;

/** A workspace whose callers may be let in. */
export interface AuthWorkspace {
  readonly name: string;
  readonly callers: CallersFile;
}

/** Who calls, and in which of the workspaces. */
export interface Authenticated<W extends AuthWorkspace> {
  readonly workspace: W;
  readonly caller: Caller;
}

/**
 * Says whose key a request carries: exactly one caller's over all workspaces (product.md §5.2).
 *
 * The files are looked at on every request, so an edit holds at once. A key known good is remembered until one of them
 * changes, or the key runs out; failures never are. Synchronous: it stands before the body is read.
 */
export class CallerAuth<W extends AuthWorkspace> {
  readonly #workspaces: readonly W[];
  readonly #clock: Clock;
  readonly #failures: RateWindow;
  readonly #known = new Map<KeyHash, Known<W>>();
  #reads: readonly CallersRead[] = [];

  constructor(options: { workspaces: readonly W[]; clock: Clock }) {
    this.#workspaces = options.workspaces;
    this.#clock = options.clock;
    this.#failures = new RateWindow({ clock: options.clock, max: failuresMax, windowMs: minuteMs });
  }

  /**
   * The caller of a request that came from `address`, or the refusal: 401, and 429 after too many of them. A good key passes
   * all the same: behind one proxy a stranger's failures must not lock the callers out.
   */
  authenticate(headers: Headers, address: string): Authenticated<W> | A2AError {
    const key = presentedKey(headers);
    const found = key === undefined ? undefined : this.#find(hashKey(key));
    if (found !== undefined) return found;
    const waitMs = this.#failures.waitMs(address);
    if (waitMs > 0) return new A2AError("TOO_MANY_REQUESTS", { retryAfterSeconds: waitMs / 1000 });
    this.#failures.count(address);
    return new A2AError("UNAUTHENTICATED");
  }

  /** Says whether any workspace has a caller: while none has, only this machine is answered (§5.2a). */
  get hasCallers(): boolean {
    return this.#current().some(({ callers, malformed }) => callers.length > 0 || malformed);
  }

  #find(hash: KeyHash): Authenticated<W> | undefined {
    const reads = this.#current();
    const now = this.#clock.now();
    const known = this.#known.get(hash);
    if (known !== undefined && now < known.until) return known;
    this.#known.delete(hash);
    const matches = reads.flatMap(({ callers }, place) =>
      callers.filter((caller) => acceptsKey(caller, hash, now)).map((caller) => ({
        workspace: this.#workspaces[place]!,
        caller,
      }))
    );
    if (matches.length > 1) {
      const owners = matches.map(({ workspace, caller }) => `${workspace.name}/${caller.name}`).join(", ");
      logger.warning("A key matches {count} callers and is refused (owners: {owners})", {
        count: matches.length,
        owners,
      });
    }
    const [match] = matches;
    if (match === undefined || matches.length > 1) return undefined;
    const until = validUntil(match.caller, hash);
    if (until <= now) return undefined;
    if (this.#known.size < knownMax) this.#known.set(hash, { ...match, until });
    return match;
  }

  #current(): readonly CallersRead[] {
    const reads = this.#workspaces.map(({ callers }) => callers.read());
    if (reads.some((read, place) => read !== this.#reads[place])) this.#known.clear();
    this.#reads = reads;
    return reads;
  }
}

interface Known<W extends AuthWorkspace> extends Authenticated<W> {
  readonly until: number;
}

/** A key that was rotated away works until its time; any key until its entry expires. */
function validUntil({ by, expires }: Caller, hash: KeyHash): number {
  const rotated = by.kind === "key" && by.previous?.hash === hash && by.hash !== hash ? by.previous.until : Infinity;
  return Math.min(rotated, expires ?? Infinity);
}

/** The key of a request; undefined for none, and for two that differ. */
function presentedKey(headers: Headers): string | undefined {
  const apiKey = headers.get("X-API-Key")?.trim() || undefined;
  const bearer = /^Bearer +(.+)$/i.exec(headers.get("Authorization")?.trim() ?? "")?.[1]?.trim();
  if (apiKey !== undefined && bearer !== undefined && apiKey !== bearer) return undefined;
  return apiKey ?? bearer;
}
