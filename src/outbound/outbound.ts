import type { AddressRange } from "@/address_range.ts";
import type { Clock } from "@/time/clock.ts";
import { type AddressPolicy, judgeAddress } from "./address_class.ts";
import { dial, type DialLimits, forbidden, forbiddenError } from "./dial.ts";
import { Exchange } from "./exchange.ts";
import { type ExchangeCounts, ExchangeLimits, type ExchangeOwner } from "./exchange_limits.ts";
import { type LeftSocketCounts, LeftSockets } from "./left_sockets.ts";
import { type NameLookup, systemLookup } from "./name_lookup.ts";
import { OutboundError } from "./outbound_error.ts";
import type { OutboundRequest, OutboundResponse } from "./outbound_request.ts";
import { encodeRequest } from "./request_bytes.ts";
import { parseTargetUrl, type TargetUrl } from "./target_url.ts";
import { TlsPace } from "./tls_pace.ts";

/** The bounds of the door; those of one exchange are in its request. */
export interface OutboundLimits extends ExchangeCounts, LeftSocketCounts, DialLimits {
  /** How long an exchange waits for its turn when its request says nothing else. */
  readonly waitMs: number;
  /** Connections of TLS that may begin in 100 ms: see `TlsPace`. */
  readonly tlsBegunMax: number;
}

/** What the door is made of. */
export interface OutboundOptions {
  readonly clock: Clock;
  /** Opens loopback, private, unique-local and CGNAT addresses, and `http:`, to strangers' URLs. Absent: false. */
  readonly allowPrivate?: boolean;
  /** Addresses that are opened whatever they are for. */
  readonly allow?: readonly AddressRange[];
  /** Addresses that are closed; wins over all. */
  readonly deny?: readonly AddressRange[];
  /** `judge-embedded`: an address of `64:ff9b::/96` counts as the IPv4 address in it. Absent: refuse. */
  readonly nat64?: "refuse" | "judge-embedded";
  /** Certificates in PEM, trusted besides the usual ones. */
  readonly caCerts?: readonly string[];
  readonly userAgent?: string;
  /** Tests' own; absent: the name servers of the machine. */
  readonly lookup?: NameLookup;
  readonly limits?: Partial<OutboundLimits>;
  /** Told each address that is connected to, for tests. Must not throw. */
  readonly onAttempt?: (address: string) => void;
}

/** The bounds of the door that a host opens. */
export const outboundLimits: OutboundLimits = {
  exchangesMax: 64,
  perHostMax: 4,
  perCallerMax: 16,
  perCallerHostMax: 3,
  waitMs: 10_000,
  waitingMax: 1_000,
  waitingPerCallerMax: 100,
  leftMax: 128,
  leftPerHostMax: 4,
  leftPerCallerMax: 8,
  leftPerCallerHostMax: 3,
  dnsMs: 5_000,
  connectMs: 10_000,
  attemptMs: 5_000,
  tlsMs: 10_000,
  tlsBegunMax: 20,
};

/** How an exchange is led. */
interface Way {
  readonly policy: AddressPolicy;
  readonly owner: ExchangeOwner;
  readonly isAbsolute: boolean;
  readonly takesRedirects: boolean;
}

/**
 * The one door for every byte that is sent (product.md §13).
 *
 * Each exchange has a connection of its own, to an address that was judged, and no redirect, proxy, cookie or cache: what a
 * request says is all that is sent, and to nobody else. Disposing ends every exchange under way with CLOSED, and waits
 * until their sockets are closed. What the runtime keeps of a connection whose handshake or request was unfinished, until the
 * other end hangs up, cannot be waited for: it is bounded by caller, by host and in all (`LeftSockets`).
 */
export class Outbound implements AsyncDisposable {
  readonly #options: OutboundOptions;
  readonly #policy: AddressPolicy;
  readonly #limits: OutboundLimits;
  readonly #places: ExchangeLimits;
  readonly #pace: TlsPace;
  readonly #left: LeftSockets;
  readonly #exchanges = new Set<Exchange>();
  #isClosed = false;

  constructor(options: OutboundOptions) {
    const { allowPrivate = false, allow = [], deny = [], nat64 = "refuse" } = options;
    this.#options = options;
    this.#policy = { allowPrivate, allow, deny, nat64 };
    this.#limits = { ...outboundLimits, ...options.limits };
    this.#places = new ExchangeLimits(this.#limits, options.clock);
    this.#left = new LeftSockets(this.#limits, options.clock);
    this.#pace = new TlsPace({ clock: options.clock, max: this.#limits.tlsBegunMax });
  }

  /**
   * Sends to a stranger's URL: https only (http with `allowPrivate`), every address judged when it is connected to, no redirect
   * taken. Counts against `caller` and against the host. QUARANTINED at once when too many connections for either, or in all,
   * were left unfinished. Rejects with `OutboundError` only.
   */
  async guarded(url: string, request: OutboundRequest & { readonly caller: string }): Promise<OutboundResponse> {
    const policy = this.#policy;
    const target = this.#strangersTarget(url);
    const verdict = target.address && judgeAddress(target.address, policy);
    if (verdict?.isAllowed === false) throw forbidden(target, [verdict.addressClass]);
    const owner = { host: target.host, caller: request.caller };
    return await this.#exchange(target, request, { policy, owner, isAbsolute: true, takesRedirects: false });
  }

  /**
   * Sends to an agent of the owner, by http or https. `credentials` are headers that go only to `origin`, a URL there, and win
   * over `headers` of the same name; for a URL of another origin they are left out. A redirect is an answer and is not
   * followed. `allowPrivate` is for this exchange. Rejects with `OutboundError` only.
   */
  async agent(
    url: string,
    request: OutboundRequest & {
      readonly origin: string;
      readonly allowPrivate: boolean;
      readonly credentials?: Readonly<Record<string, string>>;
    },
  ): Promise<OutboundResponse> {
    const target = parseTargetUrl(url, { allowHttp: true });
    const isTheirs = target.origin === originOf(request.origin);
    const headers = isTheirs ? withCredentials(request) : request.headers;
    return await this.#exchange(target, { ...request, headers }, {
      policy: { ...this.#policy, allowPrivate: request.allowPrivate },
      owner: {},
      isAbsolute: target.host.includes("."), // a short name is one of the owner's own network
      takesRedirects: true,
    });
  }

  /**
   * What is wrong with a stranger's URL as far as it can be seen without sending anything: its form, scheme and port, an address
   * in it. Undefined: nothing; a name is judged when it is connected to. Never throws.
   */
  problemWith(url: string): OutboundError | undefined {
    try {
      const { address } = this.#strangersTarget(url);
      const verdict = address && judgeAddress(address, this.#policy);
      return verdict?.isAllowed === false ? forbiddenError([verdict.addressClass]) : undefined;
    } catch (error) {
      if (error instanceof OutboundError) return error;
      throw error;
    }
  }

  /**
   * Ends every exchange under way with CLOSED, and waits until their sockets are closed, but for what the runtime keeps of those
   * that were unfinished. Later ones are refused so too.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#exchanges].map((exchange) => exchange.end("CLOSED", { message: closedMessage })));
  }

  #strangersTarget(url: string): TargetUrl {
    return parseTargetUrl(url, { allowHttp: this.#policy.allowPrivate });
  }

  async #exchange(target: TargetUrl, request: OutboundRequest, way: Way): Promise<OutboundResponse> {
    const { clock, lookup = systemLookup, caCerts = [], userAgent = "volcanic-a2a", onAttempt } = this.#options;
    const { takesRedirects, owner } = way;
    const { waitMs = this.#limits.waitMs } = request;
    const isStrangers = owner.caller !== undefined;
    const bytes = encodeRequest(target, { ...request, userAgent });
    if (this.#isClosed) throw new OutboundError("CLOSED", "wait", { message: closedMessage });
    if (isStrangers && target.isSecure) this.#left.check(owner);
    const exchange = new Exchange({
      ...{ clock, request, bytes, takesRedirects },
      enter: (signal) => this.#enter(target, { owner, signal, waitMs }),
      ...isStrangers && { venture: (signal: AbortSignal) => this.#left.begin(owner, { signal, waitMs }) },
      dial: (forWhom) =>
        dial(target, { ...forWhom, ...way, ...{ lookup, caCerts, clock, onAttempt }, limits: this.#limits }),
    });
    this.#exchanges.add(exchange);
    void exchange.closed.then(() => this.#exchanges.delete(exchange));
    return await exchange.run();
  }

  async #enter(
    { isSecure }: TargetUrl,
    { owner, ...wait }: Pick<Way, "owner"> & { readonly signal: AbortSignal; readonly waitMs: number },
  ): Promise<Disposable> {
    const place = await this.#places.enter(owner, wait);
    try {
      if (isSecure) await this.#pace.turn(wait.signal);
      return place;
    } catch (reason) {
      place[Symbol.dispose]();
      throw reason;
    }
  }
}

const closedMessage = "the host ends";

/** As strictly as a URL to send to is read: what a parser of the web would repair has no origin. */
function originOf(url: string): string | undefined {
  try {
    return parseTargetUrl(url, { allowHttp: true }).origin;
  } catch (error) {
    if (error instanceof OutboundError) return undefined;
    throw error;
  }
}

function withCredentials(
  { headers = {}, credentials = {} }: Pick<OutboundRequest, "headers"> & { readonly credentials?: typeof headers },
): Readonly<Record<string, string>> {
  const names = new Set(Object.keys(credentials).map((name) => name.toLowerCase()));
  const others = Object.entries(headers).filter(([name]) => !names.has(name.toLowerCase()));
  return { ...credentials, ...Object.fromEntries(others) };
}
