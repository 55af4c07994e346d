import type { Clock } from "@/time/clock.ts";
import { unlessAborted } from "@/time/unless_aborted.ts";
import { OutboundError } from "./outbound_error.ts";

/** How long the addresses of one family wait for those of the other (RFC 8305). */
const graceMs = 250;

/** How a name is looked up. */
export interface LookupOptions {
  /** No list of domains to search is tried behind the name. */
  readonly isAbsolute: boolean;
  readonly clock: Clock;
}

/**
 * Gives the addresses of a name, as text, those of IPv6 first. Rejects with an `OutboundError`; anything else counts as a
 * lookup that failed. What is no address is dropped by who asks.
 */
export type NameLookup = (name: string, options: LookupOptions) => Promise<readonly string[]>;

/**
 * Asks the name servers of the machine, which also reads its `hosts` file.
 *
 * Never by the C library, as `fetch` and `Deno.connect` would: its 32 threads are shared with the files, and a few dead name
 * servers would hold up every read of the process. No signal is handed down: with one a query is cut to 1 s and one
 * attempt. Who does not wait any longer leaves it to end by itself. A family that was not answered 250 ms after the other is
 * left out: some name servers never say that there is no IPv6.
 */
export const systemLookup: NameLookup = (name, options) => lookUp(name, { ...options, query: {} });

/** Asks one name server, and no other, in the same way. */
export function nameServerLookup(nameServer: { readonly ipAddr: string; readonly port: number }): NameLookup {
  return (name, options) => lookUp(name, { ...options, query: { nameServer } });
}

async function lookUp(
  name: string,
  { isAbsolute, clock, query }: LookupOptions & { readonly query: Deno.ResolveDnsOptions },
): Promise<readonly string[]> {
  const families: { addresses: readonly string[]; reason?: unknown }[] = [{ addresses: [] }, { addresses: [] }];
  const { promise: isFound, resolve: found } = Promise.withResolvers<void>();
  const asked = (["AAAA", "A"] as const).map(async (type, at) => {
    const answer = Deno.resolveDns(isAbsolute ? `${name}.` : name, type, query);
    families[at] = await answer.then((addresses) => ({ addresses }), (reason) => ({ addresses: [], reason }));
    if (families[at].addresses.length > 0) found();
  });
  const isWhole = Promise.all(asked);
  await Promise.race([isWhole, isFound]);
  using grace = clock.deadline(graceMs);
  await unlessAborted(isWhole, grace.signal);
  const addresses = families.flatMap(({ addresses }) => addresses);
  if (addresses.length > 0) return addresses;
  throw lookupError(families.flatMap(({ reason }) => reason === undefined ? [] : [reason]));
}

function lookupError(reasons: readonly unknown[]): OutboundError {
  const { NotCapable, NotFound } = Deno.errors;
  const denied = reasons.find((reason) => reason instanceof NotCapable);
  if (denied !== undefined) {
    return new OutboundError("PERMISSION_DENIED", "dns", {
      message: "the process may not ask name servers",
      cause: denied,
    });
  }
  const broken = reasons.find((reason) => !(reason instanceof NotFound));
  return broken === undefined
    ? new OutboundError("DNS_NOT_FOUND", "dns", { message: "the name has no address" })
    : new OutboundError("DNS_FAILED", "dns", { message: "the name lookup failed", cause: broken });
}
