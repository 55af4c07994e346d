import { getLogger } from "@logtape/logtape";
import { type IpAddress, parseIpAddress } from "@/ip_address.ts";
import type { Clock } from "@/time/clock.ts";
import { type AddressPolicy, judgeAddress } from "./address_class.ts";
import { connectTcp } from "./connect_tcp.ts";
import { raceConnections } from "./connection_race.ts";
import type { ExchangeSocket } from "./exchange_socket.ts";
import type { NameLookup } from "./name_lookup.ts";
import { OutboundError, type OutboundPhase } from "./outbound_error.ts";
import type { TargetUrl } from "./target_url.ts";
import { withinTime } from "./within_time.ts";

const logger = getLogger(["a2a", "outbound"]);

/** How long each step of connecting may take. */
export interface DialLimits {
  readonly dnsMs: number;
  /** For all addresses together. */
  readonly connectMs: number;
  /** For one address. */
  readonly attemptMs: number;
  readonly tlsMs: number;
}

/** What `dial` goes by. */
export interface DialOptions {
  readonly policy: AddressPolicy;
  readonly lookup: NameLookup;
  /** Names are looked up as they are, without the search list of this machine. */
  readonly isAbsolute: boolean;
  readonly limits: DialLimits;
  readonly caCerts: readonly string[];
  readonly clock: Clock;
  readonly onAttempt?: (address: string) => void;
}

/** Whose call it is. */
export interface DialedFor {
  /** Gets each connection in the moment it is there. */
  readonly socket: ExchangeSocket;
  /** Ends it; aborted with an `OutboundError`. */
  readonly signal: AbortSignal;
  readonly onPhase: (phase: OutboundPhase) => void;
  /** Waited for before TLS begins: from then on a socket can be left. Heeds the signal of the exchange. */
  readonly beforeTls: () => Promise<void>;
}

/**
 * Connects to where a URL leads, by TLS when it says so, and gives the address of who is there.
 *
 * Names are looked up once, every address is judged, and only literals are connected to, so no second lookup can lead
 * elsewhere. Who is on the other end is judged again before a byte is sent. Rejects with an `OutboundError`; then the socket
 * is still the caller's to close.
 */
export async function dial(target: TargetUrl, options: DialOptions & DialedFor): Promise<IpAddress> {
  const { clock, limits, signal, socket, onPhase, onAttempt, beforeTls } = options;
  const addresses = allowedOf(await addressesOf(target, options), { target, policy: options.policy });
  onPhase("connect");
  const connection = await withinTime((signal) =>
    raceConnections(addresses, {
      ...{ clock, signal, onAttempt, attemptMs: limits.attemptMs },
      connect: ({ text }, signal) => socket.track(connectTcp({ hostname: text, port: target.port, signal })),
      take: (connection) => socket.use(connection),
    }), { ...{ clock, signal }, ms: limits.connectMs, late: () => timeout("CONNECT_TIMEOUT", "connect") });
  const peer = judgePeer(connection, { target, policy: options.policy });
  connection.setNoDelay(true); // else the last packet of a request waits 40 ms for an acknowledgement
  connection.setKeepAlive(true); // so that the kernel ends what is left of one whose other end has vanished
  if (target.isSecure) {
    onPhase("wait");
    await beforeTls();
    onPhase("tls");
    await secure(connection, { ...options, host: target.host });
  }
  return peer;
}

/** The error for an address that may not be connected to, which is logged here. */
export function forbidden(target: TargetUrl, classes: readonly string[]): OutboundError {
  const kinds = [...new Set(classes)].join(", ");
  logger.warning("Refused to send to {host}: its address is {kinds}", { host: target.host, kinds });
  return forbiddenError(classes);
}

/** The same, without the line in the log. */
export function forbiddenError(classes: readonly string[]): OutboundError {
  const message = "every address it has is forbidden";
  return new OutboundError("ADDRESS_FORBIDDEN", "policy", { message, details: { classes } });
}

async function addressesOf(
  target: TargetUrl,
  { lookup, isAbsolute, clock, signal, limits, onPhase }: DialOptions & DialedFor,
): Promise<readonly IpAddress[]> {
  if (target.address !== undefined) return [target.address];
  onPhase("dns");
  const late = () => timeout("DNS_TIMEOUT", "dns");
  const answers = await withinTime(() => lookup(target.host, { isAbsolute, clock }), {
    clock,
    signal,
    late,
    ms: limits.dnsMs,
  })
    .catch((error) => {
      throw error instanceof OutboundError ? error : lookupFailed(error);
    });
  const parsed = answers.map(parseIpAddress).filter((address) => address !== undefined);
  if (parsed.length === 0) throw new OutboundError("DNS_NOT_FOUND", "dns", { message: "the name has no address" });
  return [...new Map(parsed.map((address) => [address.text, address])).values()];
}

function lookupFailed(cause: unknown): OutboundError {
  return new OutboundError("DNS_FAILED", "dns", { message: "the name lookup failed", cause });
}

interface Judged {
  readonly target: TargetUrl;
  readonly policy: AddressPolicy;
}

/** Those that may be connected to: a stray private record does not make a name unreachable, it is left out. */
function allowedOf(addresses: readonly IpAddress[], { target, policy }: Judged): readonly IpAddress[] {
  const verdicts = addresses.map((address) => ({ address, ...judgeAddress(address, policy) }));
  const bad = verdicts.filter(({ isAllowed }) => !isAllowed).map(({ addressClass }) => addressClass);
  const good = verdicts.filter(({ isAllowed }) => isAllowed).map(({ address }) => address);
  if (good.length === 0) throw forbidden(target, bad);
  if (bad.length > 0) {
    const kinds = [...new Set(bad)].join(", ");
    logger.warning("Skipped an address of {host}: it is {kinds}", { host: target.host, kinds });
  }
  return good;
}

function judgePeer(connection: Deno.TcpConn, { target, policy }: Judged): IpAddress {
  const peer = parseIpAddress(connection.remoteAddr.hostname);
  const verdict = peer === undefined ? undefined : judgeAddress(peer, policy);
  if (peer !== undefined && verdict?.isAllowed) return peer;
  const kind = verdict?.addressClass ?? "no address";
  logger.error("Connected to {host} and hung up: who is there is {kind}", { host: target.host, kind });
  throw new OutboundError("PEER_MISMATCH", "connect", {
    message: "who is connected is not one that may be sent to",
    details: { peer: peer?.text, kind },
  });
}

async function secure(
  connection: Deno.TcpConn,
  { host, caCerts, clock, signal, limits, socket }: DialOptions & DialedFor & { readonly host: string },
): Promise<void> {
  try {
    await withinTime(() => {
      return socket.startTls(connection, { hostname: host, caCerts: [...caCerts], alpnProtocols: ["http/1.1"] });
    }, { clock, signal, ms: limits.tlsMs, late: () => timeout("TLS_TIMEOUT", "tls") });
  } catch (error) {
    if (error instanceof OutboundError) throw error;
    const details = { reason: (error as Error).message };
    throw new OutboundError("TLS_FAILED", "tls", { message: "no secure connection", details, cause: error });
  }
}

function timeout(code: "DNS_TIMEOUT" | "CONNECT_TIMEOUT" | "TLS_TIMEOUT", phase: OutboundPhase): OutboundError {
  return new OutboundError(code, phase, { message: "it took too long" });
}
