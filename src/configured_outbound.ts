import type { Config } from "@/config.ts";
import { Outbound } from "@/outbound/outbound.ts";
import type { Clock } from "@/time/clock.ts";
import { version } from "@/version.ts";

/** The door for what is sent, as the settings have it. `caCerts` is what `CaFile` holds: who may read it has read it. */
export function configuredOutbound(
  config: Config,
  { clock, caCerts }: { readonly clock: Clock; readonly caCerts?: readonly string[] },
): Outbound {
  return new Outbound({
    ...{ clock, caCerts, userAgent: `volcanic-a2a/${version}` },
    allowPrivate: config.allowPrivatePushUrls.value,
    allow: config.outboundAllow.value,
    deny: config.outboundDeny.value,
    nat64: config.nat64.value,
  });
}
