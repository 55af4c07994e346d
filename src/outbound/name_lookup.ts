import { OutboundError } from "./outbound_error.ts";

/**
 * Gives the addresses of a name, as text, those of IPv6 first. Rejects with an `OutboundError`; anything else counts as a
 * lookup that failed.
 *
 * `isAbsolute`: no list of domains to search is tried behind the name. What is no address is dropped by who asks.
 */
export type NameLookup = (
  name: string,
  how: { readonly isAbsolute: boolean },
) => Promise<readonly string[]>;

/**
 * Asks the name servers of the machine, which also reads its `hosts` file.
 *
 * Never by the C library, as `fetch` and `Deno.connect` would: its 32 threads are shared with the files, and a few dead name
 * servers would hold up every read of the process. No signal is handed down: with one a query is cut to 1 s and one
 * attempt. Who does not wait any longer leaves it to end by itself.
 */
export const systemLookup: NameLookup = (name, { isAbsolute }) => lookUp(isAbsolute ? `${name}.` : name, {});

/** Asks one name server, and no other, in the same way. */
export function nameServerLookup(nameServer: { readonly ipAddr: string; readonly port: number }): NameLookup {
  return (name, { isAbsolute }) => lookUp(isAbsolute ? `${name}.` : name, { nameServer });
}

async function lookUp(query: string, options: Deno.ResolveDnsOptions): Promise<readonly string[]> {
  const types = ["AAAA", "A"] as const;
  const answers = await Promise.allSettled(types.map((type) => Deno.resolveDns(query, type, options)));
  const addresses = answers.flatMap((answer) => answer.status === "fulfilled" ? answer.value : []);
  if (addresses.length > 0) return addresses;
  throw lookupError(answers.flatMap((answer) => answer.status === "rejected" ? [answer.reason] : []));
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
