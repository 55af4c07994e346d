import { parseAddressRange } from "@/address_range.ts";
import { nameServerLookup, systemLookup } from "@/outbound/name_lookup.ts";
import { Outbound } from "@/outbound/outbound.ts";
import { OutboundError } from "@/outbound/outbound_error.ts";
import { systemClock } from "@/time/clock.ts";

/** One exchange of a process of its own: what a test gives it, as JSON. */
export interface OneExchange {
  readonly url: string;
  readonly caCerts: readonly string[];
  readonly allow: readonly string[];
  /** Absent: the name servers of the machine. */
  readonly nameServer?: { readonly ipAddr: string; readonly port: number };
}

/** Run as a program: prints the status of the answer, or the code of the failure. */
if (import.meta.main) {
  const { url, caCerts, allow, nameServer } = JSON.parse(Deno.args[0]!) as OneExchange;
  await using door = new Outbound({
    ...{ clock: systemClock, caCerts, allow: allow.map((range) => parseAddressRange(range)!) },
    lookup: nameServer === undefined ? systemLookup : nameServerLookup(nameServer),
  });
  try {
    await using response = await door.guarded(url, { caller: "bot", bytesMax: 1000, totalMs: 20_000 });
    console.log(response.status);
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    console.log(error.code);
  }
}
