import type { IpAddress } from "@/ip_address.ts";
import type { Clock, Deadline } from "@/time/clock.ts";
import { notNeeded } from "@/time/not_needed.ts";
import { OutboundError } from "./outbound_error.ts";

/** How long an attempt has for itself before the next one begins beside it (RFC 8305). */
const headStartMs = 250;
const attemptsMax = 6;

/** What is raced, and how. */
export interface RaceOptions<Connection> {
  readonly clock: Clock;
  /** How long one attempt may take. */
  readonly attemptMs: number;
  /** Ends all attempts; its reason is what the race then rejects with. */
  readonly signal: AbortSignal;
  /** Heeds its signal. */
  readonly connect: (address: IpAddress, signal: AbortSignal) => Promise<Connection>;
  /** Takes the winner, in the moment it has won: from then on it is the taker's to close. */
  readonly take: (connection: Connection) => void;
  readonly onAttempt?: (address: string) => void;
}

/**
 * Connects to the first of some addresses that answers: those of IPv6 and of IPv4 in turn, IPv6 first, the next one after a
 * failure or 250 ms, six at most. Every connection but the winner is closed.
 */
export function raceConnections<Connection extends { close(): void }>(
  addresses: readonly IpAddress[],
  options: RaceOptions<Connection>,
): Promise<Connection> {
  return new ConnectionRace(inTurn(addresses).slice(0, attemptsMax), options).run();
}

class ConnectionRace<Connection extends { close(): void }> {
  readonly #options: RaceOptions<Connection>;
  readonly #left: IpAddress[];
  readonly #over = new AbortController();
  readonly #outcome = Promise.withResolvers<Connection>();
  readonly #tried: string[] = [];
  #running = 0;
  #headStart: Deadline | undefined;
  #lastReason: unknown;

  constructor(addresses: readonly IpAddress[], options: RaceOptions<Connection>) {
    this.#left = [...addresses];
    this.#options = options;
  }

  async run(): Promise<Connection> {
    const { signal } = this.#options;
    const onAbort = () => this.#lose(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    this.#next();
    try {
      return await this.#outcome.promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  #next(): void {
    this.#headStart?.[Symbol.dispose]();
    if (this.#over.signal.aborted) return;
    const address = this.#left.shift();
    if (address !== undefined) void this.#attempt(address);
    else if (this.#running === 0) this.#lose(this.#nobodyAnswers());
    if (this.#left.length === 0) return;
    this.#headStart = this.#options.clock.deadline(headStartMs);
    this.#headStart.signal.addEventListener("abort", () => this.#next(), { once: true });
  }

  /** Never rejects. */
  async #attempt(address: IpAddress): Promise<void> {
    const { clock, attemptMs, connect, onAttempt } = this.#options;
    this.#running++;
    this.#tried.push(address.text);
    onAttempt?.(address.text);
    using deadline = clock.deadline(attemptMs);
    try {
      const connection = await connect(address, AbortSignal.any([this.#over.signal, deadline.signal]));
      if (this.#over.signal.aborted) connection.close();
      else this.#win(connection);
    } catch (reason) {
      this.#running--;
      this.#lastReason = reason;
      if (reason instanceof Deno.errors.NotCapable) this.#lose(notAllowed(reason));
      else this.#next();
    }
  }

  #win(connection: Connection): void {
    this.#end();
    this.#options.take(connection);
    this.#outcome.resolve(connection);
  }

  #lose(reason: unknown): void {
    this.#end();
    this.#outcome.reject(reason);
  }

  #end(): void {
    this.#headStart?.[Symbol.dispose]();
    this.#over.abort(notNeeded);
  }

  #nobodyAnswers(): OutboundError {
    const [details, cause] = [{ tried: this.#tried }, this.#lastReason];
    return new OutboundError("CONNECT_FAILED", "connect", { message: "no address could be reached", details, cause });
  }
}

function notAllowed(cause: unknown): OutboundError {
  return new OutboundError("PERMISSION_DENIED", "connect", { message: "the process may not connect to it", cause });
}

/** The addresses of both families in turn, IPv6 first. */
function inTurn(addresses: readonly IpAddress[]): readonly IpAddress[] {
  const six = addresses.filter(({ bytes }) => bytes.length === 16);
  const four = addresses.filter(({ bytes }) => bytes.length === 4);
  return addresses.flatMap((_, at) => [...six.slice(at, at + 1), ...four.slice(at, at + 1)]);
}
